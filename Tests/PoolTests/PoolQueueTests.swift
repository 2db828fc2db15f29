import Foundation
import POSIX
import Testing

@testable import Pool
@testable import SQLite
@testable import Scheduling

@Suite struct PoolQueueTests {
    /// Whoever has been granted the writer meanwhile may wait for its next statement, and keeps nothing.
    @Test func aWaitForTheWriterEndsForTheSnapshotThatIsKeptThen() throws {
        let test = try TestPool()
        let pool = test.pool
        let clients = (1...3).map { _ in test.member() }
        let pictures = clients.map { pool.requestWriter($0, .transaction, deadline: .distantFuture).picture }
        #expect(pictures == ["granted", "parked", "parked"])
        clients[1].snapshotBegan = ms(10)
        #expect(!pool.withdrawWriter(2, keepingSnapshotFromBefore: ms(10)))
        #expect(!pool.withdrawWriter(3, keepingSnapshotFromBefore: ms(11)))
        #expect(pool.withdrawWriter(2, keepingSnapshotFromBefore: ms(11)) && !pool.withdraw(2) && pool.withdraw(3))
    }

    // MARK: Readers

    @Test func readersAreHandedOn() throws {
        let test = try TestPool { $0.readers = 2 }
        let pool = test.pool
        let clients = (1...5).map { _ in test.member() }
        let pictures = clients.map { pool.requestReader($0, deadline: ms(Int64($0.clientID))).picture }
        #expect(pictures == ["granted", "granted", "parked", "parked", "parked"])
        #expect(pool.load.waitingReaders == 3)
        #expect(test.observer.announced == [ms(3), ms(4), ms(5)])
        #expect(pool.withdraw(4) && !pool.withdraw(4) && !pool.withdraw(1))
        #expect(pool.releaseReader(1)?.picture == "3@1")
        #expect(!pool.withdraw(3))
        #expect(pool.releaseReader(0)?.picture == "5@0")
        #expect(pool.releaseReader(0) == nil && pool.releaseReader(1) == nil)
        #expect(pool.load.waitingReaders == 0)
    }

    private typealias RequestReader = (_ client: Int, _ onlyToPrepare: Bool) -> Pool.Request<Int>

    /// And six clients, by their numbers, that ask it for a connection.
    private func poolOfOneReader() throws -> (Pool, RequestReader) {
        let test = try TestPool { $0.readers = 1 }
        let clients = (1...6).map { _ in test.member() }
        return (
            test.pool,
            { client, onlyToPrepare in
                test.pool.requestReader(clients[client - 1], onlyToPrepare: onlyToPrepare, deadline: .distantFuture)
            }
        )
    }

    /// Who only prepares does not wait for the connection that is kept for it, while another prepares there for long, when a reader is
    /// free again.
    @Test func whoOnlyPreparesTakesWhatIsFreeFirst() throws {
        let (pool, request) = try poolOfOneReader()
        #expect(request(1, false).value == 0 && request(2, true).value == 1)
        let pictures = [(3, true), (4, true), (5, false)].map { request($0.0, $0.1).picture }
        #expect(pictures == ["parked", "parked", "parked"])
        // A reader is for those who read, if any of them waits.
        #expect(pool.releaseReader(0)?.picture == "5@0")
        #expect(pool.releaseReader(0)?.picture == "3@0")
        #expect(pool.beginPause(by: 100) && pool.releaseReader(0) == nil)
        #expect(pool.endPause()?.map(\.picture) == ["4@0"])
        #expect(pool.releaseReader(0) == nil && pool.releaseReader(1) == nil)
        #expect(request(6, true).value == 0)
    }

    /// One connection is kept for preparing: who only prepares gets it when no reader is free.
    @Test func oneIsKeptForPreparing() throws {
        let (pool, request) = try poolOfOneReader()
        #expect(request(1, true).value == 0)
        #expect(request(2, true).value == 1)
        let pictures = [(3, false), (4, true), (5, true), (6, true)].map { request($0.0, $0.1).picture }
        #expect(pictures == ["parked", "parked", "parked", "parked"])
        #expect(pool.withdraw(5))
        #expect(pool.releaseReader(1)?.picture == "4@1")
        #expect(pool.releaseReader(0)?.picture == "3@0")
        #expect(pool.releaseReader(1)?.picture == "6@1")
        #expect(pool.releaseReader(0) == nil && pool.releaseReader(1) == nil)
        // It never runs anything for long: a reader is preferred while there is one.
        #expect(request(1, true).value == 0)
    }

