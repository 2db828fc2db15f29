import Glibc
import Scheduling

/// The one clock of the pool. CLOCK_MONOTONIC never jumps, whatever happens to the wall clock.
package enum MonotonicClock {
    /// Nanoseconds since some moment before the start: a call into the vDSO, not into the kernel.
    package static var now: Instant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
    }

    /// Sleeps between two looks at what nothing tells of: only on a thread that may be long.
    package static func sleep(milliseconds: Int) {
        var time = timespec(tv_sec: milliseconds / 1000, tv_nsec: (milliseconds % 1000) * 1_000_000)
        nanosleep(&time, nil)
    }
}
