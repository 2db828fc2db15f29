import Glibc
import POSIX
import Testing

@Suite struct SystemClockTests {
    @Test func itCountsNanoseconds() {
        let before = Int64(time(nil))
        let now = SystemClock.nanoseconds(CLOCK_REALTIME)
        // time(2) may be a tick of the kernel behind.
        #expect(now / 1_000_000_000 >= before && now / 1_000_000_000 - before < 3_600)
    }

    @Test func theMonotonicOneNeverGoesBack() {
        var last = SystemClock.nanoseconds(CLOCK_MONOTONIC)
        for _ in 0..<1_000 {
            let now = SystemClock.nanoseconds(CLOCK_MONOTONIC)
            #expect(now >= last)
            last = now
        }
    }
}