    /// Who is to stop already is not put into a queue, where nobody would come for it; a free connection it still gets.
    @Test func theCancelledAreNotQueued() throws {
        let test = try TestPool { $0.readers = 1 }
        let pool = test.pool
        func cancelled() -> FakeMember {
            let client = test.member()
            client.whileWaiting = { _ in .cancelled }
            return client
        }
        #expect(pool.requestReader(cancelled(), deadline: .distantFuture).picture == "granted")
        #expect(pool.requestReader(cancelled(), deadline: .distantFuture).picture == "cancelled")
        #expect(pool.requestWriter(cancelled(), .member, deadline: .distantFuture).picture == "cancelled")
        #expect(pool.load.waitingReaders == 0 && pool.load.waitingWriters == 0 && pool.load.holder == .nobody)
        #expect(test.observer.announced.isEmpty)
    }

    // MARK: The writer

    ///     1 (transaction)     has the writer
    ///     2, 3 (members)      wait until 20 and 30
    ///     4 (transaction)     waits
    ///     5 (member)          waits
    @Test func theWriterIsHandedOn() throws {
        let test = try TestPool()
        let pool = test.pool
        let clients = (1...5).map { _ in test.member() }
        let purposes: [WriterQueue.Purpose] = [.transaction, .member, .member, .transaction, .member]
        for (client, purpose) in zip(clients, purposes) {
            let deadline = client.clientID == 2 ? ms(20) : client.clientID == 3 ? ms(30) : .distantFuture
            let expected = client.clientID == 1 ? "granted" : "parked"
            #expect(pool.requestWriter(client, purpose, deadline: deadline).picture == expected)
        }
        // Each announces its own.
        #expect(Set(test.observer.announced) == [ms(20), ms(30)])
        #expect(pool.queuePlace(of: 4)?.place == 3 && pool.queuePlace(of: 1) == nil)
        #expect(pool.releaseWriter()?.picture == "2+3")
        #expect(pool.load.holder == .group)
        #expect(pool.releaseWriter()?.picture == "t4")
        #expect(pool.releaseWriter()?.picture == "5")
        #expect(pool.releaseWriter() == nil && pool.load.holder == .nobody)
    }

    @Test func theGroupLimit() throws {
        let test = try TestPool { $0.groupMembers = 2 }
        let clients = (1...6).map { _ in test.member() }
        for client in clients { _ = test.pool.requestWriter(client, .member, deadline: .distantFuture) }
        #expect((0..<4).map { _ in test.pool.releaseWriter()?.picture } == ["2+3", "4+5", "6", nil])
    }

    // MARK: Time

    @Test func whatIsDueIsTakenOut() throws {
        let test = try TestPool { $0.readers = 1 }
        let pool = test.pool
        let (reading, writing) = (test.member(), test.member())
        _ = pool.requestReader(reading, deadline: .distantFuture)
        _ = pool.requestWriter(writing, .transaction, deadline: .distantFuture)
        let waiting = [10, 20, 30, 40].map { (test.member(), ms($0)) }
        for (index, (client, deadline)) in waiting.enumerated() {
            if index % 2 == 0 {
                _ = pool.requestReader(client, deadline: deadline)
            } else {
                _ = pool.requestWriter(client, .member, deadline: deadline)
            }
        }
        let nothing = pool.takeDue(now: ms(9))
        #expect(nothing.expired.isEmpty && nothing.toEvict == nil && nothing.next == ms(10))
        let two = pool.takeDue(now: ms(20))
        #expect(Set(two.expired.map(\.clientID)) == [3, 4] && two.next == ms(30))
        #expect(!pool.withdraw(3) && pool.withdraw(5))
        let last = pool.takeDue(now: ms(1000))
        #expect(last.expired.map(\.clientID) == [6] && last.next == .distantFuture)
        #expect(pool.releaseWriter() == nil && pool.releaseReader(0) == nil)
    }

