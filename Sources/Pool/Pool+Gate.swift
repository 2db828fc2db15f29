import Logging
import Scheduling

/// The exclusive gate: for a job that needs every snapshot gone.
///
/// New reads queue. Running ones finish or, past `gate_limit`, are ended; so writers wait no longer than that and the job
/// itself, and no reader, however slow, keeps the WAL from being emptied.
extension Pool {
    /// Closes the gate and waits until no client has a reader; the caller holds the writer and has said that it will be
    /// long. Returns false when some would not end.
    @discardableResult
    func closeGate(_ endSnapshots: () -> Int) -> Bool {
        state.withLock { state in
            state.readerQueue.closeGate()
            state.analystQueue.closeGate()
        }
        if readersAreBack(within: limits.gateMilliseconds) { return true }
        gate.isExpired.store(true, ordering: .sequentiallyConsistent)
        defer { gate.isExpired.store(false, ordering: .sequentiallyConsistent) }
        let end = MonotonicClock.now.advanced(byMilliseconds: limits.gateGraceMilliseconds)
        var ended = 0
        defer {
            state.withLock { $0.checkpoints.snapshotsEnded += ended }
            log.notice("snapshots were ended to empty the WAL", metadata: ["idle": "\(ended)"])
        }
        while MonotonicClock.now < end {
            // Again and again: a session that was busy a moment ago may be idle with its snapshot now.
            ended += endSnapshots()
            if readersAreBack(within: 2) { return true }
        }
        return false
    }

    private func readersAreBack(within milliseconds: Int64) -> Bool {
        let end = MonotonicClock.now.advanced(byMilliseconds: milliseconds)
        while true {
            if state.withLock({ $0.readerQueue.inUseCount + $0.analystQueue.inUseCount }) == 0 { return true }
            if MonotonicClock.now >= end { return false }
            MonotonicClock.sleepForOutsider(milliseconds: 1)
        }
    }

    /// Returns who gets a reader now.
    func openGate() -> [Resumption] {
        state.withLock { state in
            let readers = state.readerQueue.openGate()
            let analysts = state.analystQueue.openGate().map { (client: $0.client, index: analystIndex) }
            return (readers + analysts).compactMap { client, index in
                state.readerUsers[index] = client
                return state.parked.removeValue(forKey: client).map { .reader($0, index) }
            }
        }
    }
}
