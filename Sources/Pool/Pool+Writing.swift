import SQLite
import Scheduling

/// Who has the writer, and what is committed on it.
extension Pool {
    /// Asks for the writer.
    ///
    /// - Parameter now: the time, for a caller that has just read the clock.
    package func requestWriter(
        _ client: any PoolClient, _ purpose: WriterQueue.Purpose, deadline: Instant, now: Instant = MonotonicClock.now
    ) -> Request<Void> {
        let (request, due) = state.withLock { state -> (Request<Void>, Instant) in
            if let reason = client.reasonToStopWaiting(now: now) { return (.stopped(reason), .distantFuture) }
            let (passes, deadline) = waitTerms(of: client, deadline, state)
            if state.writerQueue.request(
                client.clientID, purpose, now: now, deadline: deadline, passesPause: passes) != nil
            {
                return (.granted(()), .distantFuture)
            }
            state.parked[client.clientID] = client
            if state.writerQueue.gathering != nil, state.writerQueue.isGatheringOver(now: now) {
                gatheringUntil.store(now.nanoseconds, ordering: .relaxed)
            }
            return (.parked, min(state.writerQueue.deadline(with: deadline), state.waitingLookIfNew(now: now)))
        }
        announce(due)
        return request
    }

    /// The holder is done. Returns who gets the writer next, if somebody waits.
    package func releaseWriter() -> Resumption? {
        afterWriting { state, now in state.writerQueue.release(now: now) }
    }

    func afterWriting(_ release: (inout State, Instant) -> WriterQueue.Grant?) -> Resumption? {
        tellOfWriterIfAsked()
        let now = MonotonicClock.now
        boundWriterSnapshot(now: now)
        let isSuspect = writer.failure != nil
        let frames = writer.walFrames
        // It may have ended while it was idle.
        holderIsAwaited.store(false, ordering: .relaxed)
        atWriter.ends()
        let next = state.withLock { state in
            state.walFrames = frames
            state.isHolderLong = false
            if isSuspect { queue(.recovery, first: true, &state, now: now) }
            queueCheckpointIfNeeded(&state, now: now)
            let grant = release(&state, now)
            if state.queuedJobs.contains(.recovery), grant != nil { keepReadersForRecovery(&state) }
            return state.resumption(grant)
        }
        // The thread that wanted it to end may have found the writer taken just now.
        if next == nil, writerSnapshotIsOld.load(ordering: .relaxed) { return endWriterSnapshot() }
        return next
    }

    /// Runs a granted group and commits it. The replies may be sent when this returns, and the writer released.
    ///
    /// - Parameter answer: called for a member that waits no longer for another process while the others still do. From
    ///   then on the group does not touch it.
    package func commitGroup(
        _ members: [any GroupMember], answer: ((any GroupMember) -> Void)? = nil
    ) -> [any GroupMember] {
        let result = GroupCommit(writer: writer, limitMilliseconds: changeable.groupMilliseconds.load(ordering: .relaxed), answer: answer)
            .run(members)
        if !result.postponed.isEmpty {
            let now = MonotonicClock.now
            // The timer may have looked while they were in no queue.
            let (due, look) = state.withLock { state in
                for member in result.postponed { state.parked[member.clientID] = member }
                state.writerQueue.returnToFront(
                    // One that was cancelled meanwhile, while nobody could find it in a queue, is told by the timer.
                    result.postponed.map {
                        ($0.clientID, $0.reasonToStopWaiting(now: now) == nil ? waitTerms(of: $0, $0.waitDeadline, state).deadline : now)
                    },
                    passing: Set(result.postponed.lazy.filter(\.passesPause).map(\.clientID)), now: now)
                return (state.writerQueue.nextDeadline, state.waitingLookIfNew(now: now))
            }
            announce(due)
            announce(look)
        }
        return result.finished
    }

    /// With synchronous = full: COMMIT waits for the disk, and only who has the writer does.
    package var syncsWithinCommit: Bool { limits.durability == .full }

    /// A commit has been made and is not on the disk yet: to be waited for before it is acknowledged. Nil when there is
    /// nothing to wait for. Call it before the writer is released.
    package func commitToSync() -> UnsyncedCommit? {
        pipelinedSync.map { UnsyncedCommit(sync: $0, number: $0.didCommit(hasWritten: writer.hasCommittedAnew())) }
    }

    /// With synchronous = pipelined: whether the calling thread may wait for its commit's sync while another one writes, which one thread
    /// may at a time. Then `endsWaitBesideWriter` follows.
    package func beginsWaitBesideWriter() -> Bool { !hasWaiterBesideWriter.exchange(true, ordering: .acquiringAndReleasing) }
    /// Another thread may wait so now.
    package func endsWaitBesideWriter() { hasWaiterBesideWriter.store(false, ordering: .releasing) }