    /// A holder between two messages is to be evicted once somebody waits, and only then.
    ///
    ///     holder                      waiter
    ///     has the writer
    ///     is idle: nothing is due
    ///                                 waits: the holder's eviction is announced
    ///     is active: nothing is due
    ///     is idle: it is announced anew
    @Test func anIdleHolderIsEvictedForAWaiter() throws {
        let test = try TestPool { $0.writerIdleMilliseconds = 500 }
        let pool = test.pool
        let (holder, waiter) = (test.member(), test.member())
        let longAfter = MonotonicClock.now.advanced(byMilliseconds: 1_000_000)
        _ = pool.requestWriter(holder, .transaction, deadline: .distantFuture)
        pool.holderBecameIdle(holder)
        #expect(pool.takeDue(now: longAfter).toEvict == nil && test.observer.announced.isEmpty)
        let before = MonotonicClock.now
        _ = pool.requestWriter(waiter, .member, deadline: .distantFuture)
        #expect(test.observer.announced.count == 1 && test.observer.announced[0] >= before.advanced(byMilliseconds: 500))
        #expect(pool.takeDue(now: before).toEvict == nil && pool.takeDue(now: longAfter).toEvict == 1)
        pool.holderBecameActive(holder)
        #expect(pool.takeDue(now: longAfter).toEvict == nil)
        pool.holderBecameIdle(holder)
        #expect(test.observer.announced.count == 2 && pool.takeDue(now: longAfter).toEvict == 1)
        // Somebody who does not hold it changes nothing.
        pool.holderBecameActive(waiter)
        #expect(pool.takeDue(now: longAfter).toEvict == 1)
        #expect(pool.releaseWriter()?.picture == "2" && pool.takeDue(now: longAfter).toEvict == nil)
    }

    // MARK: Checkpoints

    ///     writer's queue
    ///     1 commits; 2 waits
    ///     1 releases: the WAL is large, so a checkpoint is queued behind 2     -> 2
    ///     3 comes, behind the checkpoint
    ///     2 releases                                                           -> checkpoint
    ///     checkpoint releases                                                  -> 3
    @Test func aCheckpointRunsWhenItsTurnComes() throws {
        let test = try TestPool { $0.checkpointFrames = 3 }
        let pool = test.pool
        // The schema's own frames are not to count.
        _ = pool.run(.checkpoint)
        let insert = "INSERT INTO t SELECT value, value FROM json_each('[1,2,3]')"
        let members = [
            test.member(insert, "INSERT INTO parent VALUES(1)", "INSERT INTO child VALUES(1)"),
            test.member("INSERT INTO t VALUES(4, 4)"), test.member("INSERT INTO t VALUES(5, 5)"),
        ]
        _ = pool.requestWriter(members[0], .member, deadline: .distantFuture)
        _ = pool.requestWriter(members[1], .member, deadline: .distantFuture)
        #expect(pool.commitGroup([members[0]]).count == 1 && members[0].succeeded)
        #expect(pool.writer.framesToCheckpoint >= 3)
        #expect(pool.releaseWriter()?.picture == "2")
        #expect(pool.load.waitingWriters == 1)
        _ = pool.requestWriter(members[2], .member, deadline: .distantFuture)
        _ = pool.commitGroup([members[1]])
        #expect(pool.releaseWriter()?.picture == "checkpoint")
        #expect(pool.load.waitingWriters == 1)
        let epoch = pool.leaseEpoch
        #expect(pool.run(.checkpoint).isEmpty)
        #expect(pool.leaseEpoch == epoch + 1 && pool.writer.framesToCheckpoint == 0)
        #expect(pool.releaseWriter()?.picture == "3")
        _ = pool.commitGroup([members[2]])
        #expect(pool.releaseWriter() == nil)
    }

