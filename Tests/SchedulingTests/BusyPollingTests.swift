import TestSupport
import Testing

@testable import Scheduling

@Suite struct BusyPollingTests {
    /// Waits that were slept through, in microseconds, and whether a thread asks for a while after each.
    @Test(
        arguments: [
            ([], false),
            ([20], true),
            ([120], true),
            ([121], false),
            ([1_000_000], false),
            ([20, 1_000_000], false),
            ([1_000_000, 20], true),
            ([20, 1_000_000, 60, 40], true),
        ] as [([Int64], Bool)])
    func lastWaitTells(_ waits: [Int64], _ asks: Bool) {
        var polling = BusyPolling()
        var now = Instant(nanoseconds: 1_000)
        for wait in waits {
            let end = Instant(nanoseconds: now.nanoseconds + wait * 1_000)
            polling.slept(since: now, until: end, askedInVain: false)
            now = end
        }
        let limit = Instant(nanoseconds: now.nanoseconds + BusyPolling.limitNanoseconds)
        #expect(polling.end(now: now) == (asks ? limit : nil))
    }

    /// A client that sends a request each millisecond costs no processor time between them.
    @Test func farApart() {
        var polling = BusyPolling()
        var asked = 0
        for request in Int64(1)...1_000 {
            let before = Instant(nanoseconds: (request - 1) * 1_000_000)
            if polling.end(now: before) != nil { asked += 1 }
            polling.slept(since: before, until: Instant(nanoseconds: request * 1_000_000), askedInVain: false)
        }
        #expect(asked == 0)
    }

    /// How often a thread asks in so many waits of these lengths, in microseconds, in turns: each is over while it asks, or has it sleep.
    private func asked(_ polling: inout BusyPolling, _ lengths: [Int64], waits: Int) -> Int {
        var now = Instant(nanoseconds: 0)
        var asked = 0
        for wait in 0..<waits {
            let end = Instant(nanoseconds: now.nanoseconds + lengths[wait % lengths.count] * 1_000)
            let asksUntil = polling.end(now: now)
            if asksUntil != nil { asked += 1 }
            if let asksUntil, end <= asksUntil {
                polling.found()
            } else {
                polling.slept(since: now, until: end, askedInVain: asksUntil != nil)
            }
            now = end
        }
        return asked
    }

    /// A client that computes for longer than a thread asks is waited for asleep, but for a try now and then.
    @Test(arguments: [[80], [60, 400], [120, 51]] as [[Int64]])
    func inVain(_ lengths: [Int64]) {
        var polling = BusyPolling()
        let tries = asked(&polling, lengths, waits: 10_000)
        #expect(tries <= 10_000 / Backoff.most + 7)
        #expect(tries > 100)
    }

    @Test func neverInVain() {
        var polling = BusyPolling()
        #expect(asked(&polling, [30], waits: 1_000) == 999)
    }

    /// Nothing of what was in vain before is left.
    @Test func inVainNoMore() {
        var polling = BusyPolling()
        _ = asked(&polling, [80], waits: 1_000)
        #expect(asked(&polling, [30], waits: 1_000) >= 1_000 - Backoff.most - 1)
        #expect(asked(&polling, [30, 30, 30, 80], waits: 1_000) > 500)
    }
}
