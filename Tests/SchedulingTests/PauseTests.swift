import Testing

@testable import Scheduling

/// A pause of the writer: those who pass go on in their order, and the others keep theirs.
@Suite struct WriterQueuePauseTests {
    /// A queue behind client 0, paused after client 0 came. Capitals pass: their transactions began before.
    private func paused(_ picture: String, groupLimit: Int = 8) -> WriterQueue {
        var queue = WriterQueue(groupLimit: groupLimit, holderIdleLimitMilliseconds: 0)
        _ = queue.request(0, .transaction, now: ms(0))
        queue.pause(now: ms(0))
        for (position, letter) in picture.enumerated() {
            let purpose: WriterQueue.Purpose =
                switch letter.lowercased() {
                case "m": .member
                case "t": .transaction
                default: .job
                }
            _ = queue.request(position + 1, purpose, now: ms(1), passesPause: letter.isUppercase)
        }
        return queue
    }

    /// What is granted while it is paused, and what once it is not any more.
    @Test(arguments: [
        ("", 8, "", ""),
        ("mtm", 8, "", "1 t2 3"),
        ("mmm", 8, "", "1+2+3"),
        ("MTM", 8, "1 t2 3", ""),
        ("MMM", 8, "1+2+3", ""),
        ("MMM", 2, "1+2 3", ""),
        ("mTm", 8, "t2", "1+3"),
        ("mMm", 8, "2", "1+3"),
        // Members that pass share a commit across those who are held back, but not across one that passes alone.
        ("MmM", 8, "1+3", "2"),
        ("MmMtM", 2, "1+3 5", "2 t4"),
        ("MTmM", 8, "1 t2 4", "3"),
        ("MtM", 8, "1+3", "t2"),
        // Jobs pass whatever is said of them.
        ("mjm", 8, "j2", "1+3"),
        ("MjM", 8, "1 j2 3", ""),
        ("jj", 8, "j1 j2", ""),
        ("ttTt", 8, "t3", "t1 t2 t4"),
    ])
    func grants(_ picture: String, _ limit: Int, _ during: String, _ afterwards: String) {
        var queue = paused(picture, groupLimit: limit)
        #expect(queue.drained() == during)
        #expect(queue.holder == .nobody)
        let first = queue.resume(now: ms(9))
        let rest = queue.drained()
        #expect([first?.picture, rest].compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: " ") == afterwards)
        #expect(queue.waitingCount == 0 && queue.holder == .nobody)
    }

    @Test(arguments: [
        (WriterQueue.Purpose.member, false, false), (.transaction, false, false), (.job, false, true),
        (.member, true, true), (.transaction, true, true),
    ])
    func whoFindsItFree(_ purpose: WriterQueue.Purpose, _ passes: Bool, _ isGranted: Bool) {
        var queue = WriterQueue(groupLimit: 8, holderIdleLimitMilliseconds: 0)
        queue.pause(now: ms(0))
        #expect((queue.request(1, purpose, now: ms(1), passesPause: passes) != nil) == isGranted)
        // Beside those who are held back, too.
        _ = queue.release(now: ms(2))
        _ = queue.request(2, .member, now: ms(3))
        #expect((queue.request(3, purpose, now: ms(4), passesPause: passes) != nil) == isGranted)
    }

    /// A holder keeps the writer through a pause, and a resume does not take it away.
    @Test func theHolderStays() {
        var queue = WriterQueue(waiting: "mm")
        queue.pause(now: ms(5))
        #expect(queue.holder == .transaction(0, since: ms(0), idleSince: nil))
        #expect(queue.resume(now: ms(6)) == nil)
        #expect(queue.release(now: ms(7)) == .group([1, 2]))
    }

    @Test func membersThatComeBackPassOrNot() {
        var queue = paused("MMm")
        #expect(queue.release(now: ms(2)) == .group([1, 2]))
        queue.returnToFront([(1, .distantFuture), (2, .distantFuture)], passing: [2], now: ms(3))
        #expect(queue.drained() == "2")
        #expect(queue.resume(now: ms(4)) == .group([1, 3]))
    }

