import TestSupport
import Testing

@testable import Scheduling

@Suite struct BusyPollingTests {
    /// Waits that were slept through, in microseconds, and whether a thread asks for a while after each.
    @Test(arguments: [
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
            polling.slept(since: now, until: end)
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
            polling.slept(since: before, until: Instant(nanoseconds: request * 1_000_000))
        }
        #expect(asked == 0)
    }

    /// Short and long waits in turns are what it is worst at: each long one begins with asking for nothing, and no short one does.
    @Test func alternating() {
        var polling = BusyPolling()
        var now = Instant(nanoseconds: 0)
        var spent: Int64 = 0
        for wait in 0..<1_000 {
            let length: Int64 = wait % 2 == 0 ? 60_000 : 400_000
            if let end = polling.end(now: now) { spent += min(length, end.nanoseconds - now.nanoseconds) }
            let end = Instant(nanoseconds: now.nanoseconds + length)
            polling.slept(since: now, until: end)
            now = end
        }
        #expect(spent == 500 * BusyPolling.limitNanoseconds)
    }
}
