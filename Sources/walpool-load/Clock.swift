import Glibc
import POSIX

/// CLOCK_MONOTONIC: one clock for all threads and processes of the machine.
enum Clock {
    @inline(__always)
    static var now: Int64 { SystemClock.nanoseconds(CLOCK_MONOTONIC) }

    /// Seconds since 1970.
    static var timeOfDay: Double { Double(SystemClock.nanoseconds(CLOCK_REALTIME)) / 1e9 }

    /// User and system time that this process has taken so far.
    static var processorSeconds: Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }

    static func sleep(until deadline: Int64) {
        var time = timespec(tv_sec: Int(deadline / 1_000_000_000), tv_nsec: Int(deadline % 1_000_000_000))
        while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
    }
}
