import Glibc
import POSIX
import Scheduling

/// The one clock of the pool. CLOCK_MONOTONIC never jumps, whatever happens to the wall clock.
package enum MonotonicClock {
    /// Nanoseconds since some moment before the start.
    package static var now: Instant { Instant(nanoseconds: SystemClock.nanoseconds(CLOCK_MONOTONIC)) }

    /// Sleeps between two looks at what nothing tells of: only on a thread that may be long.
    package static func sleep(milliseconds: Int) {
        var time = timespec(tv_sec: milliseconds / 1000, tv_nsec: (milliseconds % 1000) * 1_000_000)
        nanosleep(&time, nil)
    }
}
