import TestSupport
import Testing

@testable import Scheduling

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
        // While it was idle, by those who gave up.
        var waitedBefore: Int64 = 0
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

        func gaveUp() {
            guard waiting.isEmpty, let idleSince else { return }
            waitedBefore += clock - max(idleSince, contendedSince)
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
                #expect(queue.withdraw(client, now: ms(clock)) == (position != nil))
                if let position {
                    waiting.remove(at: position)
                    gaveUp()
                }
            case 9:
                let due = waiting.filter { $0.deadline <= clock }.map(\.client)
                #expect(queue.withdrawExpired(now: ms(clock)) == due)
                waiting.removeAll { $0.deadline <= clock }
                if !due.isEmpty { gaveUp() }
            default:
                guard case .transaction(let client) = current else { continue }
                if idleSince == nil {
                    idleSince = clock
                    waitedBefore = 0
                    queue.holderBecameIdle(client, now: ms(clock))
                } else {
                    idleSince = nil
                    queue.holderBecameActive(client)
                }
            }

            var eviction: Int64?
            if case .transaction = current, let idleSince, !waiting.isEmpty, idleLimit > 0 {
                eviction = max(idleSince, contendedSince) + idleLimit - waitedBefore
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
