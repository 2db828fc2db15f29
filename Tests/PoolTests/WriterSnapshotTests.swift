import Testing

@testable import Pool
@testable import SQLite
@testable import Scheduling

/// The writer keeps its read transaction over its commits.
@Suite struct WriterSnapshotTests {
    private func insert(_ number: Int, _ test: TestPool) -> FakeMember {
        let member = test.member("INSERT INTO t VALUES(\(number), \(number))")
        _ = test.run([member])
        return member
    }

    /// It is the same one for as long as nothing calls for another: what a read transaction has read it marks, and the mark
    /// keeps checkpoints of others from copying what came after.
    @Test func oneReadTransactionIsBehindManyCommits() throws {
        let test = try TestPool()
        let outsider = try Outsider(test.path)
        for number in 1...20 {
            #expect(insert(number, test).succeeded && test.pool.writer.keepsSnapshot)
        }
        let frames = test.walFrames
        #expect(frames > 20)
        #expect(outsider.run("PRAGMA wal_checkpoint(PASSIVE)") != "[(0, \(frames), \(frames))]")
        test.pool.writer.endSnapshot()
        #expect(outsider.run("PRAGMA wal_checkpoint(PASSIVE)") == "[(0, \(frames), \(frames))]")
    }

    ///     outsider            writer
    ///                         1 commits and keeps its snapshot
    ///     INSERT, UPDATE
    ///                         2 begins: the snapshot is an old one
    ///                         2 sees what the outsider wrote, and commits
    @Test func anOutsidersCommitIsSeenByTheNext() throws {
        let test = try TestPool()
        let outsider = try Outsider(test.path)
        #expect(insert(1, test).succeeded)
        #expect(outsider.run("INSERT INTO t VALUES(2, 'outside')") == "[]")
        #expect(outsider.run("UPDATE t SET v = 'changed' WHERE id = 1") == "[]")
        let reads = test.member("SELECT id, v FROM t", "INSERT INTO t SELECT id + 10, v || '!' FROM t")
        _ = test.run([reads])
        #expect(reads.succeeded && reads.rows == [["1", "changed"], ["2", "outside"]])
        #expect(test.pool.writer.keepsSnapshot)
        #expect(try test.lookFromOutside("SELECT count(*) FROM t") == [["4"]])
    }

    /// So is another schema.
    @Test func anOutsidersSchemaIsSeenByTheNext() throws {
        let test = try TestPool()
        let outsider = try Outsider(test.path)
        #expect(insert(1, test).succeeded)
        #expect(outsider.run("ALTER TABLE t ADD COLUMN w DEFAULT 'new'") == "[]")
        let reads = test.member("SELECT * FROM t", "INSERT INTO t VALUES(2, 2, 'own')")
        _ = test.run([reads])
        #expect(reads.succeeded && reads.rows == [["1", "1", "new"]])
    }

