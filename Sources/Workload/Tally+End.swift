/// What is counted when the measured time is over.
extension Tally {
    /// A transaction was still running at `end`.
    public func unfinished(began: Int64, end: Int64) {
        let nanoseconds = max(0, end - max(began, 0))
        contents.unfinishedNanoseconds = max(contents.unfinishedNanoseconds, nanoseconds)
        contents.longestNanoseconds = max(contents.longestNanoseconds, nanoseconds)
    }

    /// A transaction that ran at the end has not ended, and nobody waits for it any longer.
    public func abandoned(began: Int64) {
        unfinished(began: began, end: until)
        // How long it takes is not known, but that it takes longer than this.
        if isOpen, began >= from, began < until { overdue.record(nanoseconds: until - began) }
    }

    /// The same of one to which a server owes the answer: an error.
    public func unanswered(began: Int64, givenUp: Int64) {
        abandoned(began: began)
        contents.longestNanoseconds = max(contents.longestNanoseconds, givenUp - began)
        contents.errors += 1
        contents.errorStates[Self.notAnswered, default: 0] += 1
        contents.complain("\(Self.notAnswered) when the run was given up")
    }

    /// There is no SQLSTATE for it.
    private static let notAnswered = "not answered"

    /// At the end, of each client: which starts of its open loop were due in the measured time, and which of them never took
    /// place. Those have been waiting like transactions that run: the oldest is unfinished, and each has a latency of what it had
    /// waited by the end, at least.
    ///
    /// - Parameter started: how many the client has begun since the start of the run.
    public func countDue(_ schedule: Schedule, start: Int64, started: Int) {
        let inWarmUp = schedule.due(before: from, start: start)
        let all = schedule.due(before: until, start: start)
        guard all > inWarmUp else { return }
        contents.due += UInt64(all - inWarmUp)
        guard all > started else { return }
        let missing = max(started, inWarmUp)..<all
        contents.notStarted += UInt64(missing.count)
        overdue.record(missing) { until - schedule.intendedStart(of: $0, start: start, lastEnd: 0) }
        unfinished(began: schedule.intendedStart(of: started, start: start, lastEnd: 0), end: until)
    }
}
