import Testing

@testable import Scheduling

@Suite struct CoreYieldingTests {
    /// When a thread gave the core up, for how long, and for how long it does not do so again; all in microseconds. 0: it asks on.
    @Test(arguments: [
        [(0, 5, 0), (10, 999, 0)],
        [(0, 1_000, 10_000)],
        [(0, 3_000, 10_000), (13_000, 3_000, 20_000), (36_000, 3_000, 40_000)],
        // Long after the pause before: somebody else computes.
        [(0, 3_000, 10_000), (50_000, 3_000, 10_000)],
        [(0, 3_000, 10_000), (50_000, 2_999, 20_000)],
        // A short one between says nothing: who computes runs on another core now.
        [(0, 3_000, 10_000), (13_000, 10, 0), (14_000, 3_000, 20_000)],
    ])
    func pauses(_ times: [(at: Int64, away: Int64, pause: Int64)]) {
        var yielding = CoreYielding()
        for (at, away, pause) in times {
            let before = Instant(nanoseconds: at * 1_000)
            let back = Instant(nanoseconds: (at + away) * 1_000)
            #expect(yielding.isAllowed(now: before))
            let isLost = yielding.gaveUp(at: before, hadItAgainAt: back)
            #expect(isLost == (pause > 0))
            if pause == 0 { continue }
            let end = back.nanoseconds + pause * 1_000
            #expect(!yielding.isAllowed(now: Instant(nanoseconds: end - 1)))
            #expect(yielding.isAllowed(now: Instant(nanoseconds: end)))
        }
    }

    /// Beside who computes all the time, what is lost is a small part.
    @Test func againAndAgain() {
        var yielding = CoreYielding()
        var now = Instant(nanoseconds: 0)
        var lost = 0
        while now.nanoseconds < 100_000_000_000 {
            let back = Instant(nanoseconds: now.nanoseconds + 3_000_000)
            if yielding.isAllowed(now: now) {
                _ = yielding.gaveUp(at: now, hadItAgainAt: back)
                lost += 1
            }
            now = back
        }
        #expect((15...25).contains(lost))
    }
}
