import CLinux
import Glibc
import POSIX
import Pool

/// Resumptions for whichever thread comes first, and what wakes one of those that wait for events.
final class ReadyQueue: Sendable {
    /// An eventfd that all polling threads have in their epoll, edge-triggered: a write wakes one of them.
    let wakeUp = walpool_eventfd()
    private let resumptions = Resumptions()

    deinit { close(wakeUp) }

    var isEmpty: Bool { resumptions.isEmpty }

    func enqueue(_ resumption: Resumption) {
        enqueueUnannounced(resumption)
        wakeOne()
    }

    /// The caller takes it in the end, or wakes another thread.
    func enqueueUnannounced(_ resumption: Resumption) { resumptions.append(resumption) }

    @inline(__always)
    func take() -> Resumption? { isEmpty ? nil : takeFirst() }

    private func takeFirst() -> Resumption? {
        let next = resumptions.take()
        // Two wake-ups close together may have woken only this thread, and what it takes may be long.
        if !isEmpty { wakeOne() }
        return next
    }

    /// One of the threads that wait for events looks what there is to do.
    func wakeOne() {
        var one: UInt64 = 1
        _ = write(wakeUp, &one, 8)
    }
}
