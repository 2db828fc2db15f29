import Testing

@testable import Scheduling

/// Client 0 holds the writer in a transaction; the limit is 5 ms.
@Suite struct WriterQueueEvictionTests {
    ///     holder                    others
    ///     idle since `idle`         first waiter comes at `waiter`
    @Test(
        arguments: [
            (10, 2, 15),  // waited for already when it became idle
            (10, 10, 15),
            (10, 12, 17),  // alone at first: the full limit from when it is no longer alone
            (10, 900, 905),
            (10, nil, nil),  // alone
            (nil, 2, nil),  // busy
            (nil, nil, nil),
        ] as [(Int64?, Int64?, Int64?)])
    func limitRunsFromTheLaterOfIdleAndFirstWaiter(_ idle: Int64?, _ waiter: Int64?, _ due: Int64?) {
        var queue = WriterQueue(groupLimit: 8, holderIdleLimitMilliseconds: 5)
        _ = queue.request(0, .transaction, now: ms(0))
        if let waiter, waiter < 10 { _ = queue.request(1, .member, now: ms(waiter)) }
        if let idle { queue.holderBecameIdle(0, now: ms(idle)) }
        if let waiter, waiter >= 10 { _ = queue.request(1, .member, now: ms(waiter)) }

        #expect(queue.nextDeadline == due.map(ms) ?? .distantFuture)
        guard let due else {
            #expect(queue.holderToEvict(now: ms(1_000_000)) == nil)
            return
        }
        #expect(queue.holderToEvict(now: Instant(nanoseconds: due * 1_000_000 - 1)) == nil)
        #expect(queue.holderToEvict(now: ms(due)) == 0)
        #expect(queue.holderToEvict(now: ms(due + 1000)) == 0)
    }

    @Test func nextMessageInTimeCancelsIt() {
        var queue = WriterQueue(waiting: "m", idleLimit: 5)
        queue.holderBecameIdle(0, now: ms(10))
        queue.holderBecameActive(0)
        #expect(queue.holderToEvict(now: ms(100)) == nil)
        #expect(queue.nextDeadline == .distantFuture)
        // The limit begins anew with each pause.
        queue.holderBecameIdle(0, now: ms(100))
        #expect(queue.holderToEvict(now: ms(104)) == nil)
        #expect(queue.holderToEvict(now: ms(105)) == 0)
    }

    @Test func onlyTheHolderIsHeard() {
        var queue = WriterQueue(waiting: "m", idleLimit: 5)
        queue.holderBecameIdle(1, now: ms(10))
        #expect(queue.holder == .transaction(0, since: ms(0), idleSince: nil))
        queue.holderBecameIdle(0, now: ms(10))
        queue.holderBecameActive(1)
        #expect(queue.holder == .transaction(0, since: ms(0), idleSince: ms(10)))
    }

    @Test(arguments: [0, -1] as [Int64])
    func noLimit(_ limit: Int64) {
        var queue = WriterQueue(waiting: "mm", idleLimit: limit)
        queue.holderBecameIdle(0, now: ms(10))
        #expect(queue.holderToEvict(now: .distantFuture) == nil)
        #expect(queue.nextDeadline == .distantFuture)
    }

    @Test func hugeLimitDoesNotTrap() {
        var queue = WriterQueue(waiting: "m", idleLimit: .max)
        queue.holderBecameIdle(0, now: ms(10))
        #expect(queue.holderToEvict(now: ms(1_000_000)) == nil)
        #expect(queue.nextDeadline == .distantFuture)
    }

    @Test(arguments: [WriterQueue.Purpose.member, .job])
    func groupsAndJobsAreNobodysToEvict(_ purpose: WriterQueue.Purpose) {
        var queue = WriterQueue(groupLimit: 8, holderIdleLimitMilliseconds: 5)
        _ = queue.request(0, purpose, now: ms(0))
        _ = queue.request(1, .member, now: ms(0))
        queue.holderBecameIdle(0, now: ms(1))
        #expect(queue.holderToEvict(now: ms(1_000_000)) == nil)
        #expect(queue.nextDeadline == .distantFuture)
    }

    ///     holder 0        client 1          client 2
    ///     idle at 10
    ///                     comes at 11
    ///                                       comes at 14
    ///                     gives up at 15
    ///     evicted at 16: it has been waited for since 11
    ///
    /// Otherwise clients whose patience is shorter than the limit, coming one after the other, would never see it act.
    @Test func waiterWhoGivesUpDoesNotProlongIt() {
        var queue = WriterQueue(groupLimit: 8, holderIdleLimitMilliseconds: 5)
        _ = queue.request(0, .transaction, now: ms(0))
        queue.holderBecameIdle(0, now: ms(10))
        _ = queue.request(1, .member, now: ms(11), deadline: ms(15))
        _ = queue.request(2, .member, now: ms(14))
        #expect(queue.withdrawExpired(now: ms(15)) == [1])
        #expect(queue.nextDeadline == ms(16))
        #expect(queue.holderToEvict(now: ms(15)) == nil)
        #expect(queue.holderToEvict(now: ms(16)) == 0)
    }

