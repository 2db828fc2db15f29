import Testing

@testable import Pool
@testable import SQLite
@testable import Scheduling

@Suite struct GateTests {
    /// A pool whose WAL may have 100 pages: half of them for TRUNCATE, 75 for the gate.
    private func smallPool(
        drainMilliseconds: Int64 = 0, gateMilliseconds: Int64 = 10, groupMembers: Int = 128
    ) throws -> TestPool {
        let test = try TestPool { limits in
            limits.walLimitBytes = 100 * (4096 + 24)
            limits.gateMilliseconds = gateMilliseconds
            limits.truncateMilliseconds = 10
            limits.gateDrainMilliseconds = drainMilliseconds
            limits.readers = 2
            limits.groupMembers = groupMembers
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
        let (test, index, id) = try poolAtTheGate()
        let pool = test.pool
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

    ///     reader 0                writer                          clients
    ///     reads
    ///                             the gate's job: closes it, as nobody but members waits
    ///                                                             a transaction asks for the writer
    ///                             the job is next, before the transaction
    @Test func aTransactionDoesNotGetBehindTheGate() throws {
        let (test, index, _) = try poolAtTheGate()
        let pool = test.pool
        let member = test.member("INSERT INTO t VALUES(-1, -1)"), transaction = test.member()
        #expect(pool.requestWriter(member, .member, deadline: .distantFuture).picture == "parked")
        let resumptions = pool.run(.checkpoint) { _ in
            #expect(pool.requestWriter(transaction, .transaction, deadline: .distantFuture).picture == "parked")
            return 0
        }
        #expect(resumptions.isEmpty && pool.walStatus.isGateClosed)
        #expect(pool.releaseWriter()?.picture == "checkpoint")
        #expect(pool.releaseReader(index) == nil)
        _ = pool.run(.checkpoint)
        #expect(!pool.walStatus.isGateClosed)
        #expect(pool.releaseWriter()?.picture == "\(member.clientID)")
    }

    /// A pool whose WAL has reached the gate's level while a client has reader 0, with the checkpoint about to run.
    private func poolAtTheGate(
        _ milliseconds: Int64 = 60_000, groupMembers: Int = 128
    ) throws -> (test: TestPool, reader: Int, rows: Int) {
        let test = try smallPool(
            drainMilliseconds: milliseconds, gateMilliseconds: milliseconds, groupMembers: groupMembers)
        let pool = test.pool
        let index = try #require(pool.requestReader(test.member(), deadline: .distantFuture).value)
        _ = try pool.reader(at: index).rows("SELECT count(*) FROM t", test.member())
        var next: Resumption?
        var id = 0
        while true {
            id += 1
            commit(test, id)
            next = pool.releaseWriter()
            if pool.walStatus.frames >= 75 { break }
            while case .job(let job) = next {
                _ = pool.run(job)
                next = pool.releaseWriter()
            }
        }
        #expect(next?.picture == "checkpoint")
        return (test, index, id)
    }

    ///     reader 0                writer                          client 3
    ///     reads
    ///                             the gate closes
    ///                                                             asks for a reader: waits
    ///                             a member's statement is long
    ///                                                             has a reader
    @Test func aLongStatementOpensTheGate() throws {
        let (test, index, _) = try poolAtTheGate()
        let pool = test.pool
        let writer = test.member("INSERT INTO t VALUES(-1, -1)"), late = test.member()
        #expect(pool.requestWriter(writer, .member, deadline: .distantFuture).picture == "parked")
        #expect(pool.run(.checkpoint).isEmpty)
        #expect(pool.requestReader(late, deadline: .distantFuture).picture == "parked")
        #expect(pool.releaseWriter()?.picture == "\(writer.clientID)")
        let resumed = pool.openGateWhileReadersLeave()
        #expect(resumed.map(\.picture) == ["\(late.clientID)@\(1 - index)"])
        #expect(!pool.walStatus.isGateClosed && pool.openGateWhileReadersLeave().isEmpty)
        // It closes again when the checkpoint has its next turn.
        #expect(pool.commitGroup([writer]).count == 1)
        #expect(pool.releaseWriter()?.picture == "checkpoint")
        #expect(pool.run(.checkpoint).isEmpty && pool.walStatus.isGateClosed)
    }

    /// What may keep the writer for as long as it likes never has it beside a closed gate.
    ///
    ///     reader 0                writer                          client 2
    ///     reads                                                   waits for the writer, for a transaction
    ///                             the gate closes and, past its
    ///                             limit, ends who still reads
    ///                             the gate is open again
    ///                                                             has the writer
    @Test func aTransactionIsNotLetIn() throws {
        let (test, index, _) = try poolAtTheGate(30)
        let pool = test.pool
        let client = test.member()
        #expect(pool.requestWriter(client, .transaction, deadline: .distantFuture).picture == "parked")
        _ = pool.run(.checkpoint) { _ in
            _ = pool.releaseReader(index)
            return 1
        }
        let status = pool.walStatus
        #expect(status.frames == 0 && !status.isGateClosed)
        #expect(pool.releaseWriter()?.picture == "t\(client.clientID)")
        #expect(pool.releaseWriter() == nil)
    }

    /// A statement with a new text is prepared beside the closed gate, or it could not write.
    @Test func preparingGoesOnWhileReadersLeave() throws {
        let (test, _, _) = try poolAtTheGate()
        #expect(test.pool.run(.checkpoint).isEmpty && test.pool.walStatus.isGateClosed)
        let request = test.pool.requestReader(test.member(), onlyToPrepare: true, deadline: .distantFuture)
        #expect(request.value != nil)
    }

    /// However many wait, nobody writes any more once the WAL has grown by a sixth beside the closed gate.
    @Test func theWALGrowsByASixthBesideTheGate() throws {
        let (test, index, rows) = try poolAtTheGate(groupMembers: 1)
        let pool = test.pool
        let first = test.member("INSERT INTO t VALUES(-1, -1)"), second = test.member("INSERT INTO t VALUES(-2, -2)")
        for member in [first, second] { _ = pool.requestWriter(member, .member, deadline: .distantFuture) }
        #expect(pool.run(.checkpoint).isEmpty)
        #expect(pool.releaseWriter()?.picture == "\(first.clientID)")
        let large = (1...20).map { "INSERT INTO t VALUES(\(rows + $0), hex(randomblob(2000)))" }
        #expect(pool.commitGroup([first, test.member(large[0])] + large[1...].map { test.member($0) }).count == 21)
        // Before the second, who came earlier.
        #expect(pool.releaseWriter()?.picture == "checkpoint")
        _ = pool.run(.checkpoint) { _ in
            _ = pool.releaseReader(index)
            return 1
        }
        #expect(pool.walStatus.frames == 0 && !pool.walStatus.isGateClosed)
        #expect(pool.releaseWriter()?.picture == "\(second.clientID)")
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
