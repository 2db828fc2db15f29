import Testing

@testable import Pool
@testable import SQLite
@testable import Scheduling

@Suite struct GateTests {
    /// A pool whose WAL may have 100 pages: half of them for TRUNCATE, 75 for the gate.
    private func smallPool(drainMilliseconds: Int64 = 0, gateMilliseconds: Int64 = 10) throws -> TestPool {
        let test = try TestPool { limits in
            limits.walLimitBytes = 100 * (4096 + 24)
            limits.gateMilliseconds = gateMilliseconds
            limits.truncateMilliseconds = 10
            limits.gateDrainMilliseconds = drainMilliseconds
            limits.readers = 2
        }
        _ = test.pool.run(.checkpoint)
        return test
    }

    private func commit(_ test: TestPool, _ id: Int) {
        let member = test.member("INSERT INTO t VALUES(\(id), hex(randomblob(1000)))")
        _ = test.pool.requestWriter(member, .member, deadline: .distantFuture)
        #expect(test.pool.commitGroup([member]).count == 1 && member.succeeded)
    }

    ///     reader 0                writer                          client 3
    ///     reads
    ///                             commits until the WAL is large
    ///                             the gate closes, and 2 writes on
    ///                                                             asks for a reader: waits
    ///     is done
    ///                             the WAL is emptied
    ///                                                             has a reader
    @Test func writersGoOnWhileReadersLeave() throws {
        let test = try smallPool(drainMilliseconds: 60_000, gateMilliseconds: 60_000)
        let pool = test.pool
        let index = try #require(pool.requestReader(test.member(), deadline: .distantFuture).value)
        #expect(try pool.reader(at: index).rows("SELECT count(*) FROM t", test.member()) == [["0"]])
        var next: Resumption?
        var id = 0
        while pool.walStatus.frames < 75 {
            id += 1
            commit(test, id)
            next = pool.releaseWriter()
            guard pool.walStatus.frames < 75 else { break }
            while case .job(let job) = next {
                _ = pool.run(job)
                next = pool.releaseWriter()
            }
        }
        #expect(next?.picture == "checkpoint")
        let waiting = test.member("INSERT INTO t VALUES(-1, -1)"), late = test.member()
        #expect(pool.requestWriter(waiting, .member, deadline: .distantFuture).picture == "parked")
        #expect(pool.run(.checkpoint).isEmpty)
        #expect(pool.walStatus.isGateClosed)
        #expect(pool.requestReader(late, deadline: .distantFuture).picture == "parked")
        #expect(pool.releaseWriter()?.picture == "\(waiting.clientID)")
        #expect(pool.commitGroup([waiting]).count == 1 && waiting.succeeded)
        #expect(pool.releaseWriter()?.picture == "checkpoint")
        // It looks again and again, also when nobody writes.
        #expect(pool.run(.checkpoint).isEmpty)
        #expect(pool.releaseWriter()?.picture == "checkpoint")
        #expect(pool.releaseReader(index) == nil)
        #expect(pool.run(.checkpoint).map(\.picture) == ["\(late.clientID)@\(index)"])
        #expect(pool.releaseWriter() == nil)
        let status = pool.walStatus
        #expect(status.frames == 0 && !status.isGateClosed && status.checkpoints.snapshotsEnded == 0)
        #expect(try pool.reader(at: index).rows("SELECT count(*) FROM t", late) == [["\(id + 1)"]])
    }

    ///     reader 0                writer                          client 3
    ///     A begins a snapshot
    ///                             commits until the WAL is large
    ///                             checkpoints cannot finish
    ///                             2 waits; the gate's job is before it
    ///                             the gate closes
    ///                                                             asks for a reader: waits
    ///     A's snapshot is ended
    ///                             the WAL is emptied
    ///                                                             has a reader
    ///                             2 is next
    @Test func anOldSnapshotIsEndedBeforeTheWALOutgrowsItsLimit() throws {
        let test = try smallPool()
        let pool = test.pool
        let index = try #require(pool.requestReader(test.member(), deadline: .distantFuture).value)
        let old = try pool.reader(at: index)
        #expect(try old.rows("SELECT count(*) FROM t", test.member()) == [["0"]])

        var id = 0
        var next: Resumption?
        let waiting = test.member("INSERT INTO t VALUES(-1, -1)")
        while pool.walStatus.frames < 75 {
            id += 1
            commit(test, id)
            if pool.writer.walFrames.all >= 75 {
                #expect(pool.requestWriter(waiting, .member, deadline: .distantFuture).picture == "parked")
            }
            next = pool.releaseWriter()
            guard pool.walStatus.frames < 75 else { break }
            while case .job(let job) = next {
                let resumptions = pool.run(job) { _ in
                    Issue.record("the gate is not due yet")
                    return 0
                }
                #expect(resumptions.isEmpty)
                next = pool.releaseWriter()
            }
        }
        #expect(next?.picture == "checkpoint")
        #expect(pool.walStatus.oldestSnapshot?.client == 1)

        let late = test.member()
        var isEnded = false
        let resumptions = pool.run(.checkpoint) { before in
            guard before == .distantFuture else { return 0 }
            guard !isEnded else { return 0 }
            isEnded = true
            #expect(pool.walStatus.isGateClosed)
            #expect(pool.requestReader(late, deadline: .distantFuture).picture == "parked")
            // The one that is told to end stops at its next thousand steps.
            #expect(throws: SQLiteError.self) {
                try old.rows("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n", late)
            }
            #expect(old.stopReason == .snapshotTooOld)
            #expect(pool.releaseReader(index) == nil)
            return 1
        }
        #expect(isEnded)
        #expect(resumptions.map(\.picture) == ["\(late.clientID)@\(index)"])
        let status = pool.walStatus
        #expect(status.frames == 0 && !status.isGateClosed)
        #expect(status.checkpoints.gateClosings == 1 && status.checkpoints.snapshotsEnded == 1)
        #expect(status.checkpoints.last?.mode == .gate && status.checkpoints.last?.isComplete == true)
        #expect(try pool.reader(at: index).rows("SELECT count(*) FROM t", late) == [["\(id)"]])
        #expect(pool.releaseWriter()?.picture == "\(waiting.clientID)")
    }

    /// What a snapshot kept from being copied is copied when it ends, without waiting for another commit.
    @Test func theEndOfTheOldestSnapshotBringsTheCheckpointBack() throws {
        let test = try TestPool { $0.checkpointFrames = 10 }
        let pool = test.pool
        _ = pool.run(.checkpoint)
        let first = try #require(pool.requestReader(test.member(), deadline: .distantFuture).value)
        let second = try #require(pool.requestReader(test.member(), deadline: .distantFuture).value)
        for index in [first, second] { _ = try pool.reader(at: index).rows("SELECT count(*) FROM t", test.member()) }
        var next: Resumption?
        for id in 1...20 where next == nil {
            commit(test, id)
            next = pool.releaseWriter()
        }
        #expect(next?.picture == "checkpoint")
        #expect(pool.run(.checkpoint).isEmpty)
        #expect(pool.releaseWriter() == nil)
        #expect(pool.writer.framesToCheckpoint > 0)
        #expect(pool.releaseReader(first) == nil)
        #expect(pool.releaseReader(second)?.picture == "checkpoint")
        #expect(pool.run(.checkpoint).isEmpty)
        #expect(pool.writer.framesToCheckpoint == 0)
        #expect(pool.releaseWriter() == nil)
    }
}
