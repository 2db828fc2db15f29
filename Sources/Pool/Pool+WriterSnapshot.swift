import Scheduling
import Synchronization

/// How long the writer's snapshot is kept.
///
/// The writer keeps its read transaction over its commits (`Writer.takeWriteLock`). A checkpoint of the daemon's own ends it, but
/// one of another process would find its read mark for ever. So it is never older than `PoolLimits.writerSnapshotMilliseconds`:
/// then whoever has the writer ends it, or whoever looks when nobody has it.
extension Pool {
    /// Only for whoever has the writer and is about to release it.
    @inline(__always)
    func boundWriterSnapshot(now: Instant) {
        if writerSnapshotIsOld.load(ordering: .relaxed) {
            writerSnapshotIsOld.store(false, ordering: .relaxed)
            writer.endSnapshot()
        } else if writer.keepsSnapshot, writerSnapshotEnds.load(ordering: .relaxed) == .max {
            let end = now.advanced(byMilliseconds: PoolLimits.writerSnapshotMilliseconds)
            writerSnapshotEnds.store(end.nanoseconds, ordering: .relaxed)
            announce(end)
        }
    }

    /// When the writer's snapshot has to end.
    package var writerSnapshotEnd: Instant { Instant(nanoseconds: writerSnapshotEnds.load(ordering: .relaxed)) }

    /// Ends the writer's snapshot, or has whoever has the writer end it. Returns who gets the writer next, if somebody asked for it
    /// meanwhile.
    package func endWriterSnapshot() -> Resumption? {
        // In this order: who releases the writer from now on sees to the end of what begins then.
        writerSnapshotEnds.store(.max, ordering: .sequentiallyConsistent)
        writerSnapshotIsOld.store(true, ordering: .sequentiallyConsistent)
        if borrowWriter() { return releaseWriter() }
        // It is nobody's while a group gathers, and no group may come of it.
        guard state.withLock({ $0.writerQueue.holder == .nobody }) else { return nil }
        let again = MonotonicClock.now.advanced(byMilliseconds: PoolLimits.writerSnapshotMilliseconds)
        writerSnapshotEnds.store(again.nanoseconds, ordering: .sequentiallyConsistent)
        announce(again)
        return nil
    }
}
