import Testing

@testable import Scheduling

@Suite struct HeapTrimmingTests {
    private let worth = HeapTrimming.worthBytes
    private func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

    /// What each of these looks says, one after the other.
    private func looks(_ trimming: inout HeapTrimming, _ unused: Int..., at milliseconds: Int64 = 0) -> [HeapTrimming.Finding] {
        unused.map { trimming.look(unusedBytes: $0, now: at(milliseconds)) }
    }

    @Test func littleStays() {
        var trimming = HeapTrimming()
        let answers = looks(&trimming, 0, worth, worth + 1)
        #expect(answers == [.little, .little, .isWorthIt])
    }

    @Test func whatCannotBeGivenBackIsNotTriedAgainAtOnce() {
        var trimming = HeapTrimming()
        let first = looks(&trimming, 5 * worth)
        trimming.hasTrimmed(5 * worth, leaving: 3 * worth, now: at(0))
        // The last but one was in use after all, and has gone since.
        let later = looks(&trimming, 4 * worth, 4 * worth + 1, worth / 2, 2 * worth, at: 29_999)
        #expect(first == [.isWorthIt])
        #expect(later == [.lookAgain(at(30_000)), .isWorthIt, .little, .isWorthIt])
    }

    /// What sessions had that lived then, and have ended: there is no growth by which it would be found.
    @Test func whatCouldNotBeGivenBackMayBeFreeLater() {
        var trimming = HeapTrimming()
        trimming.hasTrimmed(3 * worth, leaving: 3 * worth, now: at(0))
        let looked = [looks(&trimming, 3 * worth, at: 59_999), looks(&trimming, 3 * worth, at: 60_000)]
        #expect(looked == [[.lookAgain(at(60_000))], [.isWorthIt]])
    }

    @Test func whoTriesInVainWaitsForLonger() {
        var trimming = HeapTrimming()
        var (now, waits): (Int64, [Int64]) = (0, [])
        for _ in 0..<7 {
            trimming.hasTrimmed(3 * worth, leaving: 2 * worth, now: at(now))
            guard case .lookAgain(let next) = looks(&trimming, 3 * worth, at: now)[0] else { break }
            waits.append(next.nanoseconds / 1_000_000 - now)
            now = next.nanoseconds / 1_000_000
        }
        trimming.hasTrimmed(4 * worth, leaving: 2 * worth, now: at(now))
        let afterSuccess = looks(&trimming, 3 * worth, at: now)
        #expect(waits == [60_000, 120_000, 240_000, 480_000, 600_000, 600_000, 600_000])
        #expect(afterSuccess == [.lookAgain(at(now + 30_000))])
    }

    /// SQLite may have more than is resident. Memory that comes back from swap is no growth.
    @Test func lessThanNothingIsNothing() {
        var trimming = HeapTrimming()
        let before = looks(&trimming, -2 * worth, 1)
        trimming.hasTrimmed(-2 * worth, leaving: -2 * worth, now: at(0))
        let after = looks(&trimming, worth, worth + 1)
        #expect(before == [.little, .little])
        #expect(after == [.little, .isWorthIt])
    }

    @Test func notOften() {
        var trimming = HeapTrimming()
        #expect(trimming.look(afterWorkUntil: at(5)) == at(1_005))
        trimming.hasTrimmed(2 * worth, leaving: 0, now: at(2_000))
        #expect(trimming.look(afterWorkUntil: at(2_001)) == at(32_000))
        #expect(trimming.look(afterWorkUntil: at(31_500)) == at(32_500))
    }
}
