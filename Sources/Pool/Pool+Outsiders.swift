import Scheduling
import Synchronization

/// Another process that the writer waits for, and that waits for the pool's readers.
///
/// A checkpoint that is to empty the WAL takes the write lock and waits, for as long as its own timeout lets it, "until all readers are
/// reading from the database file only" (https://www.sqlite.org/c3ref/wal_checkpoint_v2.html); and an idle reader keeps a snapshot
/// that serves nobody.
extension Pool {
    /// To be called for every writer that is opened.
    func writerMakesWay() {
        // The pool owns its writer, and nobody else runs it. A weak reference would give the pool a side table, by which each retain and
        // release of it takes the slow way: 2 % of an INSERT's instructions.
        writer.makeWay = { [unowned(unsafe) self] in
            mustMakeWay.store(true, ordering: .sequentiallyConsistent)
            announce(MonotonicClock.now)
        }
    }

    /// Ends what idle readers keep, if the writer waits for another process. Returns who gets a reader that was taken for that.
    package func makeWay() -> [Resumption] {
        guard mustMakeWay.load(ordering: .relaxed), mustMakeWay.exchange(false, ordering: .sequentiallyConsistent) else { return [] }
        // Those that are in use end theirs when they are given back.
        epoch.wrappingAdd(1, ordering: .relaxed)
        return endIdleSnapshots(ownsGate: false)
    }
}
