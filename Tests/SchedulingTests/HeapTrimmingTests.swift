import Testing

@testable import Scheduling

@Suite struct HeapTrimmingTests {
    private let worth = HeapTrimming.worthBytes
    private func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

    /// What each of these looks says, one after the other.
    private func looks(_ trimming: inout HeapTrimming, _ unused: Int...) -> [Bool] {
        var answers: [Bool] = []
        for bytes in unused { answers.append(trimming.isWorthIt(unusedBytes: bytes)) }
        return answers
    }

    @Test func littleStays() {
        var trimming = HeapTrimming()
        let answers = looks(&trimming, 0, worth, worth + 1)
        #expect(answers == [false, false, true])
    }

    @Test func whatCannotBeGivenBackIsNotTriedAgain() {
        var trimming = HeapTrimming()
        let first = looks(&trimming, 5 * worth)
        trimming.hasTrimmed(leaving: 3 * worth, now: at(0))
        // The last but one was in use after all, and has gone since.
        let later = looks(&trimming, 4 * worth, 4 * worth + 1, worth / 2, 2 * worth)
        #expect(first == [true])
        #expect(later == [false, true, false, true])
    }

    /// SQLite may have more than is resident. Memory that comes back from swap is no growth.
    @Test func lessThanNothingIsNothing() {
        var trimming = HeapTrimming()
        let before = looks(&trimming, -2 * worth, 1)
        trimming.hasTrimmed(leaving: -2 * worth, now: at(0))
        let after = looks(&trimming, worth, worth + 1)
        #expect(before == [false, false])
        #expect(after == [false, true])
    }

    @Test func notOften() {
        var trimming = HeapTrimming()
        #expect(trimming.look(afterWorkUntil: at(5)) == at(1_005))
        trimming.hasTrimmed(leaving: 0, now: at(2_000))
        #expect(trimming.look(afterWorkUntil: at(2_001)) == at(32_000))
        #expect(trimming.look(afterWorkUntil: at(31_500)) == at(32_500))
    }
}
