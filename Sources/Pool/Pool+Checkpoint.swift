import Logging
import SQLite
import Scheduling

/// Keeping the WAL small.
extension Pool {
    /// Puts a checkpoint into the writer's queue once the WAL is large enough: it runs when its turn comes, after the
    /// replies of the commits before it went out.
    func queueCheckpointIfNeeded(_ state: inout State, now: Instant) {
        guard !state.queuedJobs.contains(.checkpoint),
            writer.framesToCheckpoint >= limits.checkpointFrames + state.framesLeftBehind
        else { return }
        queue(.checkpoint, &state, now: now)
    }

    /// The caller holds the writer, so the job always waits in the queue.
    ///
    /// - Parameter first: before everybody who waits.
    func queue(_ job: WriterJob, first: Bool = false, _ state: inout State, now: Instant) {
        guard state.queuedJobs.insert(job).inserted else { return }
        _ = first
            ? state.writerQueue.requestFirst(job.client, now: now)
            : state.writerQueue.request(job.client, .job, now: now)
    }

    /// Runs a job that was granted the writer. Release the writer afterwards.
    ///
    /// Returns who gets a reader that this borrowed for a moment.
    public func run(_ job: WriterJob) -> [Resumption] {
        let resumptions: [Resumption] =
            switch job {
            case .checkpoint: checkpoint()
            case .maintenance, .recovery: []
            }
        state.withLock { _ = $0.queuedJobs.remove(job) }
        return resumptions
    }

    func checkpoint() -> [Resumption] {
        var resumptions = endIdleSnapshots()
        do {
            let result = try writer.connection.checkpoint(.passive)
            if result.isComplete {
                epoch.wrappingAdd(1, ordering: .relaxed)
                // Those that were used and released meanwhile.
                resumptions += endIdleSnapshots()
            }
            let left = max(0, result.frames - result.copiedFrames)
            state.withLock { $0.framesLeftBehind = left }
            log.debug("checkpoint", metadata: ["frames": "\(result.frames)", "copied": "\(result.copiedFrames)"])
        } catch {
            log.error("checkpoint failed", metadata: ["code": "\(error.extendedCode)", "error": "\(error.message)"])
        }
        return resumptions
    }

    /// Idle readers must not hold a checkpoint up with the snapshots they keep.
    func endIdleSnapshots() -> [Resumption] {
        let indexes = state.withLock { state in
            state.readerQueue.takeIdle() + state.analystQueue.takeIdle().map { _ in analystIndex }
        }
        for index in indexes { slots[index].reader?.endSnapshot() }
        return indexes.compactMap { releaseReader($0) }
    }

    /// Closes everything: readers before the writer, so that the last to close is one that can checkpoint.
    ///
    /// Call it when no client is left.
    public func close() {
        for slot in slots { slot.reader = nil }
        writer.forgetStatements()
        do {
            let result = try writer.connection.checkpoint(.truncate)
            log.debug("last checkpoint", metadata: ["frames": "\(result.frames)", "busy": "\(result.isBusy)"])
        } catch {
            log.error("last checkpoint failed", metadata: ["error": "\(error.message)"])
        }
    }
}