    /// With synchronous = pipelined: a sync takes so long that calling another thread, to poll meanwhile, is worth it.
    package func isSyncSlow(_ commit: UnsyncedCommit) -> Bool {
        commit.sync.meanNanoseconds.load(ordering: .relaxed) > Self.slowSyncNanoseconds
    }

    /// Waking another thread takes some 10 µs, and so does giving the place back to this one.
    static let slowSyncNanoseconds: Int64 = 500_000

    /// Syncs once for all who wait for it, this commit's members among them.
    ///
    /// - Parameter willFail: called before one of them is told that its commit failed.
    /// - Returns: who may be answered now, whether the caller has to go on with another sync, whether it failed, and then the
    ///   recovery if the writer is free for it.
    package func syncUnanswered(
        _ commit: UnsyncedCommit, willFail: (any GroupMember) -> Void = { _ in }
    ) -> (answered: [any GroupMember], goesOn: Bool, hasFailed: Bool, recovery: Resumption?) {
        let synced = commit.sync.syncUnanswered()
        guard let error = synced.error else { return (synced.durable, synced.goesOn, false, nil) }
        for member in synced.failed {
            willFail(member)
            member.commitFailed(error)
        }
        return (synced.durable + synced.failed, synced.goesOn, true, syncFailed(commit))
    }

    /// A commit could not be brought onto the disk. Returns the recovery, if the writer is free for it now; otherwise it
    /// has the writer next.
    package func syncFailed(_ commit: UnsyncedCommit) -> Resumption? {
        let now = MonotonicClock.now
        return state.withLock { state in
            // One that hears of it late, when the writer has been opened anew by now.
            guard commit.sync.recoveries == state.recoveries, state.queuedJobs.insert(.recovery).inserted else { return nil }
            let grant = state.writerQueue.requestFirst(WriterJob.recovery.client, now: now)
            if grant != nil { keepReadersForRecovery(&state) } else { keepReadersBesideWriter(&state, now: now) }
            return state.resumption(grant)
        }
    }

    /// Before a client hears that the outcome of its commit is unknown. It is told to look, and until the database is opened anew the index
    /// names what the disk has not got, or not what it has got: who reads in between sees what is not so in the end. Recovery, which has
    /// the writer next, opens the gate, or ends the process.
    private func keepReadersForRecovery(_ state: inout State) {
        state.readerQueue.closeGate()
        state.preparingQueue.closeGate()
    }

    /// The same, while somebody else writes. A client with a transaction of its own, VACUUM, and a member whose statement is long may take
    /// any time, and readers are not kept for that: what turns out to be long opens the gate again (`openGateWhileReadersLeave`). What
    /// only prepares a statement goes on, or the members could not.
    private func keepReadersBesideWriter(_ state: inout State, now: Instant) {
        switch state.writerQueue.holder {
        case .group where !state.isHolderLong, .job(WriterJob.checkpoint.client):
            state.readerQueue.closeGate()
            state.gateClosing = state.gateClosing ?? now
        case .nobody, .group, .transaction, .job: break
        }
    }

    /// The client has the writer and waits for its own next message: from now on it may be evicted for keeping others.
    package func holderBecameIdle(_ client: any PoolClient) {
        let now = MonotonicClock.now
        // Asked now: once others see this holder as idle, it may lose the writer, and with it the right to look.
        let syncsBeside = pipelinedSync != nil
        atWriter.ends()
        let due = state.withLock { state in
            holderIsAwaited.store(syncsBeside && state.writerQueue.waitingCount > 0, ordering: .relaxed)
            state.writerQueue.holderBecameIdle(client.clientID, now: now)
            return state.writerQueue.nextDeadline
        }
        announce(due)
    }

    /// Its message has come.
    package func holderBecameActive(_ client: any PoolClient) {
        // Before the queue counts it as active: a holder that is active has a thread, which the progress check looks at.
        atWriter.begins()
        state.withLock {
            holderIsAwaited.store(false, ordering: .relaxed)
            $0.writerQueue.holderBecameActive(client.clientID)
        }
    }

    /// The writer's holder waits for its client's next message while others wait for the writer, and no sync is in that: with
    /// `synchronous = pipelined` it keeps the writer for as long as its client and the daemon take.
    @inline(__always)
    package var isHolderAwaited: Bool { holderIsAwaited.load(ordering: .relaxed) }

    /// Whether the client has the writer and waits for its own next message.
    package func isIdleHolder(_ client: ClientID) -> Bool {
        guard case .transaction(client, _, .some) = state.withLock({ $0.writerQueue.holder }) else { return false }
        return true
    }

    /// A waiting client's place in the writer's queue and who has the writer, for the notice it is sent.
    package func queuePlace(of client: ClientID) -> (place: Int, holder: WriterQueue.Holder)? {
        state.withLock { state in
            state.writerQueue.place(of: client).map { ($0.place, state.writerQueue.holder) }
        }
    }
}
