import Testing

@testable import Pool
@testable import Scheduling

/// Looking for what nothing tells of.
@Suite struct PollingTests {
    private struct Failure: Error {}
    private let past = Instant(nanoseconds: 0)

    @Test func itLooksOnceAtLeast() {
        var looks = 0
        let found: Int? = MonotonicClock.poll(until: past) {
            looks += 1
            return nil
        }
        #expect(found == nil && looks == 1)
        #expect(MonotonicClock.poll(until: past) { 7 } == 7)
    }

    @Test func itGoesOnUntilThen() {
        var looks = 0
        #expect(
            MonotonicClock.pollUntilTrue(by: .distantFuture) {
                looks += 1
                return looks == 3
            })
        #expect(looks == 3)
        #expect(!MonotonicClock.pollUntilTrue(by: past) { false })
    }

    @Test func whatIsLeftAtTheLastLook() {
        var left = [1, 2]
        #expect(MonotonicClock.pollUntilGone(by: .distantFuture) { left.popLast() } == nil)
        #expect(MonotonicClock.pollUntilGone(by: past) { 5 } == 5)
    }

    @Test func whatALookThrowsEndsIt() {
        #expect(throws: Failure.self) { try MonotonicClock.poll(until: .distantFuture) { () throws(Failure) -> Int? in throw Failure() } }
    }
}