    ///     holder 0        others, one after the other           the last of them
    ///     idle at 10
    ///                     come, and give up
    ///     alone
    ///                                                           comes at 90
    ///     evicted at `due`: it has been waited for so long, all in all
    @Test(
        arguments: [
            ([11...12], 94),
            ([11...13, 20...22], 91),
            ([11...12, 20...21, 30...31, 40...41], 91),
            ([8...12], 93),  // Until 10 it was not idle.
            ([2...4], 95),
            ([11...14, 20...22], 90),
            ([11...14, 20...24], 88),  // The others gave up just when it was due.
            (Array(repeating: 20...20, count: 20), 95),
        ] as [([ClosedRange<Int64>], Int64)])
    func thoseWhoGaveUpCount(_ waits: [ClosedRange<Int64>], _ due: Int64) {
        for isExpired in [false, true] {
            var queue = WriterQueue(groupLimit: 8, holderIdleLimitMilliseconds: 5)
            _ = queue.request(0, .transaction, now: ms(0))
            var isIdle = false
            for (number, wait) in waits.enumerated() {
                if !isIdle, wait.lowerBound > 10 { queue.holderBecameIdle(0, now: ms(10)) }
                _ = queue.request(1 + number, .member, now: ms(wait.lowerBound), deadline: isExpired ? ms(wait.upperBound) : .distantFuture)
                isIdle = wait.upperBound > 10
                if wait.lowerBound <= 10, isIdle { queue.holderBecameIdle(0, now: ms(10)) }
                if isExpired {
                    #expect(queue.withdrawExpired(now: ms(wait.upperBound)) == [1 + number])
                } else {
                    #expect(queue.withdraw(1 + number, now: ms(wait.upperBound)) == true)
                }
                #expect(queue.nextDeadline == .distantFuture)
            }
            if !isIdle { queue.holderBecameIdle(0, now: ms(10)) }
            _ = queue.request(99, .member, now: ms(90))
            #expect(queue.nextDeadline == ms(due))
            #expect(queue.holderToEvict(now: ms(due - 1)) == nil)
            #expect(queue.holderToEvict(now: ms(max(due, 90))) == 0)
        }
    }

    /// However many they are, nothing is forgotten.
    @Test func manyWhoGaveUp() {
        var queue = WriterQueue(groupLimit: 8, holderIdleLimitMilliseconds: 100)
        _ = queue.request(0, .transaction, now: ms(0))
        queue.holderBecameIdle(0, now: ms(10))
        for wait in 0..<50 {
            _ = queue.request(1, .member, now: ms(20 + Int64(wait) * 10), deadline: ms(21 + Int64(wait) * 10))
            #expect(queue.withdrawExpired(now: ms(21 + Int64(wait) * 10)) == [1])
        }
        _ = queue.request(2, .member, now: ms(1_000))
        #expect(queue.nextDeadline == ms(1_050))
    }

    /// A pause that is undone was waited for as long as it lasted.
    @Test func aPauseThatWasUndone() {
        var queue = WriterQueue(groupLimit: 8, holderIdleLimitMilliseconds: 5)
        _ = queue.request(0, .transaction, now: ms(0))
        queue.holderBecameIdle(0, now: ms(10))
        queue.pause(now: ms(20))
        #expect(queue.resume(now: ms(23)) == nil)
        _ = queue.request(1, .member, now: ms(30))
        #expect(queue.nextDeadline == ms(32))
    }

    /// With its next message it is not idle any more, and what was waited until then is forgotten.
    @Test func eachIdlenessBeginsAnew() {
        var queue = WriterQueue(groupLimit: 8, holderIdleLimitMilliseconds: 5)
        _ = queue.request(0, .transaction, now: ms(0))
        queue.holderBecameIdle(0, now: ms(10))
        _ = queue.request(1, .member, now: ms(11))
        #expect(queue.withdraw(1, now: ms(15)) == true)
        queue.holderBecameActive(0)
        queue.holderBecameIdle(0, now: ms(20))
        _ = queue.request(2, .member, now: ms(30))
        #expect(queue.nextDeadline == ms(35))
    }

    /// The next transaction has its own pause and its own limit, though others have waited all along.
    @Test func nextHolderBeginsAnew() {
        var queue = WriterQueue(waiting: "tm", idleLimit: 5)
        queue.holderBecameIdle(0, now: ms(10))
        #expect(queue.holderToEvict(now: ms(15)) == 0)
        #expect(queue.release(now: ms(15)) == .transaction(1))
        #expect(queue.holderToEvict(now: ms(100)) == nil)
        queue.holderBecameIdle(1, now: ms(100))
        #expect(queue.holderToEvict(now: ms(104)) == nil)
        #expect(queue.holderToEvict(now: ms(105)) == 1)
    }

    /// Whichever is first: a waiter's patience (to 12) or the holder's eviction (at 15).
    @Test func nextDeadlineIsTheFirstOfAll() {
        var queue = WriterQueue(waiting: "mm", idleLimit: 5, deadlines: [1: 12, 2: 40])
        #expect(queue.nextDeadline == ms(12))
        queue.holderBecameIdle(0, now: ms(10))
        #expect(queue.nextDeadline == ms(12))
        #expect(queue.withdrawExpired(now: ms(12)) == [1])
        #expect(queue.nextDeadline == ms(15))
        queue.holderBecameActive(0)
        #expect(queue.nextDeadline == ms(40))
    }
}
