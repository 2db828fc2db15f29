import Pool
import SQLite
import Scheduling

/// Groups of transactions: their commit, the sync after it, and their answers.
extension Worker {
    /// Runs these sessions' transactions on the writer, commits them together, and answers.
    ///
    /// When the next group has gathered meanwhile, this thread runs it at once and another one answers: the disk has
    /// hardly a pause between two syncs. Where that costs more than it saves, it answers first and lets all of them
    /// come back (`GroupGathering`). With synchronous = pipelined the next group runs on another thread while the disk works,
    /// and the replies wait for the disk, unless a sync costs more than that saves.
    func runGroup(_ members: [any GroupMember]) {
        take(members)
        let began = MonotonicClock.now
        let finished = pool.commitGroup(members) { member in
            self.session(member).replyAfterGroup()
            self.ready.enqueue(.answered(member))
        }
        isBackFromDisk()
        var hasFailed = pool.hasWriterFailed
        if server.eventLog.isTiming { server.eventLog.noteGroup(began: began, finished) }
        if let unsynced = pool.commitToSync() {
            switch syncWithWriter(unsynced, finished, began: began, hasFailed: hasFailed) {
            case .durable: break
            case .failed: hasFailed = true
            case .leftForLater: return releaseWriter(beforeSyncOf: unsynced, finished)
            }
        }
        passWriterOn(finished, hasFailed)
    }

    /// The sessions are this thread's now, which is about to wait for the disk.
    private func take(_ members: [any GroupMember]) {
        for member in members {
            let session = session(member)
            session.closeParking()
            session.worker = self
            session.noteEndOfWait()
            session.countWait(forReader: false)
        }
        // Waking another thread would only delay a lone commit, and one polls already.
        let isAlone = members.count == 1
        if pool.isCommitSlow, !isAlone { willBeLong() } else { willBlock(isAlone: isAlone && pool.syncsWithinCommit) }
    }

    private enum SyncWithWriter {
        case durable
        /// The members know, and recovery comes next.
        case failed
        /// The writer is worth more to others than one sync for all, or another thread's sync takes too long for that.
        case leftForLater
    }

    /// With synchronous = pipelined: keeps the writer until the commit is on the disk, as if SQLite synced in its COMMIT, if that is
    /// worth it.
    private func syncWithWriter(
        _ commit: UnsyncedCommit, _ members: [any GroupMember], began: Instant, hasFailed: Bool
    ) -> SyncWithWriter {
        guard pool.keepsWriter(forSyncOf: commit, members: members.count, began: began) else { return .leftForLater }
        handOverIfAny()
        if pool.isSyncSlow(commit) { willBeLong() } else { willBlock() }
        defer { counters.setMark(MonotonicClock.now) }
        do { return try commit.waitUntilDurableKeepingTheWriter(hasFailed: hasFailed) ? .durable : .leftForLater } catch {
            for member in members { member.commitFailed(error) }
            if let recovery = pool.syncFailed(commit) { enqueue(recovery) }
            return .failed
        }
    }

    /// With synchronous = pipelined: the members wait for the disk, and the next group need not.
    private func releaseWriter(beforeSyncOf commit: UnsyncedCommit, _ members: [any GroupMember]) {
        let unanswered = handedOver.take()
        // In this order, so that the next group knows of these.
        let isOwn = commit.answerWhenDurable(members)
        releaseWriter()
        if isOwn { seeToSync(commit) }
        answer(unanswered)
    }

    /// Releases the writer and answers the members, in the order that is best for the next group.
    private func passWriterOn(_ finished: [any GroupMember], _ hasFailed: Bool) {
        // Those whom nobody else has answered while the disk worked.
        let unanswered = handedOver.take()
        // After a failure readers have to be kept before anybody is answered, which releasing the writer does.
        if !hasFailed, let plan = pool.planGathering(answered: finished.count) {
            answer(unanswered, finished, hasFailed)
            return letGather(plan)
        }
        guard let next = pool.releaseWriter() else { return answer(unanswered, finished, hasFailed) }
        enqueue(next)
        // For few it is not worth the other thread's wake-up.
        if case .group = next, !isLong, finished.count >= SessionLimits.handedOverMembers {
            handedOver = CommittedGroup(finished)
            ready.enqueue(.committed(handedOver))
            answer(unanswered)
        } else {
            answer(unanswered, finished, hasFailed)
        }
    }

