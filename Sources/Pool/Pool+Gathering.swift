import Scheduling

/// The next group gathers while nobody has the writer: `GroupGathering` says when, `WriterQueue` keeps it.
extension Pool {
    /// A gathering is over, or may be: somebody has to call `endGathering`.
    @inline(__always)
    package var isGatheringOver: Bool {
        let until = gatheringUntil.load(ordering: .relaxed)
        return until != 0 && until <= MonotonicClock.now.nanoseconds
    }

    /// When it ends at the latest; nil when there is none.
    package var gatheringEnd: Instant? {
        let until = gatheringUntil.load(ordering: .relaxed)
        return until == 0 ? nil : Instant(nanoseconds: until)
    }

    /// A commit takes so long that another thread is worth calling to poll in its place. Only for whoever has the writer.
    package var isCommitSlow: Bool { writer.lastCommitNanoseconds > Self.slowSyncNanoseconds }

    /// It is opened anew when it is released. Only for whoever has it.
    package var hasWriterFailed: Bool { writer.failure != nil }

    /// With synchronous = pipelined, after the commit of a group that began then: whether it keeps the writer until it is on the
    /// disk. Not when somebody waits who would have the writer alone, but recovery does, before which the members hear of it.
    package func keepsWriter(forSyncOf commit: UnsyncedCommit, members: Int, began: Instant) -> Bool {
        let committing = writer.endedWithoutCommit ? 0 : writer.lastCommitNanoseconds
        let taken = MonotonicClock.now.nanoseconds &- began.nanoseconds &- committing
        let sync = commit.sync.meanNanoseconds.load(ordering: .relaxed)
        let unanswered = commit.sync.unansweredCount + members
        let hasFailed = hasWriterFailed
        return state.withLock { state in
            state.gathering.ran(members, nanoseconds: taken)
            if hasFailed || state.queuedJobs.contains(.recovery) { return true }
            return members > 0 && state.writerQueue.waitsOnlyForMembers
                && state.gathering.keepsWriter(forSyncOf: sync, clients: unanswered + state.writerQueue.waitingCount)
        }
    }

    /// After a commit, before the writer is released. A plan means: answer its members first, some of them by another thread, then
    /// release the writer with it.
    package func planGathering(answered: Int) -> GroupGathering.Plan? {
        // With synchronous = pipelined the sync is beside the commit.
        let sync = pipelinedSync?.meanNanoseconds.load(ordering: .relaxed) ?? 0
        let commit = writer.lastCommitNanoseconds &+ sync
        // One that was left out says nothing of how long the next one takes.
        let hasCommitted = !writer.endedWithoutCommit
        return state.withLock { state in
            if hasCommitted { state.gathering.committed(nanoseconds: commit) }
            guard state.writerQueue.waitsOnlyForMembers else { return nil }
            return state.gathering.plan(
                answered: answered, waiting: state.writerQueue.waitingCount, limit: state.writerQueue.groupLimit)
        }
    }

    /// The holder is done, and its members were answered, or are by another thread right now. Nil when the next group gathers: then
    /// `endGathering` is to be called when `isGatheringOver` says so, and at `gatheringEnd`.
    package func releaseWriter(gathering plan: GroupGathering.Plan) -> Resumption? {
        afterWriting { state, now in
            let grant = state.writerQueue.release(gathering: plan, now: now)
            gatheringUntil.store(state.writerQueue.gathering?.until.nanoseconds ?? 0, ordering: .relaxed)
            return grant
        }
    }

    /// Returns the group that has gathered, if it is time.
    package func endGathering() -> Resumption? {
        let now = MonotonicClock.now
        return state.withLock { state in
            guard let (gathering, count, grant) = state.writerQueue.endGathering(now: now) else {
                // The client that made it seem over has gone again.
                gatheringUntil.store(state.writerQueue.gathering?.until.nanoseconds ?? 0, ordering: .relaxed)
                return nil
            }
            gatheringUntil.store(0, ordering: .relaxed)
            // Somebody who was not waited for may have ended it: that says nothing of those who were.
            if count >= gathering.plan.members || gathering.until <= now { state.gathering.gathered(count, of: gathering.plan) }
            return state.resumption(grant)
        }
    }
}
