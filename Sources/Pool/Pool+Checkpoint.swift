import Journal
import Logging
import SQLite
import Scheduling

/// Keeping the WAL small.
extension Pool {
    /// Puts a checkpoint into the writer's queue once the WAL is large enough: it runs when its turn comes, after the
    /// replies of the commits before it went out. Once readers have to wait for it, nobody writes before it.
    func queueCheckpointIfNeeded(_ state: inout State, now: Instant) {
        state.policy.sees(frames: state.walFrames.all)
        // What a writer with an I/O error has in its WAL must not be copied before it has been opened anew.
        guard !state.queuedJobs.contains(.recovery),
            let mode = state.policy.due(frames: state.walFrames.all, copied: state.walFrames.copied)
        else { return }
        // It waits for readers, in its turn, and writers go on; but not for longer than they may.
        if state.queuedJobs.contains(.checkpoint), mayReadersLeave(frames: state.walFrames.all, state, now: now) { return }
        if mode == .gate, state.queuedJobs.contains(.checkpoint),
            state.writerQueue.withdraw(WriterJob.checkpoint.client, now: now)
        {
            state.queuedJobs.remove(.checkpoint)
        }
        queue(.checkpoint, first: mode == .gate, &state, now: now)
    }

    /// The caller holds the writer, so the job always waits in the queue.
    ///
    /// - Parameter first: before everybody who waits.
    func queue(_ job: WriterJob, first: Bool = false, _ state: inout State, now: Instant) {
        guard state.queuedJobs.insert(job).inserted else { return }
        _ =
            first
            ? state.writerQueue.requestFirst(job.client, now: now)
            : state.writerQueue.request(job.client, .job, now: now)
    }

    /// Runs a job that was granted the writer. Release the writer afterwards.
    ///
    /// - Parameter endSnapshots: called when the gate is closed, again and again. Running statements hear of it from their
    ///   progress handlers.
    /// - Returns: who gets a reader now.
    package func run(_ job: WriterJob, endSnapshots: EndSnapshots = { _ in 0 }) -> [Resumption] {
        atWriter.begins()
        writer.endSnapshot()
        var again = false
        let resumptions: [Resumption]
        switch job {
        case .checkpoint: (resumptions, again) = checkpoint(endSnapshots)
        case .recovery: resumptions = recover(endSnapshots)
        case .maintenance:
            // Before it says that none is queued: who asks for one right then must get it.
            state.withLock { _ = $0.queuedJobs.remove(.maintenance) }
            (resumptions, again) = maintain()
        // The release that follows does it.
        case .housekeeping: resumptions = []
        }
        counters.outsiderWaitHasEnded()
        let now = MonotonicClock.now
        state.withLock { state in
            if job != .maintenance { state.queuedJobs.remove(job) }
            // A gate that is closed while writers go on keeps readers waiting, so nobody who has the writer for as long as they like
            // comes before it opens again; recovery does.
            let isAtGate = job == .checkpoint && !state.queuedJobs.contains(.recovery) && !state.writerQueue.waitsOnlyForMembers
            if again { queue(job, first: isAtGate, &state, now: now) }
        }
        return resumptions
    }

    private func checkpoint(_ endSnapshots: EndSnapshots) -> (resumptions: [Resumption], again: Bool) {
        let frames = writer.walFrames
        let mode = state.withLock { $0.policy.due(frames: frames.all, copied: frames.copied) } ?? .passive
        if mode == .gate, !drainReaders(frames.all, endSnapshots) { return ([], true) }
        let closed = state.withLock { $0.gateClosing }
        let readersHadLeft = mode == .gate && closeGate(endSnapshots, since: closed)
        if mode == .gate, !readersHadLeft { noteReaders(frames.all) }
        var resumptions = attempt(mode, readersHadLeft: readersHadLeft).resumptions
        if mode == .gate || closed != nil { resumptions += openGate(evenBeforeRecovery: false) }
        return (resumptions, false)
    }

    /// Those that did not end when they were told to: what they do is one call of a function, during which SQLite asks nobody.
    private func noteReaders(_ frames: Int) {
        let sessions = state.withLock { state in state.readerQueue.indexesInUse.map { "\(state.readerUsers[$0])" } }
        log.warning(
            .checkpointTrouble, "a statement does not end, so the WAL cannot be emptied and grows",
            metadata: ["sessions": "\(sessions.joined(separator: ","))", "frames": "\(frames)", "bytes": "\(frames * frameBytes)"])
    }

    /// One checkpoint, after which nothing is left in the WAL, or something still is.
    ///
    /// - Parameter readersHadLeft: none of the pool's may be in the way.
    func attempt(
        _ mode: CheckpointPolicy.Mode, readersHadLeft: Bool = false
    ) -> (isComplete: Bool, resumptions: [Resumption]) {
        guard writer.failure == nil else { return (false, []) }
        guard files.problem == nil else {
            // What is copied now would go into a file that nobody finds again, or over what another process has committed.
            suspectFiles()
            return (false, [])
        }
        let began = MonotonicClock.now
        // Not after the checkpoint, which takes as long as the disk likes.
        resume(endIdleSnapshots())
        var resumptions: [Resumption] = []
        do {
            let before = writer.walFrames.all
            let result = try mode == .passive ? writer.checkpoint(.passive) : truncate()
            record(mode, result, framesBefore: before, began: began, readersHadLeft: readersHadLeft)
            if result.isComplete {
                epoch.wrappingAdd(1, ordering: .relaxed)
                // Those that were used and released meanwhile.
                resumptions += endIdleSnapshots()
            }
            return (result.isComplete, resumptions)
        } catch {
            writer.note(error)
            let frames = writer.walFrames.all
            state.withLock { state in
                state.checkpoints.record(error)
                state.policy.ended(mode, frames: frames, isComplete: false)
            }
            log.error(.checkpointTrouble, "checkpoint failed", metadata: ["code": "\(error.extendedCode)", "error": "\(error.message)"])
            return (false, resumptions)
        }
    }

