import Testing

@testable import Scheduling

@Suite struct WriterQueueTests {
    @Test(arguments: [
        (WriterQueue.Purpose.member, WriterQueue.Grant.group([7]), WriterQueue.Holder.group),
        (.transaction, .transaction(7), .transaction(7, since: ms(3), idleSince: nil)),
        (.job, .job(7), .job(7)),
    ])
    func loneRequestIsGrantedAtOnce(
        _ purpose: WriterQueue.Purpose, _ grant: WriterQueue.Grant, _ holder: WriterQueue.Holder
    ) {
        var queue = WriterQueue(groupLimit: 8, holderIdleLimitMilliseconds: 0)
        #expect(queue.holder == .nobody)
        #expect(queue.request(7, purpose, now: ms(3)) == grant)
        #expect(queue.holder == holder)
        #expect(queue.waitingCount == 0)
        #expect(queue.release(now: ms(4)) == nil)
        #expect(queue.holder == .nobody)
        #expect(queue.request(8, purpose, now: ms(5)) != nil)
    }

    @Test(arguments: [WriterQueue.Purpose.member, .transaction, .job], [WriterQueue.Purpose.member, .transaction, .job])
    func everybodyElseWaits(_ first: WriterQueue.Purpose, _ second: WriterQueue.Purpose) {
        var queue = WriterQueue(groupLimit: 8, holderIdleLimitMilliseconds: 0)
        #expect(queue.request(1, first, now: ms(0)) != nil)
        #expect(queue.request(2, second, now: ms(0)) == nil)
        #expect(queue.waitingCount == 1)
        #expect(queue.release(now: ms(1))?.clients == [2])
    }

    /// What is granted, release by release, to a queue: members at the head up to the limit; a transaction or a job
    /// is alone; nothing jumps over anything.
    @Test(arguments: [
        ("", 8, ""),
        ("m", 8, "1"),
        ("mmm", 8, "1+2+3"),
        ("mmm", 3, "1+2+3"),
        ("mmmm", 3, "1+2+3 4"),
        ("mmmmm", 2, "1+2 3+4 5"),
        ("mmm", 1, "1 2 3"),
        ("t", 8, "t1"),
        ("tt", 8, "t1 t2"),
        ("j", 8, "j1"),
        ("jj", 8, "j1 j2"),
        ("mmtmm", 8, "1+2 t3 4+5"),
        ("mmjmm", 8, "1+2 j3 4+5"),
        ("tmmj", 8, "t1 2+3 j4"),
        ("mtmtm", 8, "1 t2 3 t4 5"),
        ("tjtj", 8, "t1 j2 t3 j4"),
        ("mmmmt", 2, "1+2 3+4 t5"),
        ("mmmtm", 2, "1+2 3 t4 5"),
    ])
    func groups(_ waiting: String, _ limit: Int, _ grants: String) {
        var queue = WriterQueue(waiting: waiting, groupLimit: limit)
        #expect(queue.waitingCount == waiting.count)
        #expect(queue.drained() == grants)
        #expect(queue.holder == .nobody && queue.waitingCount == 0)
    }