    ///     outsider            writer
    ///                         1 commits and keeps its snapshot
    ///     BEGIN IMMEDIATE
    ///                         2 waits, asked again and again by the busy handler
    ///     COMMIT
    ///                         2 commits
    @Test func anOutsidersLockIsWaitedFor() throws {
        let test = try TestPool()
        let outsider = try Outsider(test.path)
        #expect(insert(1, test).succeeded)
        #expect(outsider.run("BEGIN IMMEDIATE") == "[]")
        let waits = test.member("INSERT INTO t VALUES(2, 2)")
        var asked = 0
        waits.whileWaiting = { number in
            asked = number
            if number == 3 { #expect(outsider.run("COMMIT") == "[]") }
            return nil
        }
        _ = test.run([waits])
        #expect(waits.succeeded && asked >= 3)
    }

    @Test func whoWaitsNoLongerLeavesTheWriterAsItWas() throws {
        let test = try TestPool()
        let outsider = try Outsider(test.path)
        #expect(insert(1, test).succeeded)
        outsider.run("BEGIN IMMEDIATE")
        let impatient = test.member("INSERT INTO t VALUES(2, 2)")
        impatient.whileWaiting = { _ in .lockTimeout }
        _ = test.run([impatient])
        #expect(impatient.refusal?.reason == .lockTimeout && !test.pool.writer.keepsSnapshot)
        outsider.run("COMMIT")
        #expect(insert(3, test).succeeded && test.pool.writer.keepsSnapshot)
    }

    /// A checkpoint comes after it, and copies everything; the WAL begins anew with the next commit.
    @Test func checkpointsCopyEverything() throws {
        let test = try TestPool()
        for number in 1...20 { #expect(insert(number, test).succeeded) }
        #expect(try test.pool.writer.checkpoint(.passive).isComplete)
        #expect(!test.pool.writer.keepsSnapshot)
        let before = test.walFrames
        #expect(insert(21, test).succeeded)
        #expect(test.walFrames < before)
        #expect(try test.pool.writer.checkpoint(.truncate) == Connection.Checkpoint(isBusy: false, frames: 0, copiedFrames: 0))
    }

    /// What the connection must have to itself it has, also in the middle of a transaction.
    @Test(arguments: ["DROP TABLE tripwire", "ALTER TABLE t DROP COLUMN w", "CREATE INDEX i ON t(w)", "REINDEX t"])
    func itEndsInsideATransaction(_ definition: String) throws {
        let test = try TestPool()
        let writer = test.pool.writer
        try writer.connection.executeInternal("ALTER TABLE t ADD COLUMN w")
        let member = test.member()
        for isCommitted in [false, true] {
            let before = test.member("UPDATE t SET w = 0")
            _ = test.run([before])
            #expect(before.succeeded && writer.keepsSnapshot)
            try writer.begin(member)
            try writer.rows("INSERT INTO t(id, v) VALUES(2, 2)", member)
            writer.endSnapshot()
            try writer.rows(definition, member)
            if isCommitted { try writer.commit() } else { writer.rollback() }
            #expect(writer.connection.isAutocommit && !writer.keepsSnapshot)
            let expected: [[String]] = isCommitted ? [["2"]] : []
            #expect(try test.lookFromOutside("SELECT id FROM t") == expected)
        }
        let again = test.member("INSERT INTO t(id, v) VALUES(3, 3)")
        _ = test.run([again])
        #expect(again.succeeded && writer.keepsSnapshot)
    }

    /// A transaction that is undone, by its owner or by SQLite itself, leaves nothing that the next could meet.
    @Test(arguments: ["INSERT INTO t VALUES(1, 1)", "INSERT INTO tripwire VALUES(1)", "INSERT OR ROLLBACK INTO t VALUES(1, 1)"])
    func afterAFailureTheNextBeginsAnew(_ sql: String) throws {
        let test = try TestPool()
        #expect(insert(1, test).succeeded)
        let writer = test.pool.writer
        let member = test.member()
        try writer.begin(member)
        #expect(throws: SQLiteError.self) { try writer.rows(sql, member) }
        writer.rollback()
        #expect(writer.connection.isAutocommit && !writer.keepsSnapshot)
        #expect(insert(2, test).succeeded && writer.keepsSnapshot)
        #expect(try test.lookFromOutside("SELECT count(*) FROM t") == [["2"]])
    }

    // MARK: It is not kept for long

    /// One transaction through the queue; returns what was granted next.
    private func commit(_ member: FakeMember, _ pool: Pool) -> String? {
        #expect(pool.requestWriter(member, .member, deadline: .distantFuture).picture == "granted")
        _ = pool.commitGroup([member])
        return pool.releaseWriter()?.picture
    }

    @Test func itsEndIsAnnouncedOnce() throws {
        let test = try TestPool()
        let pool = test.pool
        for number in 1...3 { #expect(commit(test.member("INSERT INTO t VALUES(\(number), 0\(number))"), pool) == nil) }
        let end = pool.writerSnapshotEnd
        #expect(pool.writer.keepsSnapshot && test.observer.announced == [end])
        #expect(pool.endWriterSnapshot() == nil)
        #expect(!pool.writer.keepsSnapshot && pool.writerSnapshotEnd.nanoseconds == .max)
        #expect(commit(test.member("INSERT INTO t VALUES(4, 4)"), pool) == nil)
        #expect(pool.writer.keepsSnapshot && test.observer.announced == [end, pool.writerSnapshotEnd])
    }

    ///     timer                        writer
    ///                                  1 commits
    ///                                  2 begins
    ///     the snapshot shall end
    ///                                  2 releases: it ends
    @Test func whoHasTheWriterEndsIt() throws {
        let test = try TestPool()
        let pool = test.pool
        #expect(commit(test.member("INSERT INTO t VALUES(1, 1)"), pool) == nil)
        let second = test.member("INSERT INTO t VALUES(2, 2)")
        #expect(pool.requestWriter(second, .member, deadline: .distantFuture).picture == "granted")
        #expect(pool.endWriterSnapshot() == nil && pool.writer.keepsSnapshot)
        _ = pool.commitGroup([second])
        #expect(second.succeeded && pool.writer.keepsSnapshot)
        #expect(pool.releaseWriter() == nil && !pool.writer.keepsSnapshot)
    }

    ///     timer                        writer
    ///                                  1 commits; the next group gathers
    ///     the snapshot shall end: looks again later
    ///                                  the gathering is over, and nobody came
    ///     looks again: it ends
    @Test func itEndsWhenNothingCameOfAGathering() throws {
        let test = try TestPool()
        let pool = test.pool
        let member = test.member("INSERT INTO t VALUES(1, 1)")
        #expect(pool.requestWriter(member, .member, deadline: .distantFuture).picture == "granted")
        _ = pool.commitGroup([member])
        #expect(pool.releaseWriter(gathering: GroupGathering.Plan(members: 2, nanoseconds: 1, answered: 1)) == nil)
        #expect(pool.endWriterSnapshot() == nil && pool.writer.keepsSnapshot && pool.writerSnapshotEnd.nanoseconds != .max)
        #expect(pool.endGathering() == nil && pool.gatheringEnd == nil)
        #expect(pool.endWriterSnapshot() == nil && !pool.writer.keepsSnapshot && pool.writerSnapshotEnd.nanoseconds == .max)
    }

    @Test func aPauseEndsIt() throws {
        let test = try TestPool()
        #expect(commit(test.member("INSERT INTO t VALUES(1, 1)"), test.pool) == nil)
        #expect(test.pool.beginPause(by: 100))
        #expect(test.pool.completePause(by: 100, nobodyPasses: true)?.isComplete == true)
        #expect(!test.pool.writer.keepsSnapshot)
    }
}
