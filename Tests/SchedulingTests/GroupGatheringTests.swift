import Testing

@testable import Scheduling

@Suite struct GroupGatheringTests {
    private func gathering(commitMicroseconds: Int64) -> GroupGathering {
        var gathering = GroupGathering()
        gathering.committed(nanoseconds: commitMicroseconds * 1_000)
        return gathering
    }

    /// What a commit takes, how many were answered and how many wait, the limit; then how many are waited for and how long.
    @Test(
        arguments: [
            // A sync that costs little for each member is not waited for.
            (30, 32, 32, 128, nil),
            (32, 32, 32, 128, nil),
            (33, 32, 32, 128, (64, 33)),
            (300, 32, 32, 128, (64, 300)),
            // Never longer than a millisecond.
            (2_000, 64, 0, 128, (64, 1_000)),
            (2_000, 8, 1, 128, (9, 1_000)),
            // Too few to be worth it.
            (2_000, 3, 40, 128, nil),
            // The group that waits is full already, or will be.
            (2_000, 64, 128, 128, nil),
            (2_000, 100, 100, 128, (128, 1_000)),
            (0, 64, 0, 128, nil),
        ] as [(Int64, Int, Int, Int, (Int, Int64)?)])
    func plans(_ commit: Int64, _ answered: Int, _ waiting: Int, _ limit: Int, _ expected: (Int, Int64)?) {
        var gathering = gathering(commitMicroseconds: commit)
        let plan = gathering.plan(answered: answered, waiting: waiting, limit: limit)
        #expect(plan == expected.map { .init(members: $0.0, nanoseconds: $0.1 * 1_000, answered: answered) })
    }

    /// One slow sync among quick ones changes little; many do.
    @Test func theTimeIsAMean() {
        var gathering = gathering(commitMicroseconds: 40)
        gathering.committed(nanoseconds: 840_000)
        #expect(gathering.commitNanoseconds == 140_000)
        for _ in 0..<60 { gathering.committed(nanoseconds: 840_000) }
        #expect(gathering.commitNanoseconds > 835_000 && gathering.commitNanoseconds <= 840_000)
        // A clock that went wrong is not believed for ever.
        gathering.committed(nanoseconds: .max)
        gathering.committed(nanoseconds: -1)
        #expect(gathering.commitNanoseconds < 1_000_000_000)
    }

    /// With synchronous = pipelined: what a sync and a member take, in microseconds, how many clients there are, and whether the
    /// writer is kept for the sync.
    @Test(
        arguments: [
            // Single statements on a quick disk, from the count on at which running them takes longer than two syncs.
            (100, 5, 8, true), (100, 5, 24, true), (100, 5, 25, false), (100, 5, 64, false),
            // Transactions of several statements: their run is worth hiding.
            (100, 40, 8, false), (2_000, 40, 8, true), (2_000, 40, 64, true), (2_000, 40, 128, false),
            // Who is alone, or nearly, has nobody to share with.
            (2_000, 5, 3, false), (2_000, 5, 4, true),
            // Nothing is known of the disk yet.
            (0, 5, 8, false),
        ] as [(Int64, Int64, Int, Bool)])
    func keepsTheWriter(_ sync: Int64, _ member: Int64, _ clients: Int, _ expected: Bool) {
        var gathering = GroupGathering()
        gathering.ran(10, nanoseconds: member * 10_000)
        #expect(gathering.keepsWriter(forSyncOf: sync * 1_000, clients: clients) == expected)
    }

    @Test func theTimeOfAMemberIsAMean() {
        var gathering = GroupGathering()
        gathering.ran(4, nanoseconds: 40_000)
        gathering.ran(1, nanoseconds: 90_000)
        #expect(gathering.memberNanoseconds == 20_000)
        // Nobody may have finished, and clocks go wrong.
        gathering.ran(0, nanoseconds: .max)
        gathering.ran(1, nanoseconds: -1)
        #expect(gathering.memberNanoseconds < 1_000_000_000)
        #expect(!gathering.keepsWriter(forSyncOf: .min, clients: .max >> 32))
    }

    /// Clients that do not come back: 1, 2, 4 … groups in turn are not waited for, and one return ends that.
    @Test func backsOff() throws {
        var gathering = gathering(commitMicroseconds: 2_000)
        var skipped: [Int] = []
        for _ in 0..<9 {
            var count = 0
            while true {
                if let plan = gathering.plan(answered: 10, waiting: 0, limit: 128) {
                    gathering.gathered(4, of: plan)
                    break
                }
                count += 1
            }
            skipped.append(count)
        }
        #expect(skipped == [0, 1, 2, 4, 8, 16, 32, 64, 64])
        for _ in 0..<64 {
            let none = gathering.plan(answered: 10, waiting: 0, limit: 128)
            #expect(none == nil)
        }
        let plan = gathering.plan(answered: 10, waiting: 0, limit: 128)
        gathering.gathered(5, of: try #require(plan))
        let next = gathering.plan(answered: 10, waiting: 0, limit: 128)
        #expect(next != nil)
    }
}

@Suite struct WriterQueueGatheringTests {
    private let plan = GroupGathering.Plan(members: 4, nanoseconds: 2_000_000, answered: 3)

