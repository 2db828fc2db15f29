import CLinux
import Glibc
import POSIX
import Synchronization

/// How far the daemon is on its way to its end: each of these follows the one before it, and none is taken back but a drain that has
/// found its last client gone.
struct Stopping: ~Copyable {
    /// Nobody gets in, and the last client's leaving begins the stop. See Server+Drain.
    let isDraining = Atomic<Bool>(false)
    let hasStoppedAccepting = Atomic<Bool>(false)
    /// Threads that accept connections at the moment.
    let accepting = Atomic<Int>(0)
    /// Until when a drain waits for connections that have not started, in nanoseconds.
    let startingEnd = Atomic<Int64>(0)
    /// No new sessions, and idle ones go.
    let hasBegun = Atomic<Bool>(false)
    /// Running statements end now.
    let mustStopStatements = Atomic<Bool>(false)
    /// Of the crew: they have left `Worker.main`.
    let endedThreads = Atomic<Int>(0)
    /// What the console's SHUTDOWN does.
    let request = Locked<(@Sendable () -> Void)?>(nil)
    /// Readable from when the crew shall end, for every thread that polls. A closed listening socket leaves its number to this too.
    let signal = walpool_eventfd()

    func announce() {
        var one: UInt64 = 1
        _ = write(signal, &one, MemoryLayout<UInt64>.size)
    }

    deinit { close(signal) }
}