    /// Below the limit nothing is queued; what an old snapshot leaves behind does not make every release try again.
    @Test func aCheckpointThatCannotEndIsNotTriedAtEveryRelease() throws {
        let test = try TestPool { $0.checkpointFrames = 10 }
        let pool = test.pool
        _ = pool.run(.checkpoint)
        let index = try #require(pool.requestReader(test.member(), deadline: .distantFuture).value)
        let old = try pool.reader(at: index)
        #expect(try old.rows("SELECT count(*) FROM t", test.member()) == [["0"]])
        var checkpoints: [Int] = []
        for n in 1...60 {
            let member = test.member("INSERT INTO t VALUES(\(n), \(n))")
            _ = pool.requestWriter(member, .member, deadline: .distantFuture)
            _ = pool.commitGroup([member])
            var next = pool.releaseWriter()
            while let resumption = next {
                #expect(resumption.picture == "checkpoint")
                checkpoints.append(pool.writer.framesToCheckpoint)
                #expect(pool.run(.checkpoint).isEmpty)
                next = pool.releaseWriter()
            }
        }
        // Each needs 10 frames more than the one before it left.
        for (earlier, later) in zip(checkpoints, checkpoints.dropFirst()) { #expect(later >= earlier + 10) }
        #expect(!checkpoints.isEmpty)
        #expect(pool.writer.framesToCheckpoint > 10)
        _ = pool.releaseReader(index)
        _ = pool.run(.checkpoint)
        #expect(pool.writer.framesToCheckpoint == 0)
    }

    // MARK: Many threads

    /// Threads that write and read as sessions do: each acknowledged row is there for the next read on any connection.
    @Test func manyThreads() throws {
        let test = try TestPool { limits in
            limits.readers = 2
            limits.groupMembers = 4
            limits.checkpointFrames = 20
        }
        let engine = MiniEngine(test)
        let (threads, each) = (6, 40)
        DispatchQueue.concurrentPerform(iterations: threads) { thread in
            for n in 0..<each {
                let id = thread * 1000 + n
                let client = MiniEngine.Client(id + 1, "INSERT INTO t VALUES(\(id), \(id))")
                engine.write(client)
                #expect(client.member.succeeded)
                #expect(engine.count(of: id, as: client) == "1")
            }
        }
        #expect(try test.lookFromOutside("SELECT count(*) FROM t") == [["\(threads * each)"]])
        #expect(test.pool.load.waitingWriters == 0 && test.pool.load.waitingReaders == 0)
        #expect(test.pool.load.holder == .nobody)
        #expect(try test.lookFromOutside("PRAGMA integrity_check") == [["ok"]])
    }

    @Test func closeLeavesOneFile() throws {
        let test = try TestPool()
        try test.reading { _ in }
        _ = test.run([test.member("INSERT INTO t VALUES(1, 1)")])
        test.pool.close()
        for name in ["-wal", "-shm"] { #expect(!FileManager.default.fileExists(atPath: test.path + name), "\(name)") }
        #expect(try test.lookFromOutside("SELECT id FROM t") == [["1"]])
    }
}

/// The workers' part in small: who has a grant runs it, and hands on what it frees; who is parked waits on its own
/// semaphore.
final class MiniEngine: @unchecked Sendable {
    final class Client: GroupMember, @unchecked Sendable {
        let member: FakeMember
        let semaphore = DispatchSemaphore(value: 0)
        var readerIndex: Int?

        init(_ id: Int, _ sql: String) { member = FakeMember(id, [sql]) }

        var clientID: ClientID { member.clientID }
        var waitDeadline: Instant { .distantFuture }
        func mark(mayRunAgain: Bool) { member.mark(mayRunAgain: mayRunAgain) }
        func rewind() { member.rewind() }
        func runTransaction(on writer: Writer) { member.runTransaction(on: writer) }
        func commitFailed(_ error: SQLiteError) { member.commitFailed(error) }
        func couldNotBegin(_ reason: StopReason?, _ error: SQLiteError) { member.couldNotBegin(reason, error) }
        func reasonToStop(now: Instant) -> StopReason? { nil }
        func reasonToStopWaiting(now: Instant) -> StopReason? { nil }
        func willBeLong() {}
    }

    private let pool: Pool
    private let resumed: Locked<[Resumption]>
    init(_ test: TestPool) { (pool, resumed) = (test.pool, test.resumed) }

    func write(_ client: Client) {
        switch pool.requestWriter(client, .member, deadline: .distantFuture) {
        case .granted: run(.group([client]))
        case .parked: break
        case .stopped: Issue.record("nobody asked to stop")
        }
        client.semaphore.wait()
    }

    /// Runs a grant and everything it leads to.
    private func run(_ first: Resumption) {
        var next: Resumption? = first
        while let resumption = next {
            next = nil
            switch resumption {
            case .group(let clients):
                let finished = pool.commitGroup(clients)
                next = pool.releaseWriter()
                for member in finished { (member as? Client)?.semaphore.signal() }
            case .job(let job):
                let freed = pool.run(job)
                for freed in freed
                    + resumed.withLock({ all in
                        defer { all = [] }; return all
                    })
                { run(freed) }
                next = pool.releaseWriter()
            case .reader(let client, let index):
                (client as? Client)?.readerIndex = index
                (client as? Client)?.semaphore.signal()
            case .transaction, .stopped, .answered, .owned, .committed, .unsynced:
                Issue.record("nobody asked for this")
            }
        }
    }

    func count(of id: Int, as client: Client) -> String? {
        let index: Int
        switch pool.requestReader(client, deadline: .distantFuture) {
        case .granted(let granted): index = granted
        case .parked:
            client.semaphore.wait()
            index = client.readerIndex!
        case .stopped: return nil
        }
        let rows = try? pool.reader(at: index).rows("SELECT count(*) FROM t WHERE id = \(id)", client)
        if let next = pool.releaseReader(index) { run(next) }
        return rows?.first?.first
    }
}
