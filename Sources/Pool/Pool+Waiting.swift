import Scheduling

/// Clients that wait no longer, and what is due.
extension Pool {
    /// Takes a client out of the queues. False: it waits in none, or has just been granted what it waited for.
    ///
    /// - Parameter onlyIfStopped: only when what it waits for now is what is to be stopped. A cancel may come so late
    ///   that the next statement waits already.
    package func withdraw(_ client: ClientID, onlyIfStopped: Bool = false) -> Bool {
        let now = MonotonicClock.now
        return state.withLock { state in
            if onlyIfStopped, state.parked[client]?.reasonToStopWaiting(now: now) == nil { return false }
            let wasWaiting =
                state.writerQueue.withdraw(client, now: now) || state.readerQueue.withdraw(client, now: now)
                || state.preparingQueue.withdraw(client, now: now)
            if wasWaiting { state.parked[client] = nil }
            return wasWaiting
        }
    }

    /// Takes a client that keeps a snapshot from before that out of the writer's queue, and of no other. It is asked here, since
    /// until now it may have been granted what it waited for, and wait for something else with no snapshot.
    package func withdrawWriter(_ client: ClientID, keepingSnapshotFromBefore moment: Instant) -> Bool {
        let now = MonotonicClock.now
        return state.withLock { state in
            guard state.parked[client]?.waitsWithSnapshot(fromBefore: moment) ?? false, state.writerQueue.withdraw(client, now: now)
            else { return false }
            state.parked[client] = nil
            return true
        }
    }

    /// What the time has brought, to be done by the caller.
    package struct Due {
        /// Taken out of a queue because their time is over.
        package var expired: [any PoolClient]
        /// Holds the writer, is idle, and keeps somebody waiting beyond the limit.
        package var toEvict: ClientID?
        /// Has a reader, is idle, and keeps somebody waiting beyond the limit.
        package var readerToEvict: ClientID?
        /// Have waited for so long that it is to be looked whether they are still there.
        package var waiting: [any PoolClient]
        /// When to call again.
        package var next: Instant
    }

    /// What is due at `now`; called when the earliest announced deadline has come.
    package func takeDue(now: Instant) -> Due {
        state.withLock { state in
            let ids =
                state.writerQueue.withdrawExpired(now: now) + state.readerQueue.withdrawExpired(now: now)
                + state.preparingQueue.withdrawExpired(now: now)
            let expired = state.unpark(ids)
            let waiting = state.lookAtWaiting(now: now)
            let idle = state.readerQueue.waitingCount > 0 ? idleReaders(state) : []
            return Due(
                expired: expired, toEvict: state.writerQueue.holderToEvict(now: now),
                readerToEvict: state.readerQueue.userToEvict(among: idle, now: now), waiting: waiting,
                next: [
                    state.writerQueue.nextDeadline, state.readerQueue.nextLook(among: idle, now: now),
                    state.readerQueue.nextDeadline, state.preparingQueue.nextDeadline, state.waitingLook,
                ].reduce(.distantFuture, min))
        }
    }

    /// How many wait, and for whom.
    package struct Load: Sendable {
        package var waitingWriters: Int
        /// Without those who only want to prepare a statement.
        package var waitingReaders: Int
        /// Who has the writer.
        package var holder: WriterQueue.Holder
    }

    /// The queues as they are now. Takes the lock.
    package var load: Load {
        state.withLock {
            Load(
                waitingWriters: $0.writerQueue.waitingCount, waitingReaders: $0.readerQueue.waitingCount + $0.preparingQueue.waitingCount,
                holder: $0.writerQueue.holder)
        }
    }
}

extension Pool.State {
    /// Somebody waits. When to look whether they are still there, if nobody has waited until now.
    mutating func waitingLookIfNew(now: Instant) -> Instant {
        guard waitingLook == .distantFuture else { return .distantFuture }
        waitingLook = now.advanced(byMilliseconds: PoolLimits.waitingLookMilliseconds)
        return waitingLook
    }

    /// Those to look at now: they have waited since the last look.
    fileprivate mutating func lookAtWaiting(now: Instant) -> [any PoolClient] {
        guard !parked.isEmpty else {
            waitingLook = .distantFuture
            return []
        }
        guard waitingLook <= now else { return [] }
        waitingLook = now.advanced(byMilliseconds: PoolLimits.waitingLookMilliseconds)
        let moment = now.advanced(byMilliseconds: -PoolLimits.waitingLookMilliseconds)
        let clients =
            writerQueue.clientsWaiting(sinceBefore: moment) + readerQueue.clientsWaiting(sinceBefore: moment)
            + preparingQueue.clientsWaiting(sinceBefore: moment)
        return clients.compactMap { parked[$0] }
    }
}
