import Glibc
import POSIX
import Scheduling

extension MaintenanceSchedule.Clocks {
    /// The clocks of the system, read now.
    static var now: Self {
        var wall = time(nil)
        var local = tm()
        localtime_r(&wall, &local)
        // "CLOCK_BOOTTIME: … identical to CLOCK_MONOTONIC, except that it also includes any time that the system is
        // suspended": clock_gettime(2). A machine that sleeps has not been set to another time.
        return Self(
            wallSeconds: Int64(wall), monotonic: Instant(nanoseconds: SystemClock.nanoseconds(CLOCK_BOOTTIME)),
            localOffsetSeconds: Int64(local.tm_gmtoff))
    }
}
