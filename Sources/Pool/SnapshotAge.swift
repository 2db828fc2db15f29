import Scheduling
import Synchronization

/// When a reader's snapshot began. Any thread may look.
final class SnapshotAge: Sendable {
    /// Nanoseconds of the monotonic clock; 0 while there is no snapshot.
    private let nanoseconds = Atomic<Int64>(0)

    var began: Instant? {
        let value = nanoseconds.load(ordering: .relaxed)
        return value == 0 ? nil : Instant(nanoseconds: value)
    }

    @inline(__always)
    func begins() { nanoseconds.store(MonotonicClock.now.nanoseconds, ordering: .relaxed) }

    @inline(__always)
    func ends() { nanoseconds.store(0, ordering: .relaxed) }
}