    /// Empties the WAL, unless readers or another process are in the way for longer than a moment.
    func truncate(patienceMilliseconds: Int64? = nil) throws(SQLiteError) -> Connection.Checkpoint {
        // While it waits, no snapshot lease is kept: each read begins anew, and once all is copied it uses the file alone.
        // Otherwise readers that come one after the other on the same snapshot would keep it waiting for good.
        let end = MonotonicClock.now.advanced(byMilliseconds: patienceMilliseconds ?? limits.truncateMilliseconds)
        let patience = Patience(until: end) {
            self.epoch.wrappingAdd(1, ordering: .relaxed)
        }
        writer.beginRun(patience)
        writer.isCheckpointing = true
        defer {
            writer.isCheckpointing = false
            writer.endRun()
        }
        return try writer.checkpoint(.truncate)
    }

    private func record(
        _ mode: CheckpointPolicy.Mode, _ result: Connection.Checkpoint, framesBefore: Int, began: Instant, readersHadLeft: Bool
    ) {
        let now = MonotonicClock.now
        // -1: another process checkpoints, so nothing was done and nothing is known. The WAL is as long as it was.
        let frames = result.frames < 0 ? writer.walFrames : (all: result.frames, copied: result.copiedFrames)
        let told = result.telling(framesBefore: framesBefore)
        let outcome = CheckpointHistory.Outcome(
            mode: mode, frames: told.frames, copiedFrames: told.copiedFrames, isBusy: result.isBusy,
            milliseconds: now.milliseconds(since: began), ended: now)
        state.withLock { state in
            state.checkpoints.record(outcome)
            state.policy.ended(mode, frames: frames.all, isComplete: result.isComplete, readersHadLeft: readersHadLeft)
            state.walFrames = frames
            state.blockers = result.isComplete ? [] : Set(state.readerQueue.indexesInUse)
        }
        counters.checkpoints.observe(nanoseconds: now.nanoseconds &- began.nanoseconds)
        if readersHadLeft, !result.isComplete {
            log.warning(
                .outsider, "another process reads an old snapshot, so the WAL cannot be emptied and grows",
                metadata: ["frames": "\(frames.all)", "bytes": "\(frames.all * frameBytes)"])
        }
        log.log(
            level: mode == .passive ? .debug : .notice, .checkpoint, "checkpoint",
            metadata: [
                "mode": "\(mode)", "frames": "\(told.frames)", "copied": "\(told.copiedFrames)",
                "busy": "\(result.isBusy)", "duration": .stringConvertible(LoggedDuration(milliseconds: outcome.milliseconds)),
            ])
    }

    // MARK: Snapshots in the way

    /// A reader is back that was in use when a checkpoint could not finish. True when it was the last of them.
    func blockerIsBack(_ index: Int, _ state: inout State) -> Bool {
        state.blockers.remove(index)
        guard state.blockers.isEmpty else { return false }
        state.policy.snapshotEnded()
        return true
    }

    /// Has a checkpoint made, whether one is due or not. Returns the job, if the writer is free for it; otherwise it waits
    /// its turn.
    package func requestCheckpoint() -> Resumption? {
        state.withLock { state in
            guard state.queuedJobs.insert(.checkpoint).inserted else { return nil }
            return state.resumption(
                state.writerQueue.request(WriterJob.checkpoint.client, .job, now: MonotonicClock.now))
        }
    }

    /// The checkpoint, if it is due and the writer is free for it; if it is not free, the checkpoint waits its turn.
    func checkpointIfDue(_ state: inout State) -> Resumption? {
        guard !state.queuedJobs.contains(.recovery),
            state.policy.due(frames: state.walFrames.all, copied: state.walFrames.copied) != nil,
            state.queuedJobs.insert(.checkpoint).inserted
        else { return nil }
        return state.resumption(
            state.writerQueue.request(WriterJob.checkpoint.client, .job, now: MonotonicClock.now))
    }

    /// Idle readers must not hold a checkpoint up with the snapshots they keep.
    ///
    /// - Parameter ownsGate: the caller has the writer, so nobody else closes the gate, behind which recovery closes connections.
    func endIdleSnapshots(ownsGate: Bool = true) -> [Resumption] {
        let indexes = state.withLock { state in
            !ownsGate && state.readerQueue.isGateClosed
                ? [] : state.readerQueue.takeIdle() + state.preparingQueue.takeIdle().map { _ in preparingIndex }
        }
        for index in indexes { slots[index].reader?.endSnapshot() }
        return indexes.compactMap { releaseReader($0) }
    }
}

/// Stands for the daemon where it waits itself: until `end`, and no longer.
private final class Patience: StatementOwner {
    private let end: Instant
    private let eachTime: () -> Void
    init(until end: Instant, eachTime: @escaping () -> Void) {
        self.end = end
        self.eachTime = eachTime
    }

    func reasonToStop(now: Instant) -> StopReason? { nil }
    func reasonToStopWaiting(now: Instant) -> StopReason? {
        eachTime()
        return now >= end ? .lockTimeout : nil
    }
    func willBeLong() {}
}
