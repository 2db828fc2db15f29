import Glibc

/// clock_gettime(2), which reads these clocks without entering the kernel (vdso(7)).
public enum SystemClock {
    /// - Parameter clock: CLOCK_REALTIME counts from 1970, and jumps when the machine is set to another time.
    @inlinable @inline(__always)
    public static func nanoseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}
