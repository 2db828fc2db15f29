import Pool
import PostgresWire
import Scheduling

/// How long a session is at what it has received before others get its thread.
///
/// One Query message may have two million statements, and one read may bring thousands of messages. Those that run on a connection are
/// bounded by the number of connections, and can be stopped. SET, SHOW, ROLLBACK and whatever else a session answers by itself need
/// no connection, so nothing else would bound them, and neither does the reading of texts that are not run in the end.
struct SessionTurn {
    /// Statements and messages since the clock was looked at.
    private(set) var steps = 0
    /// nil until the clock was first read in this turn.
    var end: Instant?

    /// So often, in steps, the clock is looked at.
    static let stepsBetweenLooks = 64
    /// Texts are read by so many bytes in the time of a step.
    private static let bytesPerStep = 256
    /// Less than what a thread is found to be stuck by (`Watch.intervalNanoseconds`), and long beside the two system calls that it costs.
    static let nanoseconds: Int64 = 1_000_000

    /// Whether the clock is to be looked at now.
    @inline(__always)
    mutating func step() -> Bool {
        steps &+= 1
        guard steps >= Self.stepsBetweenLooks else { return false }
        steps = 0
        return true
    }

    /// So much was read besides.
    mutating func add(bytes: Int) { steps &+= bytes / Self.bytesPerStep }

    /// What was done may have taken as long as a turn.
    mutating func addLongStep() { steps &+= Self.stepsBetweenLooks }
}

extension Session {
    /// Before a statement or message: whether others come first now. Throws where the session is
    /// ended or its transaction's time is over; a statement that runs asks for the other reasons itself.
    @inline(__always)
    func countTowardsTurn() throws(WireError) -> Bool {
        guard turn.step() else { return false }
        return try lookAtTurn()
    }

    @inline(never)
    private func lookAtTurn() throws(WireError) -> Bool {
        // Only ReadyForQuery is left of its reply, which leaves behind the sync: see `answerWhenDurable`.
        guard !isUnsynced else { return false }
        let now = MonotonicClock.now
        // Of the statement before, which has ended in time.
        if !running.isActive { running.deadline = .distantFuture }
        // A cancel, which is for the next statement, hides neither.
        if mustEnd { throw ErrorTranslation.wireError(.shutdown) }
        if now >= state.transaction.deadline { throw ErrorTranslation.wireError(.transactionTimeout) }
        guard let end = turn.end else {
            turn.end = Instant(nanoseconds: now.nanoseconds &+ SessionTurn.nanoseconds)
            return false
        }
        return now >= end && hasNothingOthersWaitFor
    }

    /// A session that has a connection goes on: others get it the sooner, and there are threads for all of those.
    private var hasNothingOthersWaitFor: Bool {
        writerMode == .none && !hasWriterGrant && readerIndex == nil && !isUnsynced && !isCopyingIn && worker != nil
    }

    /// It goes on with what it has received when others have had their turn.
    func giveUpTurn() {
        guard let worker, flush() else { return close() }
        due = .turn
        self.worker = nil
        // From here on it may be another thread's.
        worker.endTurn(of: self)
    }
}
