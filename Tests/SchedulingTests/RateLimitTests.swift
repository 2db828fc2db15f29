import Testing

@testable import Scheduling

@Suite struct RateLimitTests {
    private static let rate = RateLimit.Rate(burst: 3, perSecond: 2)
    private func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: 1).advanced(byMilliseconds: milliseconds) }

    @Test func aBurstAndThenARate() {
        var limit = RateLimit(Self.rate, now: at(0))
        let times: [Int64] = [0, 0, 0, 0, 0, 499, 500, 999, 1_000]
        let admitted = times.map { limit.admit(Self.rate, now: at($0)) }
        #expect(admitted == [true, true, true, false, false, false, true, false, true])
    }

    @Test func aLongPauseGivesNoMoreThanTheBurst() {
        var limit = RateLimit(Self.rate, now: at(0))
        for _ in 0..<3 { _ = limit.admit(Self.rate, now: at(0)) }
        #expect(!limit.isFull(Self.rate, now: at(1_499)) && limit.isFull(Self.rate, now: at(1_500)))
        let admitted = (0..<4).map { _ in limit.admit(Self.rate, now: at(1_000_000)) }
        #expect(admitted == [true, true, true, false])
    }

    /// Over any time, no more than the burst and what the rate gives.
    @Test func neverMore() {
        var limit = RateLimit(Self.rate, now: at(0))
        var admitted = 0
        for step in 0..<10_000 where limit.admit(Self.rate, now: at(Int64(step))) { admitted += 1 }
        #expect(admitted == 3 + 19)
    }

    @Test func oneUserLeavesTheOthersTheirs() {
        var limits = RateLimits<Int>(Self.rate, keyLimit: 10)
        for _ in 0..<100 { _ = limits.admit(1, now: at(0)) }
        #expect(limits.leftOut == 97)
        let other = limits.admit(2, now: at(0))
        let leftOut = limits.takeLeftOut()
        #expect(other && leftOut == 97 && limits.leftOut == 0)
    }

    @Test func keysAreBounded() {
        var limits = RateLimits<Int>(Self.rate, keyLimit: 2)
        let ask: [(key: Int, time: Int64)] =
            [(1, 0), (2, 0)] + (3..<8).map { ($0, 0) } + [(1, 0)]
            + [50, 50, 50, 50, 51, 51, 51, 51].map { ($0, 10_000) }
        let admitted = ask.map { limits.admit($0.key, now: at($0.time)) }
        // The third to the seventh user share one limit; a user who is known keeps the own one. Whoever has been quiet for
        // long enough is forgotten, and makes room.
        #expect(
            admitted == [true, true, true, true, true, false, false, true]
                + [true, true, true, false, true, true, true, false])
    }
}