    /// A group has been committed, and these queued meanwhile.
    private func queue(_ waiting: String) -> WriterQueue {
        var queue = WriterQueue(groupLimit: 8, holderIdleLimitMilliseconds: 0)
        _ = queue.request(0, .member, now: ms(0))
        for (index, letter) in waiting.enumerated() {
            _ = queue.request(index + 1, letter == "m" ? .member : letter == "t" ? .transaction : .job, now: ms(0))
        }
        return queue
    }

    /// Who waits when the group has been answered, and whether the writer is granted at once.
    @Test(
        arguments: [
            ("", nil), ("mmm", nil), ("mmmm", "1+2+3+4"), ("mmmmm", "1+2+3+4+5"), ("t", "t1"), ("j", "j1"), ("mt", "1"),
        ] as [(String, String?)])
    func begins(_ waiting: String, _ granted: String?) {
        var queue = queue(waiting)
        #expect(queue.release(gathering: plan, now: ms(1))?.picture == granted)
        #expect((queue.gathering == nil) == (granted != nil))
        #expect((queue.holder == .nobody) == (granted == nil))
    }

    /// Who comes while it gathers, when somebody looks, and what is granted then.
    @Test(
        arguments: [
            ("m", 2, nil),
            ("m", 3, "1"),
            ("mmm", 2, nil),
            ("mmmm", 2, "1+2+3+4"),
            ("mmmmm", 2, "1+2+3+4+5"),
            ("", 3, nil),
            // Somebody else than a member is not kept waiting, nor does it overtake.
            ("t", 2, "t1"),
            ("mt", 2, "1"),
            ("j", 2, "j1"),
        ] as [(String, Int64, String?)])
    func ends(_ coming: String, _ at: Int64, _ granted: String?) {
        var queue = queue("")
        #expect(queue.release(gathering: plan, now: ms(1)) == nil)
        for (index, letter) in coming.enumerated() {
            #expect(
                queue.request(index + 1, letter == "m" ? .member : letter == "t" ? .transaction : .job, now: ms(1)) == nil)
        }
        let end = queue.endGathering(now: ms(at))
        #expect(end?.grant?.picture == granted)
        #expect((queue.gathering == nil) == (granted != nil || at >= 3))
        // When nobody came the writer is free again.
        if queue.gathering == nil && coming.isEmpty {
            #expect(queue.request(9, .transaction, now: ms(at))?.picture == "t9")
        }
    }

    /// Recovery waits for nobody, and those who gathered keep their places.
    @Test func theFirstOfAll() {
        var queue = queue("mm")
        #expect(queue.release(gathering: plan, now: ms(1)) == nil)
        #expect(queue.requestFirst(77, now: ms(1))?.picture == "j77")
        #expect(queue.gathering == nil)
        #expect(queue.drained() == "1+2")
    }

    /// A pause holds back those who gathered; its end grants them the writer.
    @Test func aPause() {
        var queue = queue("mm")
        #expect(queue.release(gathering: plan, now: ms(1)) == nil)
        queue.pause(now: ms(1))
        #expect(queue.endGathering(now: ms(3))?.grant == nil)
        #expect(queue.holder == .nobody && queue.waitingCount == 2)
        #expect(queue.resume(now: ms(4))?.picture == "1+2")
    }

    /// A transaction that queued behind a member ends the gathering although a member came after it.
    @Test func aTransactionInTheMiddle() {
        var queue = queue("")
        #expect(queue.release(gathering: plan, now: ms(1)) == nil)
        #expect(queue.request(1, .member, now: ms(1)) == nil)
        #expect(!queue.isGatheringOver(now: ms(1)))
        #expect(queue.request(2, .transaction, now: ms(1)) == nil)
        #expect(queue.request(3, .member, now: ms(1)) == nil)
        #expect(queue.isGatheringOver(now: ms(1)))
        // It was withdrawn before anybody looked.
        let withdrawn = queue.withdraw(2, now: ms(100))
        #expect(withdrawn && !queue.isGatheringOver(now: ms(1)))
        let end = queue.endGathering(now: ms(1))
        #expect(end == nil && queue.gathering != nil)
    }

    /// Those who wait no longer are not waited with.
    @Test func withdrawal() {
        var queue = queue("mm")
        #expect(queue.release(gathering: plan, now: ms(1)) == nil)
        let withdrawn = queue.withdraw(1, now: ms(100))
        #expect(withdrawn)
        #expect(queue.endGathering(now: ms(3))?.grant?.picture == "2")
    }
}
