import Scheduling
import Synchronization

/// When something is to be looked at again: any thread may want it sooner, and one of those that ask once it is due does it.
struct NextLook: ~Copyable, Sendable {
    private let nanoseconds = Atomic<Int64>(Instant.distantFuture.nanoseconds)

    /// `distantFuture`: nobody wants a look.
    var instant: Instant { Instant(nanoseconds: nanoseconds.load(ordering: .relaxed)) }

    /// True when that is sooner than what was wanted.
    func bringForward(to instant: Instant) -> Bool {
        nanoseconds.min(instant.nanoseconds, ordering: .relaxed).oldValue > instant.nanoseconds
    }

    /// True for one of the threads that ask when a look is due; it has to look. Nobody wants another from then on.
    func takeIfDue(_ now: Instant) -> Bool {
        let due = nanoseconds.load(ordering: .relaxed)
        guard due <= now.nanoseconds else { return false }
        return nanoseconds.compareExchange(expected: due, desired: Instant.distantFuture.nanoseconds, ordering: .relaxed).exchanged
    }
}