    /// Whoever pauses waits for an idle holder as the queue does: limit 10, idle since 3, paused at 5.
    @Test(arguments: [(false, 1_000, nil), (true, 14, nil), (true, 15, 0)] as [(Bool, Int64, ClientID?)])
    func eviction(_ isPaused: Bool, _ now: Int64, _ evicted: ClientID?) {
        var queue = WriterQueue(groupLimit: 8, holderIdleLimitMilliseconds: 10)
        _ = queue.request(0, .transaction, now: ms(0))
        queue.holderBecameIdle(0, now: ms(3))
        if isPaused { queue.pause(now: ms(5)) }
        #expect(queue.holderToEvict(now: ms(now)) == evicted)
        #expect(queue.nextDeadline == (isPaused ? ms(15) : .distantFuture))
        // Somebody who comes then does not prolong it.
        _ = queue.request(1, .member, now: ms(12))
        #expect(queue.nextDeadline == (isPaused ? ms(15) : ms(22)))
    }

    @Test func deadlines() {
        var queue = paused("mTm")
        queue.changeDeadlinesOfHeldBack { ms(Int64($0) * 10) }
        #expect(queue.nextDeadline == ms(10))
        #expect(queue.withdrawExpired(now: ms(30)) == [1, 3])
        #expect(queue.drained() == "t2")
    }

    @Test func holderSince() {
        var queue = WriterQueue(waiting: "mtj")
        #expect(queue.holderSince == ms(0))
        for now in [10, 20, 30] as [Int64] {
            _ = queue.release(now: ms(now))
            #expect(queue.holderSince == ms(now))
        }
    }
}

@Suite struct ReaderQueuePauseTests {
    @Test func heldBack() {
        var queue = ReaderQueue(limit: 2)
        #expect(queue.request(1, now: ms(0)) == 0)
        queue.pause()
        #expect(queue.request(2, now: ms(1)) == nil && queue.take() == nil)
        #expect(queue.request(3, now: ms(1), passesPause: true) == 1)
        #expect(queue.request(4, now: ms(1), passesPause: true) == nil)
        // Who passes goes before who came earlier and does not.
        #expect(queue.release(0) == 4)
        #expect(queue.release(1) == nil && queue.release(0) == nil)
        #expect(queue.inUseCount == 0 && queue.waitingCount == 1)
        #expect(queue.request(5, now: ms(2)) == nil && queue.request(6, now: ms(2)) == nil)
        let granted = queue.resume()
        // The warmest first.
        #expect(granted.map(\.client) == [2, 5] && granted.map(\.index) == [0, 1])
        #expect(queue.release(1) == 6)
    }

    /// Of a gate and a pause the stricter one counts, in whatever order they come and go.
    @Test(arguments: [[true, false], [false, true]])
    func gateAndPause(_ order: [Bool]) {
        var queue = ReaderQueue(limit: 1)
        queue.closeGate()
        queue.pause()
        #expect(queue.request(1, now: ms(0)) == nil)
        #expect(queue.request(2, now: ms(0), passesPause: true) == nil)
        if order[0] {
            #expect(queue.openGate().map(\.client) == [2])
            #expect(queue.release(0) == nil)
            #expect(queue.resume().map(\.client) == [1])
        } else {
            #expect(queue.resume().isEmpty)
            #expect(queue.openGate().map(\.client) == [1])
            #expect(queue.release(0) == 2)
        }
    }

    /// Upkeep takes idle readers and gives them back: to nobody who is held back.
    @Test func upkeepDuringAPause() {
        var queue = ReaderQueue(limit: 2)
        for client in 1...2 { _ = queue.request(client, now: ms(0)) }
        for index in 0...1 { _ = queue.release(index) }
        queue.pause()
        #expect(queue.request(3, now: ms(1)) == nil)
        #expect(queue.takeIdle() == [0, 1])
        #expect(queue.request(4, now: ms(1), passesPause: true) == nil)
        #expect(queue.release(0) == 4 && queue.release(1) == nil)
        #expect(queue.resume().map(\.client) == [3])
    }

    @Test func deadlines() {
        var queue = ReaderQueue(limit: 1)
        _ = queue.request(0, now: ms(0))
        queue.pause()
        for client in 1...3 { _ = queue.request(client, now: ms(0), passesPause: client == 2) }
        queue.changeDeadlinesOfHeldBack { ms(Int64($0) * 10) }
        #expect(queue.withdrawExpired(now: ms(100)) == [1, 3])
        #expect(queue.release(0) == 2)
    }
}