    /// Answers both; mostly there are no `unanswered` ones.
    ///
    /// - Parameter hasFailed: the writer has, or its sync. Recovery comes when this thread has told everybody of that and may end the
    ///   process, so it leaves none of them to another.
    private func answer(_ unanswered: [any GroupMember], _ finished: [any GroupMember], _ hasFailed: Bool) {
        let members = unanswered.isEmpty ? finished : unanswered + finished
        if hasFailed { answer(members[...], atOnce: true) } else { shareAnswers(members) }
    }

    /// Answers all of them, the second half by another thread if that comes to it first: clients that are not answered have nothing to
    /// send, and the other processor nothing to do. It may be at that still when this returns.
    private func shareAnswers(_ members: [any GroupMember]) {
        guard members.count >= SessionLimits.sharedAnswers, crew.hasProcessorForClients.load(ordering: .relaxed) else {
            return answer(members)
        }
        let half = (members.count + 1) / 2
        let others = CommittedGroup(Array(members[half...]))
        ready.enqueue(.committed(others))
        answer(members[..<half])
        answer(others.take())
    }

    func answer(_ members: [any GroupMember]) { answer(members[...]) }

    /// - Parameters:
    ///   - syncsOn: others wait for this thread, for their commits to be on the disk.
    ///   - atOnce: each reply leaves by itself. From among those that wait for one another the watcher takes what this thread has not come
    ///     to, and recovery, which comes next here, may end the process before others have sent it.
    private func answer(_ members: ArraySlice<any GroupMember>, syncsOn: Bool = false, atOnce: Bool = false) {
        isAnswering = members.count > 1 || syncsOn
        for member in members {
            let session = session(member)
            // What it counts, it counts on this thread.
            session.worker = self
            // What a client has sent besides may be long, and so may the plan of a slow statement: the others do not wait.
            let goesOn = session.hasMoreInput || session.running.slow != nil
            session.replyAfterGroup(goesWithOthers: !goesOn && !atOnce)
            if goesOn { enqueue(.answered(session)) } else { session.continueAfterGroup(self) }
            if replies.pending >= EventBatch.eventsAtOnce { sendReplies() }
        }
        isAnswering = false
        sendReplies()
    }

    /// With synchronous = pipelined: the members of a commit are answered when it is on the disk, by the thread that syncs.
    ///
    /// The client that got the writer goes on at once: the chain of transactions is what bounds them, not the disk. So the
    /// sync comes after the next holder's statement, or is another thread's where this one is going to be at work for
    /// longer.
    func answerWhenDurable(_ commit: UnsyncedCommit, _ members: [any GroupMember]) {
        if commit.answerWhenDurable(members) { seeToSync(commit) }
    }

    private func seeToSync(_ commit: UnsyncedCommit) {
        enqueueLast(.unsynced(commit))
    }

    /// Syncs for as long as somebody waits for it.
    func sync(_ commit: UnsyncedCommit) {
        var unanswered = CommittedGroup([])
        while true {
            handOver()
            if pool.isSyncSlow(commit) { willBeLong() } else { willBlock() }
            let (synced, goesOn, hasFailed, recovery) = pool.syncUnanswered(commit) { self.session($0).worker = self }
            counters.setMark(MonotonicClock.now)
            if let recovery { enqueue(recovery) }
            // Those whom nobody else has answered while the disk worked.
            let late = unanswered.take()
            guard goesOn else { return answer(late[...] + synced, atOnce: hasFailed) }
            if !synced.isEmpty {
                unanswered = CommittedGroup(synced)
                ready.enqueue(.committed(unanswered))
            }
            answer(late[...], syncsOn: true)
        }
    }
}
