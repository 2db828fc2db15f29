import POSIX
import Scheduling
import Synchronization

/// What the pool counts, but for what stands in `Pool.State` under its lock.
package final class PoolCounters: Sendable {
    /// That the writer waited for another process's lock.
    let outsiderWaitMilliseconds = Atomic<Int>(0)
    /// Since when it has waited for that, in nanoseconds of the monotonic clock; 0: it does not wait.
    let outsiderWaitBegan = Atomic<Int64>(0)
    let commits = AtomicHistogram()
    let checkpoints = AtomicHistogram()
    let vacuumsSucceeded = Atomic<Int>(0)
    let vacuumsFailed = Atomic<Int>(0)
    /// What connections told so far.
    private let connections = Locked<Connections>(Connections())
    let observer: (any StatementObserver)?

    struct Connections {
        var readers = ConnectionUsage()
        var writer = ConnectionUsage()
        /// Each connection's page cache as it last was, by its index.
        var cacheBytes: [Int: Int] = [:]
    }

    /// - Parameter observer: told what statements have done; nil: nobody.
    package init(observer: (any StatementObserver)? = nil) { self.observer = observer }

    /// The writer has the lock, or what it was to do is over.
    func outsiderWaitHasEnded() {
        if outsiderWaitBegan.load(ordering: .relaxed) != 0 { outsiderWaitBegan.store(0, ordering: .relaxed) }
    }

    func add(_ usage: ConnectionUsage, cacheBytes: Int, index: Int) {
        connections.withLock { connections in
            if index == Self.writerIndex { connections.writer += usage } else { connections.readers += usage }
            connections.cacheBytes[index] = cacheBytes
        }
    }

    static let writerIndex = -1

    var collected: Connections { connections.withLock { $0 } }
}

/// The counters at one moment.
package struct PoolStatistics: Sendable {
    /// What became of the writer's time.
    package var writer: WriterUsage
    /// Statement caches and page caches, of all readers together.
    package var readerConnections: ConnectionUsage
    package var writerConnection: ConnectionUsage
    /// Of all connections' page caches, as each last told.
    package var pageCacheBytes: Int
    /// That the writer has waited for another process's lock.
    package var outsiderWaitMilliseconds: Int
    /// How long commits took, and checkpoints, in nanoseconds.
    package var commits: Histogram
    package var checkpoints: Histogram
    /// Since the start, however they were asked for.
    package var vacuumsSucceeded: Int
    package var vacuumsFailed: Int
    /// How often the database was opened anew, because its files were lost or a sync had failed.
    package var recoveries: Int
}
