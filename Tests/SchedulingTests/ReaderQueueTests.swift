import TestSupport
import Testing

@testable import Scheduling

@Suite struct ReaderQueueGateTests {
    /// Closed, it hands nothing out, takes back what is out, and keeps the order of those who come.
    @Test func closedAndOpened() {
        var queue = ReaderQueue(limit: 2)
        let early = [1, 2].map { queue.request($0, now: ms(0)) }
        #expect(early == [0, 1])
        _ = queue.release(1)
        queue.closeGate()
        #expect(queue.inUseCount == 1 && queue.indexesInUse == [0])
        // One is idle, and stays so.
        let late = [3, 4, 5].map { queue.request($0, now: ms(1)) }
        #expect(late == [nil, nil, nil])
        // The one that comes back goes to nobody.
        let next = queue.release(0)
        #expect(next == nil && queue.inUseCount == 0 && queue.waitingCount == 3)
        let isWithdrawn = queue.withdraw(3, now: ms(100))
        #expect(isWithdrawn)
        let granted = queue.openGate()
        #expect(granted.map(\.client) == [4, 5])
        #expect(Set(granted.map(\.index)) == [0, 1])
        #expect(queue.inUseCount == 2 && queue.waitingCount == 0 && !queue.isGateClosed)
        let last = queue.request(6, now: ms(4))
        let following = queue.release(0)
        #expect(last == nil && following == 6)
    }

    /// Connections that were never used are handed out at the opening as well.
    @Test func openingHandsOutUnusedOnes() {
        var queue = ReaderQueue(limit: 3)
        queue.closeGate()
        let requests = (1...4).map { queue.request($0, now: ms(0)) }
        let granted = queue.openGate()
        #expect(requests == [nil, nil, nil, nil] && granted.map(\.client) == [1, 2, 3])
        #expect(queue.waitingCount == 1)
    }
}

@Suite struct ReaderQueueTests {
    /// Takes and gives back: a number is a connection given back, "?" is a request. Answers: the connection, "w" for
    /// "wait", "c7" for "client 7 gets it now", "." for "nobody wants it".
    @Test(arguments: [
        (3, "? ? ? ?", "0 1 2 w"),
        // Lazy: a new connection only when none is idle.
        (3, "? 0 ? 0 ?", "0 . 0 . 0"),
        // Last in, first out.
        (3, "? ? ? 0 2 1 ? ? ?", "0 1 2 . . . 1 2 0"),
        (3, "? ? 0 ? 0 1 ?", "0 1 . 0 . . 1"),
        // First come, first served; requests are numbered from 1.
        (1, "? ? ? ? 0 0 0 0", "0 w w w c2 c3 c4 ."),
        (2, "? ? ? ? 1 0 1 0 ?", "0 1 w w c3 c4 . . 0"),
        (1, "? 0 ? ? 0 ? 0 0", "0 . 0 w c3 w c4 ."),
    ])
    func script(_ limit: Int, _ steps: String, _ answers: String) {
        var queue = ReaderQueue(limit: limit)
        var client = 0
        let given = steps.split(separator: " ").map { step in
            if let index = Int(step) { return queue.release(index).map { "c\($0)" } ?? "." }
            client += 1
            return queue.request(client, now: ms(0)).map(String.init) ?? "w"
        }
        #expect(given.joined(separator: " ") == answers)
    }

    @Test func counts() {
        var queue = ReaderQueue(limit: 2)
        #expect(queue.usedCount == 0 && queue.idleIndexes.count == 0 && queue.waitingCount == 0)
        #expect(queue.take() == 0)
        #expect(queue.take() == 1)
        #expect(queue.take() == nil)
        #expect(queue.waitingCount == 0)
        queue.enqueue(9, deadline: .distantFuture)
        #expect(queue.waitingCount == 1)
        #expect(queue.release(1) == 9)
        #expect(queue.release(0) == nil)
        #expect(queue.usedCount == 2 && queue.idleIndexes.count == 1 && queue.waitingCount == 0)
    }

    /// Four wait, one withdraws, and the others are served in order.
    @Test(arguments: [
        (1, true, [2, 3, 4]), (2, true, [1, 3, 4]), (4, true, [1, 2, 3]), (0, false, [1, 2, 3, 4]), (99, false, [1, 2, 3, 4]),
    ])
    func withdraw(_ client: ClientID, _ wasWaiting: Bool, _ served: [ClientID]) {
        var queue = ReaderQueue(limit: 1)
        for client in 0...4 { _ = queue.request(client, now: ms(0)) }
        #expect(queue.withdraw(client, now: ms(100)) == wasWaiting)
        #expect(queue.withdraw(client, now: ms(100)) == false)
        var order: [ClientID] = []
        while let next = queue.release(0) { order.append(next) }
        #expect(order == served)
        #expect(queue.idleIndexes.count == 1)
    }

