import CLinux
import Pool
import PostgresWire
import Scheduling
import Synchronization

/// A statement's time: when it begins and ends, and whether a cancel is for it.
extension Session {
    /// A statement begins: its deadlines count from here, and a cancel is for it from here on.
    @inline(__always)
    func beginStatement() throws(WireError) {
        countBeginning()
        guard !running.isActive else { return }
        try beginActivity()
        // Whoever was granted something by what this thread did last must not wait for what it does next. It may be recovery,
        // which may end the process: this client hears first how its last transaction ended.
        if let worker {
            if worker.hasResumptions { sendCompleteReplies() }
            worker.noteStatement()
        }
        running.isActive = true
        if eventLog.isTiming { beginTiming() }
        running.nextLookAtClient = Instant(nanoseconds: 0)
        let timeout = state.settings.statementTimeoutMilliseconds
        running.deadline =
            timeout > 0 ? MonotonicClock.now.advanced(byMilliseconds: timeout) : .distantFuture
        running.lockDeadline = .distantFuture
        running.isImpatient = false
    }

    /// Whether there is something that a cancel is for.
    struct Activity: RawRepresentable, Equatable, AtomicRepresentable {
        let rawValue: UInt8

        static let none = Activity(rawValue: 0)
        /// A statement runs or waits, or another one of its Query message or pipeline may follow at once.
        static let running = Activity(rawValue: 1)
        /// It runs and shall be cancelled, or the next one of its message or pipeline shall.
        static let cancelled = Activity(rawValue: 2)
        /// A statement of a pipeline has ended, its Sync has not come, and the session waits for its client.
        static let between = Activity(rawValue: 3)

        var isStatement: Bool { self == .running || self == .cancelled }
    }

    /// From here on a cancel is for it, as is one that came after the statement before of the same message.
    @inline(__always)
    func beginActivity() throws(WireError) {
        // Only its owner takes it away from `none`, and makes it `running`.
        let found = activity.load(ordering: .relaxed)
        if running.wasCancelled || found == .cancelled { throw ErrorTranslation.wireError(.cancelled) }
        switch found {
        case .none: activity.store(.running, ordering: .relaxed)
        case .running: break
        default:
            let before = activity.exchange(.running, ordering: .relaxed)
            if before == .cancelled { throw ErrorTranslation.wireError(.cancelled) }
        }
    }

    /// The wait for the writer, with that for another process that has the database locked, or the wait for a reader begins. As in
    /// PostgreSQL, "The time limit applies separately to each lock acquisition attempt": what a statement does between them is
    /// its own time, and a COPY FROM may take hours. https://www.postgresql.org/docs/current/runtime-config-client.html
    func beginWait() {
        guard running.lockDeadline == .distantFuture else { return }
        let limit = lockWaitMilliseconds
        if limit > 0 { running.lockDeadline = MonotonicClock.now.advanced(byMilliseconds: limit) }
    }

    /// 0: without end.
    var lockWaitMilliseconds: Int64 {
        let timeout = state.settings.lockTimeoutMilliseconds
        guard running.isImpatient else { return timeout }
        return timeout > 0 ? min(timeout, SessionLimits.noWaitMilliseconds) : SessionLimits.noWaitMilliseconds
    }

    /// It has what it waited for.
    func endWait() { running.lockDeadline = .distantFuture }

    /// The statement has ended: a cancel that comes now is too late and does nothing. One that came too late for it is for the next
    /// statement of the same message or pipeline: of many short ones none is asked while it runs.
    ///
    /// - Parameter isFollowed: by another of the same Query message or, perhaps, pipeline. That is what is cancelled, so the activity
    ///   goes on.
    @inline(__always)
    func endStatement(isFollowed: Bool = false) {
        running.isActive = false
        // In one operation: what came between a look and a store would be lost.
        if !isFollowed, activity.exchange(.none, ordering: .relaxed) == .cancelled { running.wasCancelled = true }
    }

    /// The session waits for its client. If that is in the middle of a pipeline, a cancel is for what has been sent of it by then.
    @inline(__always)
    func pauseActivity() {
        guard !running.isActive, activity.load(ordering: .relaxed) != .none else { return }
        let (_, found) = activity.compareExchange(expected: .running, desired: .between, ordering: .relaxed)
        if found == .cancelled { forgetLateCancel() }
    }

    /// Everything that has been sent was answered before the cancel came, or had begun to be: then the client, which may have heard by
    /// now, does not mean what it sends next.
    @inline(never)
    private func forgetLateCancel() {
        guard state.inputPosition >= input.count, walpool_unread(socket) == 0 else { return }
        _ = activity.compareExchange(expected: .cancelled, desired: .between, ordering: .relaxed)
    }

    /// More of a pipeline has been received: a cancel is for that from here on.
    @inline(__always)
    func resumeActivity() {
        guard activity.load(ordering: .relaxed) == .between else { return }
        _ = activity.compareExchange(expected: .between, desired: .running, ordering: .relaxed)
    }

    /// The pipeline has ended, and what was to be cancelled with it.
    @inline(__always)
    func endPipeline() {
        running.wasCancelled = false
        if !running.isActive, activity.load(ordering: .relaxed) != .none { activity.store(.none, ordering: .relaxed) }
    }

    /// Another thread asks to cancel what runs now. True: the session was waiting and is the caller's to resume.
    func cancel() -> Bool {
        guard noteCancel() else { return false }
        if pool.withdraw(clientID, onlyIfStopped: true) { return true }
        if isAwaitingCopyData.load(ordering: .sequentiallyConsistent) { wakeFromCopy() }
        return false
    }

    /// Whether there was anything to cancel. Between two statements of a pipeline a cancel is for the next one, if that has been sent: of
    /// many short statements it mostly finds the session there. If nothing more was sent, it comes too late.
    private func noteCancel() -> Bool {
        while true {
            let found = activity.load(ordering: .sequentiallyConsistent)
            let isForNext = found == .between && walpool_unread(socket) > 0
            guard found == .running || isForNext else { return false }
            let (exchanged, _) = activity.compareExchange(
                expected: found, desired: .cancelled, ordering: .sequentiallyConsistent)
            // Otherwise the next statement has begun, or this one has ended.
            if exchanged { return true }
        }
    }
}
