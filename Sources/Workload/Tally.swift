/// What the clients of one class did, counted by the thread that runs them.
///
/// All times are nanoseconds of one clock, CLOCK_MONOTONIC, which all processes of a machine share. What ends before the
/// measured time is warm-up; what ends after it is late: neither is in the figures, but both are in the tables of the
/// database, so both are counted. Not Sendable: one thread counts, and hands over `contents` when it is done.
public final class Tally {
    public private(set) var contents: TallyContents
    private var from: Int64 = .max
    private var until: Int64 = .max
    private let counts = LatencyCounts()
    private let perClient: UnsafeMutablePointer<UInt64>
    private let clients: Int
    private var endOfSecond: Int64 = .max
    private var highestInSecond: Int64 = 0
    private var transactions: UInt64 = 0
    private var statements: UInt64 = 0
    private var rows: UInt64 = 0

    /// - Parameter clients: of the whole class; those of other threads stay at 0 here.
    public init(clients: Int) {
        self.clients = clients
        contents = TallyContents(clients: clients)
        // Memory of its own: counting in an array would check it for other owners each time.
        perClient = .allocate(capacity: max(clients, 1))
        perClient.initialize(repeating: 0, count: max(clients, 1))
    }

    /// Says when the measured time begins and when it is planned to end. Until then everything is warm-up.
    public func begin(from: Int64, until: Int64) {
        self.from = from
        self.until = until
        endOfSecond = from + Self.second
    }

    deinit { perClient.deallocate() }

    static let second: Int64 = 1_000_000_000

    /// The measured time ends earlier than planned.
    public func stop(at time: Int64) { until = min(until, time) }

    /// A transaction has succeeded. `began` is when it was meant to.
    @inline(__always)
    public func succeeded(client: Int, began: Int64, ended: Int64, statements: Int, rows: Int) {
        guard ended >= from, ended < until else { return outside(ended: ended, began: began) }
        if ended >= endOfSecond { closeSeconds(upTo: ended) }
        let latency = ended &- began
        counts.record(microseconds: latency / 1000)
        if latency > highestInSecond { highestInSecond = latency }
        transactions &+= 1
        self.statements &+= UInt64(truncatingIfNeeded: statements)
        self.rows &+= UInt64(truncatingIfNeeded: rows)
        perClient[client] &+= 1
    }

    @inline(never)
    private func outside(ended: Int64, began: Int64) {
        if ended < from {
            contents.warmUpTransactions += 1
        } else {
            contents.lateTransactions += 1
            contents.longestNanoseconds = max(contents.longestNanoseconds, ended - began)
        }
    }

    /// A transaction has failed; it is rolled back.
    ///
    /// - Parameters:
    ///   - state: a SQLSTATE, or SQLite's name of the error.
    ///   - isRetried: it begins again, and its time goes on.
    public func failed(began: Int64, ended: Int64, state: String, message: String, isRetried: Bool = false) {
        contents.complain("\(state): \(message)")
        guard ended >= from else { return }
        countFailure(began: began, ended: ended, state: state)
        if isRetried { contents.retries += 1 } else { contents.errors += 1 }
    }

    /// A client's only connection has ended, and not by us. Counted in the warm-up, too, and of clients that were waiting: the
    /// client is missing from then on.
    public func lost(began: Int64, ended: Int64, state: String, message: String) {
        contents.complain("\(state): \(message)")
        countFailure(began: began, ended: ended, state: state)
        contents.errors += 1
    }

    private func countFailure(began: Int64, ended: Int64, state: String) {
        contents.longestNanoseconds = max(contents.longestNanoseconds, ended - began)
        contents.errorStates[state, default: 0] += 1
    }

    /// A transaction was still running at `end`.
    public func unfinished(began: Int64, end: Int64) {
        let nanoseconds = max(0, end - max(began, 0))
        contents.unfinishedNanoseconds = max(contents.unfinishedNanoseconds, nanoseconds)
        contents.longestNanoseconds = max(contents.longestNanoseconds, nanoseconds)
    }

    /// At the end, of each client: which starts of its open loop were due in the measured time, and which of them never took
    /// place. The oldest of those has been waiting like a transaction that runs.
    ///
    /// - Parameter started: how many the client has begun since the start of the run.
    public func countDue(_ schedule: Schedule, start: Int64, started: Int) {
        let inWarmUp = schedule.due(before: from, start: start)
        let all = schedule.due(before: until, start: start)
        guard all > inWarmUp else { return }
        contents.due += UInt64(all - inWarmUp)
        guard all > started else { return }
        contents.notStarted += UInt64(all - max(started, inWarmUp))
        unfinished(began: schedule.intendedStart(of: started, start: start, lastEnd: 0), end: until)
    }

    /// Takes what was counted in the seconds that have passed.
    private func closeSeconds(upTo now: Int64) {
        while now >= endOfSecond {
            contents.seconds.append(.init(counts: counts.take(), highestNanoseconds: highestInSecond))
            highestInSecond = 0
            endOfSecond += Self.second
        }
    }

    /// Everything, when nothing more will be counted.
    public func close() -> TallyContents {
        // A stall at the end is seen in the seconds too.
        if until < .max { closeSeconds(upTo: until) }
        if counts.total > 0 {
            contents.seconds.append(.init(counts: counts.take(), highestNanoseconds: highestInSecond))
        }
        contents.transactions = transactions
        contents.statements = statements
        contents.rows = rows
        contents.perClient = Array(UnsafeBufferPointer(start: perClient, count: clients))
        contents.longestNanoseconds = contents.seconds.reduce(contents.longestNanoseconds) { max($0, $1.highestNanoseconds) }
        return contents
    }
}