    /// Deadlines 10, 30, 20, never.
    @Test(
        arguments: [
            (9, [], 10), (10, [1], 20), (19, [1], 20), (20, [1, 3], 30), (30, [1, 2, 3], nil), (9_999_999, [1, 2, 3], nil),
        ] as [(Int64, [ClientID], Int64?)])
    func expiry(_ now: Int64, _ expired: [ClientID], _ next: Int64?) {
        var queue = ReaderQueue(limit: 1)
        _ = queue.request(0, now: ms(0))
        for (client, deadline) in [(1, ms(10)), (2, ms(30)), (3, ms(20)), (4, .distantFuture)] {
            #expect(queue.request(client, now: ms(0), deadline: deadline) == nil)
        }
        #expect(queue.nextDeadline == ms(10))
        #expect(queue.withdrawExpired(now: ms(now)) == expired)
        #expect(queue.withdrawExpired(now: ms(now)) == [])
        #expect(queue.nextDeadline == next.map(ms) ?? .distantFuture)
        #expect(queue.waitingCount == 4 - expired.count)
    }

    /// Upkeep takes all idle connections and gives them back in the same order: the warmest is on top again.
    @Test func takeIdleKeepsTheWarmestOnTop() {
        var queue = ReaderQueue(limit: 4)
        for client in 0..<4 { _ = queue.request(client, now: ms(0)) }
        for index in [2, 0, 3] { #expect(queue.release(index) == nil) }
        #expect(queue.takeIdle() == [2, 0, 3])
        #expect(queue.idleIndexes.count == 0)
        #expect(queue.takeIdle() == [])
        for index in [2, 0, 3] { #expect(queue.release(index) == nil) }
        let taken = (0..<4).map { _ in queue.take() }
        #expect(taken == [3, 0, 2, nil])
    }

    ///     upkeep                    clients
    ///     takeIdle -> 0, 1
    ///                               5 asks: nothing idle, nothing unused: waits
    ///     gives back 0 -> to 5
    ///     gives back 1 -> idle
    @Test func clientThatComesDuringUpkeep() {
        var queue = ReaderQueue(limit: 2)
        _ = queue.take()
        _ = queue.take()
        for index in [0, 1] { _ = queue.release(index) }
        #expect(queue.takeIdle() == [0, 1])
        #expect(queue.request(5, now: ms(0)) == nil)
        #expect(queue.release(0) == 5)
        #expect(queue.release(1) == nil)
    }

    /// Against a model: no connection is with two clients at once, nobody waits beside a free one, and waiters are
    /// served in order of request.
    @Test(arguments: 1...20)
    func simulation(_ seed: Int) {
        var random = SeededGenerator(state: UInt64(seed))
        let limit = Int.random(in: 1...5, using: &random)
        var queue = ReaderQueue(limit: limit)
        var holders: [Int: ClientID] = [:]
        var idle: [Int] = []
        var waiting: [(client: ClientID, deadline: Int64)] = []
        var nextClient = 0
        var clock: Int64 = 0

        func gives(_ index: Int, to client: ClientID) {
            #expect(holders.updateValue(client, forKey: index) == nil, "connection \(index) granted twice")
        }
        func releases(_ index: Int) {
            if let next = queue.release(index) {
                #expect(waiting.first?.client == next)
                if !waiting.isEmpty { waiting.removeFirst() }
                gives(index, to: next)
            } else {
                #expect(waiting.isEmpty)
                idle.append(index)
            }
        }

        for _ in 0..<5_000 {
            clock += Int64.random(in: 0...3, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                let deadline = clock + Int64.random(in: 1...40, using: &random)
                let used = queue.usedCount
                if let index = queue.request(nextClient, now: ms(clock), deadline: ms(deadline)) {
                    if let warmest = idle.popLast() {
                        #expect(index == warmest && queue.usedCount == used)
                    } else {
                        #expect(index == used && queue.usedCount == used + 1)
                    }
                    gives(index, to: nextClient)
                } else {
                    waiting.append((nextClient, deadline))
                }
                nextClient += 1
            case 4..<7:
                guard let index = holders.keys.sorted().randomElement(using: &random) else { continue }
                holders[index] = nil
                releases(index)
            case 7:
                let client = Int.random(in: max(0, nextClient - 10)...nextClient, using: &random)
                let position = waiting.firstIndex { $0.client == client }
                #expect(queue.withdraw(client, now: ms(100)) == (position != nil))
                if let position { waiting.remove(at: position) }
            case 8:
                let due = waiting.filter { $0.deadline <= clock }.map(\.client)
                #expect(queue.withdrawExpired(now: ms(clock)) == due)
                waiting.removeAll { $0.deadline <= clock }
            default:
                let taken = queue.takeIdle()
                #expect(taken == idle)
                idle = []
                for index in taken { releases(index) }
            }
            #expect(queue.waitingCount == waiting.count)
            #expect(queue.idleIndexes.count == idle.count)
            #expect(queue.usedCount == holders.count + idle.count && queue.usedCount <= limit)
            #expect(waiting.isEmpty || holders.count == limit)
            #expect(queue.nextDeadline == waiting.map(\.deadline).min().map(ms) ?? .distantFuture)
        }
        #expect(nextClient > 1000)
    }
}
