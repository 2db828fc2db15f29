import SQLite
import Scheduling

/// Reading what connections count for themselves.
///
/// A statement's and a page cache's counters belong to the holder of the connection, so that counting costs no lock and no
/// atomic operation. `collect` takes every connection that is idle, for the microseconds this needs, and leaves word at the
/// others, whose holders tell when they give them back.
extension Pool {
    /// What has been counted so far. What connections have counted for themselves since they last told is not in it: see `collect`.
    package var statistics: PoolStatistics {
        let (usage, recoveries) = state.withLock { ($0.writerQueue.usage, $0.recoveries) }
        let collected = counters.collected
        return PoolStatistics(
            writer: usage, readerConnections: collected.readers, writerConnection: collected.writer,
            pageCacheBytes: collected.cacheBytes.values.reduce(0, +),
            outsiderWaitMilliseconds: counters.outsiderWaitMilliseconds.load(ordering: .relaxed), commits: counters.commits.values,
            checkpoints: counters.checkpoints.values,
            vacuumsSucceeded: counters.vacuumsSucceeded.load(ordering: .relaxed),
            vacuumsFailed: counters.vacuumsFailed.load(ordering: .relaxed), recoveries: recoveries)
    }

    /// Has every connection tell what it has counted. Returns who gets a connection that was asked for meanwhile.
    package func collect() -> [Resumption] {
        var resumptions: [Resumption] = []
        // The coldest first, so that the warmest is on top again afterwards.
        let (idle, all) = state.withLock { state in
            let used = 0..<state.readerQueue.usedCount
            return (state.readerQueue.idleIndexes, Set(used).union(state.preparingQueue.usedCount > 0 ? [preparingIndex] : []))
        }
        for index in idle + all.subtracting(idle).sorted() {
            slots[index].mustTell.store(true, ordering: .relaxed)
            guard takeIdle(index) else { continue }
            // One that nobody has used since keeps other processes' checkpoints from copying what came later.
            if slots[index].reader?.isNewest == false { slots[index].reader?.endSnapshot() }
            tell(index)
            if let next = releaseReader(index) { resumptions.append(next) }
        }
        writerMustTell.store(true, ordering: .relaxed)
        // Its release also looks how long the WAL is, which others may have made long.
        if borrowWriter(), let next = releaseWriter() { resumptions.append(next) }
        return resumptions
    }

    private func takeIdle(_ index: Int) -> Bool {
        state.withLock { state in
            index == preparingIndex ? state.preparingQueue.takeIdle(0) : state.readerQueue.takeIdle(index)
        }
    }

    /// Release it afterwards, which is when it does what it is asked for.
    func borrowWriter() -> Bool {
        let now = MonotonicClock.now
        return state.withLock { state in
            guard state.writerQueue.holder == .nobody, state.writerQueue.gathering == nil else { return false }
            return state.writerQueue.request(WriterJob.housekeeping.client, .job, now: now) != nil
        }
    }

    /// Only for whoever has this reader.
    func tell(_ index: Int) {
        slots[index].mustTell.store(false, ordering: .relaxed)
        slots[index].reader?.tell(as: index)
    }

    /// Only for whoever has the writer, which asks itself before it is released.
    func tellOfWriterIfAsked() {
        guard writerMustTell.load(ordering: .relaxed) else { return }
        writerMustTell.store(false, ordering: .relaxed)
        writer.tell(as: PoolCounters.writerIndex)
    }
}

extension PooledConnection {
    func tell(as index: Int) {
        counters.add(takeUsage(), cacheBytes: connection.pageCacheBytes, index: index)
    }
}
