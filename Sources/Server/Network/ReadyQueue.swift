import CLinux
import DequeModule
import Glibc
import POSIX
import Pool
import Synchronization

/// Resumptions for whichever thread comes first, and what wakes one of those that wait for events.
final class ReadyQueue: Sendable {
    /// An eventfd that all polling threads have in their epoll, edge-triggered: a write wakes one of them.
    let wakeUp = walpool_eventfd()
    private let resumptions = Locked<Deque<Resumption>>([])
    /// How many there are, so that looking costs no lock.
    private let count = Atomic<Int>(0)

    deinit { close(wakeUp) }

    /// In one order with `Crew.isWatched`: the last watcher looks here when it has gone.
    var isEmpty: Bool { count.load(ordering: .sequentiallyConsistent) == 0 }

    func enqueue(_ resumption: Resumption) {
        enqueueUnannounced(resumption)
        wakeOne()
    }

    /// The caller takes it in the end, or wakes another thread.
    func enqueueUnannounced(_ resumption: Resumption) {
        resumptions.withLock {
            $0.append(resumption)
            // In one order with `Crew.isWatched`, as above.
            count.store($0.count, ordering: .sequentiallyConsistent)
        }
    }

    func take() -> Resumption? {
        guard count.load(ordering: .acquiring) > 0 else { return nil }
        let (next, isLast) = resumptions.withLock { resumptions -> (Resumption?, Bool) in
            let next = resumptions.popFirst()
            count.store(resumptions.count, ordering: .releasing)
            return (next, resumptions.isEmpty)
        }
        // Two wake-ups close together may have woken only this thread, and what it takes may be long.
        if !isLast { wakeOne() }
        return next
    }

    /// One of the threads that wait for events looks what there is to do.
    func wakeOne() {
        var one: UInt64 = 1
        _ = write(wakeUp, &one, 8)
    }
}
