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
        #expect(queue.withdraw(client) == wasWaiting)
        #expect(queue.withdraw(client) == false)
        #expect(queue.waitingCount == waiting.count - (wasWaiting ? 1 : 0))
        #expect(queue.drained() == grants)
    }

    @Test func grantedClientCannotBeWithdrawn() {
        var queue = WriterQueue(waiting: "mmt")
        #expect(queue.release(now: ms(10)) == .group([1, 2]))
        for client in [1, 2] { #expect(queue.withdraw(client) == false) }
        #expect(queue.holder == .group)
    }

    // MARK: Deadlines

    /// Client 1 waits until 10, 2 until 30, 3 until 20, 4 for ever.
    @Test(arguments: [
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

    @Test func returnedMembersMayWithdrawAndExpire() {
        var queue = WriterQueue(waiting: "mmmm")
        _ = queue.release(now: ms(10))
        queue.returnToFront([(2, .distantFuture), (3, ms(20)), (4, .distantFuture)], now: ms(12))
        #expect(queue.withdraw(2) == true)
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
        #expect(queue.withdraw(1) == true)
        #expect(queue.place(of: 2)?.place == 1)
        #expect(queue.place(of: 3)?.place == 2)
        _ = queue.release(now: ms(9))
        #expect(queue.place(of: 2) == nil)
        #expect(queue.place(of: 3)?.place == 1)
    }
}

/// Client 0 holds the writer in a transaction; the limit is 5 ms.
@Suite struct WriterQueueEvictionTests {
    ///     holder                    others
    ///     idle since `idle`         first waiter comes at `waiter`
    @Test(arguments: [
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

    ///     holder 0        client 1                        client 2
    ///     idle at 10
    ///                     comes at 11, gives up at 12
    ///     alone
    ///                                                     comes at 30
    ///     evicted at 35
    @Test func aloneAgainMeansTheFullLimitAgain() {
        var queue = WriterQueue(groupLimit: 8, holderIdleLimitMilliseconds: 5)
        _ = queue.request(0, .transaction, now: ms(0))
        queue.holderBecameIdle(0, now: ms(10))
        _ = queue.request(1, .member, now: ms(11))
        #expect(queue.withdraw(1) == true)
        #expect(queue.holderToEvict(now: ms(20)) == nil)
        _ = queue.request(2, .member, now: ms(30))
        #expect(queue.nextDeadline == ms(35))
        #expect(queue.holderToEvict(now: ms(34)) == nil)
        #expect(queue.holderToEvict(now: ms(35)) == 0)
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

@Suite struct WriterQueueSimulations {
    /// Clients that ask again as soon as they were served: nobody is ever served twice more than another.
    @Test(arguments: 1...10, [1, 3, 64])
    func fairness(_ seed: Int, _ groupLimit: Int) {
        var random = SeededGenerator(state: UInt64(seed))
        let clients = Int.random(in: 2...50, using: &random)
        var queue = WriterQueue(groupLimit: groupLimit, holderIdleLimitMilliseconds: 0)
        var served = [Int](repeating: 0, count: clients)
        var requested: [ClientID] = []
        var grant: WriterQueue.Grant?

        func asks(_ client: ClientID, at now: Instant) {
            let purpose: WriterQueue.Purpose =
                random.chance(80) ? .member : random.chance(80) ? .transaction : .job
            requested.append(client)
            if let granted = queue.request(client, purpose, now: now) { grant = granted }
        }

        for client in 0..<clients { asks(client, at: ms(0)) }
        var order: [ClientID] = []
        for step in 1...5_000 {
            guard let current = grant else { Issue.record("nobody is served"); return }
            for client in current.clients { served[client] += 1 }
            order += current.clients
            #expect(served.max()! - served.min()! <= 1)
            // The next is chosen before or after those just served ask again: it makes no difference to them.
            if random.chance(50) {
                grant = queue.release(now: ms(Int64(step)))
                for client in current.clients { asks(client, at: ms(Int64(step))) }
            } else {
                for client in current.clients { asks(client, at: ms(Int64(step))) }
                grant = queue.release(now: ms(Int64(step)))
            }
        }
        #expect(order[...] == requested.prefix(order.count))
    }

    struct Waiter {
        var client: ClientID
        var purpose: WriterQueue.Purpose
        var deadline: Int64
    }

    /// Everything at once, against a model that is a plain array.
    @Test(arguments: 1...20)
    func everything(_ seed: Int) {
        var random = SeededGenerator(state: UInt64(seed))
        let groupLimit = Int.random(in: 1...6, using: &random)
        let idleLimit = Int64.random(in: 0...20, using: &random)
        var queue = WriterQueue(groupLimit: groupLimit, holderIdleLimitMilliseconds: idleLimit)
        var waiting: [Waiter] = []
        var current: WriterQueue.Grant?
        var returnable: [Waiter] = []
        var idleSince: Int64?
        var contendedSince: Int64 = 0
        var clock: Int64 = 0
        var nextClient = 0
        var evictions = 0

        /// What the model grants from its head.
        func next() -> WriterQueue.Grant? {
            guard let first = waiting.first else { return nil }
            let members = waiting.prefix { $0.purpose == .member }.prefix(groupLimit)
            defer { waiting.removeFirst(max(1, members.count)) }
            returnable = Array(members)
            return switch first.purpose {
            case .member: .group(members.map(\.client))
            case .transaction: .transaction(first.client)
            case .job: .job(first.client)
            }
        }
        func releases() {
            let expected = next()
            #expect(queue.release(now: ms(clock)) == expected)
            current = expected
            idleSince = nil
        }

        for _ in 0..<5_000 {
            clock += Int64.random(in: 0...4, using: &random)
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<5:
                let waiter = Waiter(
                    client: nextClient, purpose: [.member, .member, .transaction, .job].randomElement(using: &random)!,
                    deadline: clock + Int64.random(in: 1...60, using: &random))
                nextClient += 1
                if waiting.isEmpty && current != nil { contendedSince = clock }
                waiting.append(waiter)
                let expected = current == nil ? next() : nil
                #expect(queue.request(waiter.client, waiter.purpose, now: ms(clock), deadline: ms(waiter.deadline)) == expected)
                if let expected {
                    current = expected
                    idleSince = nil
                }
            case 5, 6:
                guard current != nil else { continue }
                releases()
            case 7:
                guard case .group(let members) = current, members.count > 1, returnable.count == members.count else { continue }
                let back = returnable.suffix(Int.random(in: 1..<members.count, using: &random))
                if waiting.isEmpty { contendedSince = clock }
                waiting.insert(contentsOf: back, at: 0)
                returnable = []
                queue.returnToFront(back.map { ($0.client, ms($0.deadline)) }, now: ms(clock))
            case 8:
                let client = Int.random(in: max(0, nextClient - 10)...nextClient, using: &random)
                let position = waiting.firstIndex { $0.client == client }
                #expect(queue.place(of: client)?.place == position.map { $0 + 1 })
                #expect(queue.withdraw(client) == (position != nil))
                if let position { waiting.remove(at: position) }
            case 9:
                let due = waiting.filter { $0.deadline <= clock }.map(\.client)
                #expect(queue.withdrawExpired(now: ms(clock)) == due)
                waiting.removeAll { $0.deadline <= clock }
            default:
                guard case .transaction(let client) = current else { continue }
                if idleSince == nil {
                    idleSince = clock
                    queue.holderBecameIdle(client, now: ms(clock))
                } else {
                    idleSince = nil
                    queue.holderBecameActive(client)
                }
            }

            var eviction: Int64?
            if case .transaction = current, let idleSince, !waiting.isEmpty, idleLimit > 0 {
                eviction = max(idleSince, contendedSince) + idleLimit
            }
            #expect(queue.waitingCount == waiting.count)
            #expect((queue.holder == .nobody) == (current == nil))
            #expect(queue.nextDeadline == (waiting.map(\.deadline) + [eviction].compactMap { $0 }).min().map(ms) ?? .distantFuture)
            let toEvict = queue.holderToEvict(now: ms(clock))
            if let eviction, eviction <= clock {
                #expect(toEvict == current?.clients.first)
                evictions += 1
                if random.chance(50) { releases() }
            } else {
                #expect(toEvict == nil)
            }
        }
        #expect(nextClient > 1000)
        #expect(evictions > 0 || idleLimit == 0)
    }

    /// A reload: the limits hold for the next group and for the holder there is.
    @Test func otherLimits() {
        var queue = WriterQueue(groupLimit: 8, holderIdleLimitMilliseconds: 0)
        #expect(queue.request(1, .transaction, now: ms(0)) != nil)
        queue.holderBecameIdle(1, now: ms(0))
        for client in 2...4 { #expect(queue.request(client, .member, now: ms(10)) == nil) }
        #expect(queue.nextDeadline == .distantFuture)
        queue.holderIdleLimitMilliseconds = 5
        #expect(queue.nextDeadline == ms(15) && queue.holderToEvict(now: ms(15)) == 1)
        queue.groupLimit = 2
        #expect(queue.release(now: ms(20)) == .group([2, 3]))
    }
}
