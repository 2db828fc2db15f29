import Glibc
import POSIX
import Scheduling

/// The one clock of the pool. CLOCK_MONOTONIC never jumps, whatever happens to the wall clock.
package enum MonotonicClock {
    /// Nanoseconds since some moment before the start.
    package static var now: Instant { Instant(nanoseconds: SystemClock.nanoseconds(CLOCK_MONOTONIC)) }

    /// Looks for what nothing tells of, once at least, until it is there or `end` has come: only on a thread that may be long.
    package static func poll<Found, Failure: Error>(
        until end: Instant, everyMilliseconds pause: Int = PoolLimits.lookMilliseconds, _ look: () throws(Failure) -> Found?
    ) throws(Failure) -> Found? {
        while true {
            if let found = try look() { return found }
            guard now < end else { return nil }
            sleep(milliseconds: pause)
        }
    }

    /// The same for what is to become so. False: it has not until then.
    package static func pollUntilTrue<Failure: Error>(
        by end: Instant, everyMilliseconds pause: Int = PoolLimits.lookMilliseconds, _ isSo: () throws(Failure) -> Bool
    ) throws(Failure) -> Bool {
        try poll(until: end, everyMilliseconds: pause) { () throws(Failure) -> Void? in try isSo() ? () : nil } != nil
    }

    /// The same for what is to go away: nil once it has; otherwise what was there at the last look.
    package static func pollUntilGone<Left, Failure: Error>(
        by end: Instant, everyMilliseconds pause: Int = PoolLimits.lookMilliseconds, _ look: () throws(Failure) -> Left?
    ) throws(Failure) -> Left? {
        var left: Left?
        _ = try pollUntilTrue(by: end, everyMilliseconds: pause) { () throws(Failure) in
            left = try look()
            return left == nil
        }
        return left
    }

    /// Sleeps between two looks at what nothing tells of: only on a thread that may be long.
    package static func sleep(milliseconds: Int) {
        var time = timespec(tv_sec: milliseconds / 1000, tv_nsec: (milliseconds % 1000) * 1_000_000)
        nanosleep(&time, nil)
    }
}
