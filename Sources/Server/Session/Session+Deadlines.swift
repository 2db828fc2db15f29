import Pool
import PostgresWire
import Scheduling

/// Deadlines while nobody owns the session, and what becomes of it when they pass.
extension Session {
    func armDeadline(_ awaited: AwaitedInput.Reason, afterMilliseconds milliseconds: Int64, orAt other: Instant = .distantFuture) {
        var at = other
        if milliseconds > 0 { at = min(at, MonotonicClock.now.advanced(byMilliseconds: milliseconds)) }
        guard at < .distantFuture else { return }
        awaiting.reason = awaited
        awaiting.until = at
        deadline.store(at.nanoseconds, ordering: .sequentiallyConsistent)
        server.deadlines.announce(at)
    }

    func disarmDeadline() {
        awaiting.until = .distantFuture
        if deadline.load(ordering: .relaxed) != .max { deadline.store(.max, ordering: .relaxed) }
    }

    /// The timer found the deadline passed; the calling worker owns the session.
    func deadlinePassed(_ worker: Worker, now: Instant) {
        self.worker = worker
        guard deadline.load(ordering: .relaxed) <= now.nanoseconds else { return disownAndArm() }
        // A cancel that came just as a COPY ended had asked for a look (`wakeFromCopy`): what is awaited now is not due.
        guard awaiting.reason == .copyData || awaiting.until <= now else {
            deadline.store(awaiting.until.nanoseconds, ordering: .sequentiallyConsistent)
            if awaiting.until < .distantFuture { server.deadlines.announce(awaiting.until) }
            return disownAndArm()
        }
        disarmDeadline()
        switch awaiting.reason {
        case .startup, .nothing:
            close()
        case .clientWrite:
            // A Unix socket says that there is room when three quarters of its buffer are read (`unix_writable`,
            // https://github.com/torvalds/linux/blob/master/net/unix/af_unix.c), but takes bytes as soon as the client has read some.
            let unread = out.count
            if now < blockDeadline, arming.interest == .writable, flush(), out.count < unread {
                return socketIsReady(worker, isHungUp: false)
            }
            noteUnreadReply()
            close()
        case .copyData:
            copyDeadlinePassed(now: now)
        case .idleInTransaction:
            if now >= writerDeadline { return terminate(ErrorTranslation.wireError(.writerTimeLimit)) }
            let isTransactionTimeout = now >= state.transaction.deadline
            terminate(
                isTransactionTimeout
                    ? ErrorTranslation.wireError(.transactionTimeout)
                    : WireError(
                        severity: .fatal, state: .idleInTransactionSessionTimeout,
                        message: "terminating connection due to idle-in-transaction timeout"))
        }
    }

    /// It holds the writer, is idle, and somebody has waited too long; the calling worker owns it.
    func evict(_ worker: Worker) {
        self.worker = worker
        // It may have gone on since the timer's thread looked.
        guard pool.isIdleHolder(clientID) else { return disownAndArm() }
        server.metrics.evictions.wrappingAdd(1, ordering: .relaxed)
        terminate(
            WireError(
                severity: .fatal, state: .idleInTransactionSessionTimeout,
                message: "terminating connection: its transaction held the writer idle while others waited",
                hint: "writer_idle_limit is \(pool.writerIdleMilliseconds) ms. Send a transaction's "
                    + "statements without pausing between them, or all at once."))
    }
}
