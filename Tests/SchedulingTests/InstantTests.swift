import Testing

@testable import Scheduling

@Suite struct InstantTests {
    @Test(
        arguments: [
            (0, 0, 0), (0, 1, 1_000_000), (5, 2, 2_000_005), (1_000_000, -1, 0), (0, -1, -1_000_000),
        ] as [(Int64, Int64, Int64)])
    func advances(_ start: Int64, _ milliseconds: Int64, _ expected: Int64) {
        #expect(Instant(nanoseconds: start).advanced(byMilliseconds: milliseconds).nanoseconds == expected)
    }

    /// No pair of a clock and a setting traps; what is too far to say is "never".
    @Test(
        arguments: [0, 1, Int64.max / 2, Int64.max - 1, Int64.max],
        [
            Int64.max, Int64.max - 1, Int64.max / 1_000_000 + 1, Int64.max / 2,
        ])
    func overflowIsNever(_ start: Int64, _ milliseconds: Int64) {
        #expect(Instant(nanoseconds: start).advanced(byMilliseconds: milliseconds) == .distantFuture)
    }

    @Test func sumOverflowIsNever() {
        #expect(Instant(nanoseconds: .max).advanced(byMilliseconds: 1) == .distantFuture)
        #expect(Instant(nanoseconds: .max - 999_999).advanced(byMilliseconds: 1) == .distantFuture)
        #expect(Instant(nanoseconds: .max - 1_000_000).advanced(byMilliseconds: 1).nanoseconds == .max)
        // A setting so negative that it overflows is long past.
        #expect(Instant(nanoseconds: 0).advanced(byMilliseconds: .min).nanoseconds == .min)
        #expect(Instant(nanoseconds: .min).advanced(byMilliseconds: -1).nanoseconds == .min)
    }

    @Test func neverIsLaterThanAnyClock() {
        // Fifty years of uptime, and a limit of fifty more.
        let clock = Instant(nanoseconds: 50 * 365 * 86_400 * 1_000_000_000)
        #expect(clock < .distantFuture)
        #expect(clock.advanced(byMilliseconds: 50 * 365 * 86_400 * 1000) < .distantFuture)
        #expect(Instant.distantFuture.advanced(byMilliseconds: 0) == .distantFuture)
    }

    @Test(arguments: [(0, 0, 0), (1_999_999, 0, 1), (0, 1_999_999, -1), (5_000_000, 2_000_000, 3)] as [(Int64, Int64, Int64)])
    func elapsed(_ later: Int64, _ earlier: Int64, _ expected: Int64) {
        #expect(Instant(nanoseconds: later).milliseconds(since: Instant(nanoseconds: earlier)) == expected)
    }

    @Test func elapsedNeverTraps() {
        for a in [Int64.min, -1, 0, 1, .max] {
            for b in [Int64.min, -1, 0, 1, .max] {
                _ = Instant(nanoseconds: a).milliseconds(since: Instant(nanoseconds: b))
            }
        }
    }
}
