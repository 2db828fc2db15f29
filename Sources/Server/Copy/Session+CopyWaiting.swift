import Pool
import PostgresWire
import Scheduling
import Synchronization

/// A session in the middle of a COPY FROM, while its client has not sent the next of it. A statement runs, though nobody
/// runs it: so its deadlines, and a cancel, come by way of the timer.
extension Session {
    /// Makes room in the input, and says with how much of it to read the socket. The Query message that COPY belongs to
    /// stays where it is, for the statements behind COPY.
    func dropCopiedInput() -> Int {
        isAwaitingCopyData.store(false, ordering: .relaxed)
        if let query = state.query {
            input.remove(query.messageEnd..<query.end)
            state.query?.end = query.messageEnd
        } else {
            input.drop(state.inputPosition)
            state.inputPosition = 0
        }
        return CopyLimits.readBytes
    }

    /// Before the session is let go of.
    func awaitCopyData() {
        armDeadline(.copyData, afterMilliseconds: 0, orAt: min(running.deadline, blockDeadline))
        awaiting.reason = .copyData
        isAwaitingCopyData.store(true, ordering: .sequentiallyConsistent)
        // Either the canceller sees the line above, or its cancel is seen here.
        if activity.load(ordering: .sequentiallyConsistent) == .cancelled { wakeFromCopy() }
    }

    /// Any thread: the timer is to look at the session now.
    func wakeFromCopy() {
        let now = MonotonicClock.now
        deadline.store(now.nanoseconds, ordering: .sequentiallyConsistent)
        server.deadlines.announce(now)
    }

    /// The timer's thread owns the session.
    func copyDeadlinePassed(now: Instant) {
        isAwaitingCopyData.store(false, ordering: .relaxed)
        // COPY may have ended since the timer was told.
        guard isCopyingIn, let reason = reasonToStop(now: now) else { return settle(.input) }
        let error = stopError(reason)
        if error.severity == .fatal { return terminate(error) }
        _ = fail(error)
        settle(advance())
    }
}
