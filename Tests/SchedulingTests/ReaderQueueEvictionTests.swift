import Testing

@testable import Scheduling

/// Clients 0 and 1 have both readers; the limit is 5 ms.
@Suite struct ReaderQueueEvictionTests {
    private func contended(at now: Int64, limit: Int64 = 5) -> ReaderQueue {
        var queue = ReaderQueue(limit: 2, userIdleLimitMilliseconds: limit)
        for client in 0...1 { _ = queue.request(client, now: ms(0)) }
        _ = queue.request(9, now: ms(now))
        return queue
    }

    private func idle(_ client: ClientID, since: Int64, snapshot: Int64 = 0) -> IdleReader {
        IdleReader(client: client, since: ms(since), snapshotBegan: ms(snapshot))
    }

    ///     user                     others
    ///     idle since `idle`        the first waiter comes at `waiter`
    @Test(
        arguments: [
            (10, 2, 15),  // waited for already when it became idle
            (10, 10, 15),
            (10, 12, 17),  // nobody waited at first: the full limit from when somebody does
            (10, 900, 905),
        ] as [(Int64, Int64, Int64)])
    func limitRunsFromTheLaterOfIdleAndFirstWaiter(_ since: Int64, _ waiter: Int64, _ due: Int64) {
        let queue = contended(at: waiter)
        let users = [idle(1, since: since)]
        #expect(queue.userToEvict(among: users, now: ms(due - 1)) == nil)
        #expect(queue.nextLook(among: users, now: ms(due - 1)) == ms(due))
        #expect(queue.userToEvict(among: users, now: ms(due)) == 1)
        #expect(queue.userToEvict(among: users, now: ms(due + 1000)) == 1)
        #expect(queue.userToEvict(among: [], now: ms(due + 1000)) == nil)
    }

    /// Among those who are due the one whose snapshot is the oldest, then the next, for as long as somebody waits.
    @Test func oneAfterTheOther() {
        var queue = contended(at: 10)
        _ = queue.request(8, now: ms(11))
        let users = [idle(0, since: 3, snapshot: 2), idle(1, since: 4, snapshot: 1)]
        #expect(queue.userToEvict(among: users, now: ms(15)) == 1)
        let first = queue.release(1)
        #expect(first == 9 && queue.userToEvict(among: [users[0]], now: ms(15)) == 0)
        let second = queue.release(0)
        #expect(second == 8 && queue.userToEvict(among: users, now: ms(1000)) == nil)
        #expect(queue.nextLook(among: users, now: ms(1000)) == .distantFuture)
    }

    /// One that is due later is not taken for its older snapshot.
    @Test func onlyThoseWhoAreDue() {
        let queue = contended(at: 10)
        let users = [idle(0, since: 14, snapshot: 1), idle(1, since: 9, snapshot: 8)]
        #expect(queue.userToEvict(among: users, now: ms(15)) == 1)
        #expect(queue.nextLook(among: users, now: ms(15)) == ms(19))
    }

    /// Who becomes idle after a look is due no earlier than a limit from then, so nobody has to announce it.
    @Test func somebodyLooksAgain() {
        let queue = contended(at: 10)
        #expect(queue.nextLook(among: [], now: ms(10)) == ms(15))
        #expect(queue.nextLook(among: [], now: ms(15)) == ms(20))
        let users = [idle(1, since: 16)]
        #expect(queue.userToEvict(among: users, now: ms(20)) == nil)
        #expect(queue.nextLook(among: users, now: ms(20)) == ms(21))
        #expect(queue.userToEvict(among: users, now: ms(21)) == 1)
    }