    /// Whoever comes while a group runs is not in it.
    @Test func nextGroupGathersWhileOneRuns() {
        var queue = WriterQueue(waiting: "mm")
        #expect(queue.release(now: ms(10)) == .group([1, 2]))
        #expect(queue.holder == .group)
        for client in 3...5 { #expect(queue.request(client, .member, now: ms(11)) == nil) }
        #expect(queue.release(now: ms(12)) == .group([3, 4, 5]))
    }

    // MARK: Withdrawing

    @Test(arguments: [
        ("mmmm", 1, true, "2+3+4"),
        ("mmmm", 2, true, "1+3+4"),
        ("mmmm", 4, true, "1+2+3"),
        ("mtm", 2, true, "1+3"),  // the wall between two groups is gone
        ("tjt", 1, true, "j2 t3"),
        ("mmt", 3, true, "1+2"),
        ("m", 1, true, ""),
        ("mm", 0, false, "1+2"),  // the holder does not wait
        ("mm", 99, false, "1+2"),
        ("", 1, false, ""),
    ])
    func withdraw(_ waiting: String, _ client: ClientID, _ wasWaiting: Bool, _ grants: String) {
        var queue = WriterQueue(waiting: waiting)
        #expect(queue.withdraw(client, now: ms(100)) == wasWaiting)
        #expect(queue.withdraw(client, now: ms(100)) == false)
        #expect(queue.waitingCount == waiting.count - (wasWaiting ? 1 : 0))
        #expect(queue.drained() == grants)
    }

    @Test func grantedClientCannotBeWithdrawn() {
        var queue = WriterQueue(waiting: "mmt")
        #expect(queue.release(now: ms(10)) == .group([1, 2]))
        for client in [1, 2] { #expect(queue.withdraw(client, now: ms(100)) == false) }
        #expect(queue.holder == .group)
    }

    // MARK: Deadlines

    /// Client 1 waits until 10, 2 until 30, 3 until 20, 4 for ever.
    @Test(
        arguments: [
            (9, [], 10, "1 t2 3 j4"),
            (10, [1], 20, "t2 3 j4"),
            (19, [1], 20, "t2 3 j4"),
            (20, [1, 3], 30, "t2 j4"),
            (29, [1, 3], 30, "t2 j4"),
            (30, [1, 2, 3], nil, "j4"),
            (1_000_000, [1, 2, 3], nil, "j4"),
        ] as [(Int64, [ClientID], Int64?, String)])
    func expiry(_ now: Int64, _ expired: [ClientID], _ next: Int64?, _ grants: String) {
        var queue = WriterQueue(waiting: "mtmj", deadlines: [1: 10, 2: 30, 3: 20])
        #expect(queue.nextDeadline == ms(10))
        #expect(queue.withdrawExpired(now: ms(now)) == expired)
        #expect(queue.withdrawExpired(now: ms(now)) == [])
        #expect(queue.nextDeadline == next.map(ms) ?? .distantFuture)
        #expect(queue.drained() == grants)
    }

    @Test func expiryIsExactToTheNanosecond() {
        var queue = WriterQueue(groupLimit: 8, holderIdleLimitMilliseconds: 0)
        _ = queue.request(0, .job, now: ms(0))
        _ = queue.request(1, .member, now: ms(0), deadline: ms(10))
        #expect(queue.withdrawExpired(now: Instant(nanoseconds: 9_999_999)) == [])
        #expect(queue.withdrawExpired(now: Instant(nanoseconds: 10_000_000)) == [1])
    }

    /// A deadline ends a wait; it does not touch who has been granted the writer.
    @Test func holderHasNoDeadline() {
        var queue = WriterQueue(groupLimit: 8, holderIdleLimitMilliseconds: 0)
        _ = queue.request(1, .transaction, now: ms(0), deadline: ms(10))
        #expect(queue.nextDeadline == .distantFuture)
        #expect(queue.withdrawExpired(now: ms(20)) == [])
        #expect(queue.holder == .transaction(1, since: ms(0), idleSince: nil))
    }

    // MARK: Members a group had no time for

    ///     group 1+2+3+4 runs        5 waits
    ///     3 and 4 go back           3, 4, 5 wait
    ///     release                   3+4+5 run
    @Test func returnedMembersKeepOrderAndPriority() {
        var queue = WriterQueue(waiting: "mmmm")
        #expect(queue.release(now: ms(10)) == .group([1, 2, 3, 4]))
        #expect(queue.request(5, .member, now: ms(11)) == nil)
        queue.returnToFront([(3, ms(40)), (4, .distantFuture)], now: ms(12))
        #expect(queue.holder == .group)
        #expect(queue.waitingCount == 3)
        #expect([3, 4, 5].map { queue.place(of: $0)?.place } == [1, 2, 3])
        #expect(queue.nextDeadline == ms(40))
        #expect(queue.drained() == "3+4+5")
    }

    @Test func returnedMembersStandBeforeATransaction() {
        var queue = WriterQueue(waiting: "mmtm")
        #expect(queue.release(now: ms(10)) == .group([1, 2]))
        queue.returnToFront([(2, .distantFuture)], now: ms(12))
        #expect(queue.drained() == "2 t3 4")
    }

    ///     group 1+2+3 runs, the disk fails      j9 waits, before t4
    ///     2 and 3 go back                       j9, 2, 3, t4 wait: recovery comes before whatever is written next
    @Test func returnedMembersStandBehindAJobThatComesFirst() {
        var queue = WriterQueue(waiting: "mmmt")
        #expect(queue.release(now: ms(10)) == .group([1, 2, 3]))
        #expect(queue.requestFirst(9, now: ms(11)) == nil)
        queue.returnToFront([(2, .distantFuture), (3, .distantFuture)], now: ms(12))
        #expect(queue.drained() == "j9 2+3 t4")
    }

    ///     group 1+2 runs        j3 waits, as any job
    ///     2 goes back           2, j3 wait
    @Test func returnedMembersStandBeforeAJobInItsTurn() {
        var queue = WriterQueue(waiting: "mmj")
        #expect(queue.release(now: ms(10)) == .group([1, 2]))
        queue.returnToFront([(2, .distantFuture)], now: ms(12))
        #expect(queue.drained() == "2 j3")
    }

    @Test func returnedMembersMayWithdrawAndExpire() {
        var queue = WriterQueue(waiting: "mmmm")
        _ = queue.release(now: ms(10))
        queue.returnToFront([(2, .distantFuture), (3, ms(20)), (4, .distantFuture)], now: ms(12))
        #expect(queue.withdraw(2, now: ms(100)) == true)
        #expect(queue.withdrawExpired(now: ms(20)) == [3])
        #expect(queue.drained() == "4")
        queue.returnToFront([], now: ms(21))
        #expect(queue.waitingCount == 0)
    }

    // MARK: Place

    @Test func places() throws {
        var queue = WriterQueue(waiting: "mtj")
        for client in 1...3 {
            let found = try #require(queue.place(of: client))
            #expect(found.place == client && found.since == ms(Int64(client)))
        }
        #expect(queue.place(of: 0) == nil)
        #expect(queue.place(of: 4) == nil)
        #expect(queue.withdraw(1, now: ms(100)) == true)
        #expect(queue.place(of: 2)?.place == 1)
        #expect(queue.place(of: 3)?.place == 2)
        _ = queue.release(now: ms(9))
        #expect(queue.place(of: 2) == nil)
        #expect(queue.place(of: 3)?.place == 1)
    }
}
