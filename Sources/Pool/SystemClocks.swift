import Glibc
import Scheduling

extension MaintenanceSchedule.Clocks {
    /// The clocks of the system, read now.
    static var now: Self {
        var wall = time(nil)
        var local = tm()
        localtime_r(&wall, &local)
        // "CLOCK_BOOTTIME: … identical to CLOCK_MONOTONIC, except that it also includes any time that the system is
        // suspended": clock_gettime(2). A machine that sleeps has not been set to another time.
        var boot = timespec()
        clock_gettime(CLOCK_BOOTTIME, &boot)
        return Self(
            wallSeconds: Int64(wall),
            monotonic: Instant(nanoseconds: Int64(boot.tv_sec) &* 1_000_000_000 &+ Int64(boot.tv_nsec)),
            localOffsetSeconds: Int64(local.tm_gmtoff))
    }
}
