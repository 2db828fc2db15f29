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

    @Test(arguments: [CLOCK_REALTIME, CLOCK_MONOTONIC]) func itsStepsAreShorterThanASecond(_ clock: clockid_t) {
        let before = SystemClock.nanoseconds(clock)
        var now = before
        while now == before { now = SystemClock.nanoseconds(clock) }
        #expect(now - before < 1_000_000_000)
    }

    /// One counts from 1970, and the other from the start of the machine.
    @Test func eachClockIsItsOwn() {
        let yearNanoseconds: Int64 = 365 * 86_400 * 1_000_000_000
        #expect(SystemClock.nanoseconds(CLOCK_REALTIME) - SystemClock.nanoseconds(CLOCK_MONOTONIC) > yearNanoseconds)
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
