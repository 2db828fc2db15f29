import CLinux
import Pool
import Scheduling

/// What is due: the one timer, and the snapshots that are ended before their clients end them.
extension Server {
    func timerFired(_ worker: Worker) {
        deadlines.didFire()
        try? poller.arm(deadlines.descriptor, .readable, token: OwnToken.timer)
        if isAcceptingPaused.exchange(false, ordering: .sequentiallyConsistent) { armListeners() }
        lookAtDeadlines(worker, now: MonotonicClock.now)
    }

    /// Does what is due, and has the timer set for what comes next.
    func lookAtDeadlines(_ worker: Worker, now: Instant) {
        let due = collectDue(worker, now: now)
        // Before anything is done about them, which may take its time.
        deadlines.announce(due.next)
        beat(now)
        for client in due.pool.expired {
            ready.enqueue(.stopped(client, client.reasonToStopWaiting(now: now) ?? .lockTimeout))
        }
        for client in due.pool.waiting { dropIfGone(client) }
        for session in due.toNotify { session.notifyQueued(now: now) }
        endSessions(due.toEnd, due.pool, worker, now: now)
        if due.mayEvictReader { isEvictingReader.store(false, ordering: .sequentiallyConsistent) }
        // These last, because they may wait for the disk.
        if due.isFilesLook {
            lookAtSocketFiles()
            if let recovery = pool.lookAtFiles(now: now) { worker.enqueue(recovery) }
        }
        if due.isMaintenance, let job = pool.lookAtMaintenance(now: now, willBeLong: worker.willBeLong) {
            worker.enqueue(job)
        }
        if due.isHeapLook, let look = freeHeap.look(willBeLong: worker.willBeLong) { deadlines.announce(look) }
    }

    /// What a look has found that is left to be done.
    private struct Due {
        let pool: Pool.Due
        let mayEvictReader: Bool
        let isMaintenance: Bool
        let isFilesLook: Bool
        let isHeapLook: Bool
        let toNotify: [Session]
        let toEnd: [Session]
        /// When to look again, unless something is announced before.
        let next: Instant
    }

    /// Looks what is due. What takes no time is done at once, because when to look again depends on it.
    private func collectDue(_ worker: Worker, now: Instant) -> Due {
        let (due, mayEvictReader) = takeDue(now: now)
        let maintenanceLook = pool.nextMaintenanceLook
        if metrics.periodEnd <= now { endStatisticsPeriod(worker, now: now) }
        if pool.writerSnapshotEnd <= now, let granted = pool.endWriterSnapshot() { worker.enqueue(granted) }
        let writerSnapshotEnd = pool.writerSnapshotEnd
        for granted in pool.makeWay() { worker.enqueue(granted) }
        let filesLook = pool.nextFilesLook
        var next = min(due.next, writerSnapshotEnd)
        // Of these what is due is done by whoever finds it, who then says when it is due again.
        for look in [maintenanceLook, filesLook, heartbeat?.nextLook ?? .distantFuture] where look > now { next = min(next, look) }
        let isHeapLook = freeHeap.isDue(now)
        next = min(next, freeHeap.nextLook, metrics.periodEnd, lookAtDrain(now: now))
        let sessions = sessionsDue(due, now: now)
        next = min(next, sessions.next, eventLog.reportLeftOut(now: now))
        return Due(
            pool: due, mayEvictReader: mayEvictReader, isMaintenance: maintenanceLook <= now, isFilesLook: filesLook <= now,
            isHeapLook: isHeapLook, toNotify: sessions.toNotify, toEnd: sessions.toEnd, next: next)
    }

    /// Whose notice or deadline has come, and when the next one's comes.
    private func sessionsDue(_ due: Pool.Due, now: Instant) -> (toNotify: [Session], toEnd: [Session], next: Instant) {
        var (toNotify, toEnd, next) = ([Session](), [Session](), Instant.distantFuture)
        for session in table.sessions {
            let noticeAt = session.parked.noticeAt.load(ordering: .sequentiallyConsistent)
            let reportAt = session.parked.reportAt.load(ordering: .sequentiallyConsistent)
            if min(noticeAt, reportAt) <= now.nanoseconds { toNotify.append(session) }
            for at in [noticeAt, reportAt] where at > now.nanoseconds { next = min(next, Instant(nanoseconds: at)) }
            let at = session.deadline.load(ordering: .sequentiallyConsistent)
            if at <= now.nanoseconds || due.toEvict == session.clientID || due.readerToEvict == session.clientID {
                toEnd.append(session)
                // Its thread may be just about to let go of it: then look again.
                next = min(next, Instant(nanoseconds: now.nanoseconds + Deadlines.granularityNanoseconds))
            } else {
                next = min(next, Instant(nanoseconds: at))
            }
        }
        return (toNotify, toEnd, next)
    }

    /// What is due for each, as far as nobody is at work for it.
    private func endSessions(_ sessions: [Session], _ due: Pool.Due, _ worker: Worker, now: Instant) {
        for session in sessions {
            guard let owned = table.own(slot: session.slot, generation: session.generation) else { continue }
            if due.toEvict == owned.clientID {
                owned.evict(worker)
            } else if due.readerToEvict == owned.clientID {
                owned.evictFromReader(worker, now: now)
            } else {
                owned.deadlinePassed(worker, now: now)
            }
            worker.handOverIfAny()
        }
    }

    /// Of those who look at the same time only one may take a reader away, until it has done so: before that, who is to have it still
    /// waits, and another would take a second one away for the same client.
    private func takeDue(now: Instant) -> (due: Pool.Due, mayEvictReader: Bool) {
        let mayEvictReader = !isEvictingReader.exchange(true, ordering: .sequentiallyConsistent)
        var due = pool.takeDue(now: now)
        guard due.readerToEvict != nil else {
            if mayEvictReader { isEvictingReader.store(false, ordering: .sequentiallyConsistent) }
            return (due, false)
        }
        if !mayEvictReader {
            due.readerToEvict = nil
            due.next = min(due.next, Instant(nanoseconds: now.nanoseconds + Deadlines.granularityNanoseconds))
        }
        return (due, mayEvictReader)
    }

    /// Nobody wants the result of who has hung up: it neither keeps its place in the queue, and among `max_sessions`, nor is it written
    /// later. One that has only said that it sends nothing more is answered.
    ///
    /// It is nobody's while it waits, and may have got what it waited for just now: then its socket may be another's by now, but it does
    /// not wait any more.
    private func dropIfGone(_ client: any PoolClient) {
        guard let session = client as? Session, walpool_is_hung_up(session.socket) != 0, pool.withdraw(session.clientID) else { return }
        ready.enqueue(.stopped(session, .disconnected))
    }

    // MARK: Snapshots

    /// Ends the snapshots of sessions that wait for their client or for the writer and that began before that; returns how
    /// many. Running statements hear of it from their progress handlers.
    func endSnapshots(before: Instant, _ worker: Worker) -> Int {
        var ended = 0
        for session in table.sessions where session.hasReader.load(ordering: .sequentiallyConsistent) {
            if let owned = table.own(slot: session.slot, generation: session.generation) {
                if owned.endSnapshot(before: before, worker) { ended += 1 }
                worker.handOverIfAny()
                continue
            }
            guard session.waitsWithSnapshot(fromBefore: before),
                pool.withdrawWriter(session.clientID, keepingSnapshotFromBefore: before)
            else { continue }
            session.waitEnded(worker, .snapshotTooOld)
            ended += 1
        }
        return ended
    }
}