    /// A wait without a break counts from its beginning, whoever gives up meanwhile.
    @Test func contentionOutlivesTheFirstWaiter() {
        var queue = contended(at: 10)
        _ = queue.request(8, now: ms(13))
        let isWithdrawn = queue.withdraw(9, now: ms(14))
        #expect(isWithdrawn && queue.userToEvict(among: [idle(1, since: 0)], now: ms(15)) == 1)
        // Nobody waits any more, and then somebody new.
        _ = queue.withdraw(8, now: ms(14))
        _ = queue.request(7, now: ms(20))
        #expect(queue.userToEvict(among: [idle(1, since: 12)], now: ms(22)) == nil)
        #expect(queue.userToEvict(among: [idle(1, since: 12)], now: ms(23)) == 1)
    }

    /// The others wait one after the other, and give up; each user has its own idleness to answer for.
    @Test(
        arguments: [
            (0, [10...11], 94),
            (0, [10...13, 20...21], 91),
            (12, [10...13, 20...21], 93),
            (19, [10...13, 20...21], 94),
            (21, [10...13, 20...21], 95),
            (0, [10...13, 20...23], 89),
        ] as [(Int64, [ClosedRange<Int64>], Int64)])
    func thoseWhoGaveUpCount(_ since: Int64, _ waits: [ClosedRange<Int64>], _ due: Int64) {
        for isExpired in [false, true] {
            var queue = ReaderQueue(limit: 2, userIdleLimitMilliseconds: 5)
            for client in 0...1 { _ = queue.request(client, now: ms(0)) }
            for wait in waits {
                _ = queue.request(9, now: ms(wait.lowerBound), deadline: isExpired ? ms(wait.upperBound) : .distantFuture)
                let left = isExpired ? queue.withdrawExpired(now: ms(wait.upperBound)) == [9] : queue.withdraw(9, now: ms(wait.upperBound))
                #expect(left)
            }
            _ = queue.request(8, now: ms(90))
            let users = [idle(1, since: since)]
            #expect(queue.userToEvict(among: users, now: ms(due - 1)) == nil)
            #expect(queue.userToEvict(among: users, now: ms(max(due, 90))) == 1)
            if due > 90 { #expect(queue.nextLook(among: users, now: ms(90)) == ms(due)) }
        }
    }

    /// Who waited for the end of a pause, or for the gate, did not wait for a user that is idle.
    @Test func heldBackUntilTheyGaveUp() {
        var queue = contended(at: 10)
        queue.closeGate()
        let isWithdrawn = queue.withdraw(9, now: ms(14))
        _ = queue.openGate()
        _ = queue.request(8, now: ms(20))
        #expect(isWithdrawn && queue.nextLook(among: [idle(1, since: 0)], now: ms(20)) == ms(25))
    }

    @Test(arguments: [0, -1] as [Int64])
    func noLimit(_ limit: Int64) {
        let queue = contended(at: 10, limit: limit)
        #expect(queue.userToEvict(among: [idle(1, since: 0)], now: .distantFuture) == nil)
        #expect(queue.nextLook(among: [idle(1, since: 0)], now: ms(10)) == .distantFuture)
    }

    /// What waits for the gate, or for the end of a pause, does not wait for an idle user. There is a look all the same: when
    /// either is over, nobody else would ask for one.
    @Test func heldBack() {
        var closed = contended(at: 10)
        closed.closeGate()
        #expect(closed.userToEvict(among: [idle(1, since: 0)], now: ms(100)) == nil)
        #expect(closed.nextLook(among: [idle(1, since: 0)], now: ms(100)) == ms(105))
        _ = closed.openGate()
        #expect(closed.userToEvict(among: [idle(1, since: 0)], now: ms(100)) == 1)

        var paused = contended(at: 10)
        paused.pause()
        #expect(paused.userToEvict(among: [idle(1, since: 0)], now: ms(100)) == nil)
        // Who comes then, and passes, begins to wait for it.
        _ = paused.request(7, now: ms(100), passesPause: true)
        _ = paused.request(6, now: ms(102), passesPause: true)
        #expect(paused.userToEvict(among: [idle(1, since: 0)], now: ms(104)) == nil)
        #expect(paused.userToEvict(among: [idle(1, since: 0)], now: ms(105)) == 1)
    }
}
