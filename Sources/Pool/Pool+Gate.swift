import Journal
import Logging
import Scheduling

/// Ends the snapshots of clients that do not run a statement and whose snapshot began before that; returns how many.
package typealias EndSnapshots = (_ before: Instant) -> Int

/// The exclusive gate: for a job that needs every snapshot gone.
///
/// New reads queue. Running ones finish or, past `gate_limit`, are ended; so writers wait no longer than that and the job
/// itself, and no reader, however slow, keeps the WAL from being emptied.
extension Pool {
    /// Closes the gate and waits until no client has a reader; the caller holds the writer and has said that it will be
    /// long. Returns false when some would not end.
    ///
    /// - Parameter since: when it was closed, if it is already.
    @discardableResult
    func closeGate(_ endSnapshots: EndSnapshots, since: Instant? = nil) -> Bool {
        state.withLock { state in
            state.readerQueue.closeGate()
            state.preparingQueue.closeGate()
        }
        backups.snapshots.close()
        let gateMilliseconds = changeable.gateMilliseconds.load(ordering: .relaxed)
        let expiry = (since ?? MonotonicClock.now).advanced(byMilliseconds: gateMilliseconds)
        var ended = 0
        defer { noteEnded(ended) }
        // One look at least: when the gate was closed long ago, whoever is there now need not be who was there then.
        repeat {
            if readersAreBack(withinMilliseconds: 0) { return true }
            ended += endSnapshots(MonotonicClock.now.advanced(byMilliseconds: -gateMilliseconds))
            if readersAreBack(withinMilliseconds: min(PoolLimits.gateLookMilliseconds, gateMilliseconds)) { return true }
        } while MonotonicClock.now < expiry
        gate.isExpired.store(true, ordering: .sequentiallyConsistent)
        backups.running?.cancel("its snapshot kept the WAL from being emptied for longer than gate_limit")
        defer { gate.isExpired.store(false, ordering: .sequentiallyConsistent) }
        let end = MonotonicClock.now.advanced(byMilliseconds: limits.gateGraceMilliseconds)
        while MonotonicClock.now < end {
            // Again and again: a session that was busy a moment ago may be idle with its snapshot now.
            ended += endSnapshots(.distantFuture)
            if readersAreBack(withinMilliseconds: PoolLimits.idleReadersMilliseconds) { return true }
        }
        return false
    }

    /// Closes the gate and lets writers go on while readers leave, so that writers wait for the copying alone. True once the
    /// readers have left, or are not to be waited for in this way any longer.
    ///
    /// New reads wait meanwhile, so only members of groups may get the writer, never a client that could keep it at will. A member whose
    /// statement turns out to be long opens the gate again (`openGateWhileReadersLeave`). What only prepares a statement goes on, or
    /// no statement with a new text could write.
    func drainReaders(_ frames: Int, _ endSnapshots: EndSnapshots) -> Bool {
        let now = MonotonicClock.now
        let (mayGoOn, nobodyWrites) = state.withLock { state in
            state.readerQueue.closeGate()
            state.gateClosing = state.gateClosing ?? now
            return (
                mayReadersLeave(frames: frames, state, now: now) && state.writerQueue.waitsOnlyForMembers,
                // Those whom a pause holds back do not count.
                state.writerQueue.waitingCount == 0 || state.pause != .none
            )
        }
        backups.snapshots.close()
        if !mayGoOn || readersAreBack(withinMilliseconds: 0) { return true }
        let gateMilliseconds = changeable.gateMilliseconds.load(ordering: .relaxed)
        noteEnded(endSnapshots(now.advanced(byMilliseconds: -gateMilliseconds)))
        // With nobody in the queue this job has its next turn at once.
        return readersAreBack(withinMilliseconds: nobodyWrites ? Int64(PoolLimits.lookMilliseconds) : 0)
    }

    /// Whether writers may still go on beside the closed gate.
    func mayReadersLeave(frames: Int, _ state: State, now: Instant) -> Bool {
        guard let since = state.gateClosing else { return false }
        let milliseconds = min(limits.gateDrainMilliseconds, changeable.gateMilliseconds.load(ordering: .relaxed))
        return now.milliseconds(since: since) < milliseconds && frames < state.policy.holdFrames
    }

    /// The writer will be in use for long: reads must not wait for that. Called by whoever has it.
    package func openGateWhileReadersLeave() -> [Resumption] {
        let isClosed = state.withLock { state in
            state.isHolderLong = true
            return state.gateClosing != nil
        }
        return isClosed ? openGate() : []
    }

    private func noteEnded(_ count: Int) {
        guard count > 0 else { return }
        state.withLock { $0.checkpoints.snapshotsEnded += count }
        log.notice(.snapshotsEnded, "snapshots were ended that kept the WAL from being emptied", metadata: ["sessions": "\(count)"])
    }

    private func readersAreBack(withinMilliseconds milliseconds: Int64) -> Bool {
        MonotonicClock.pollUntilTrue(by: MonotonicClock.now.advanced(byMilliseconds: milliseconds)) {
            state.withLock { $0.readerQueue.inUseCount + $0.preparingQueue.inUseCount } == 0 && backups.snapshots.areGone
        }
    }

    /// Readers that are still in use keep the gate waiting for too long.
    @inline(__always)
    package var isGateExpired: Bool { gate.isExpired.load(ordering: .relaxed) }

    /// When the snapshot began that a client has on this reader.
    package func snapshotBegan(_ index: Int) -> Instant? { slots[index].snapshot.began }

    /// Returns who gets a reader now.
    ///
    /// - Parameter evenBeforeRecovery: false: it stays closed where the database is to be opened again next.
    func openGate(evenBeforeRecovery: Bool = true) -> [Resumption] {
        backups.snapshots.open()
        return state.withLock { state in
            guard evenBeforeRecovery || !state.queuedJobs.contains(.recovery) else { return [] }
            state.gateClosing = nil
            let readers = state.readerQueue.openGate()
            return resumptions(ofReaders: readers + grantedToPrepare(state.preparingQueue.openGate(), &state), &state)
        }
    }
}
