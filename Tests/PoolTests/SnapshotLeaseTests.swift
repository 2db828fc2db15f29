import Testing

@testable import Pool
@testable import SQLite
@testable import Scheduling

@Suite struct SnapshotLeaseTests {
    private static let count = "SELECT count(*) FROM t"

    private func count(_ reader: Reader, _ test: TestPool) throws -> String {
        try reader.rows(Self.count, test.member())[0][0]
    }

    private func expectCount(_ expected: String, _ test: TestPool) throws {
        let found = try test.reading { try count($0, test) }
        #expect(found == expected)
    }

    /// A read that starts after a commit sees it: whoever committed, whichever reader reads, however often it has read.
    @Test(arguments: ["pool", "outsider", "both"])
    func aReadAfterACommitSeesIt(_ who: String) throws {
        let test = try TestPool()
        let outsider = try Outsider(test.path)
        for n in 1...30 {
            let insert = "INSERT INTO t VALUES(\(n), \(n))"
            if who == "pool" || (who == "both" && n % 2 == 0) {
                _ = test.run([test.member(insert)])
            } else {
                #expect(outsider.run(insert) == "[]")
            }
            // Two at once, so that both connections are used; then the one of them that comes first again.
            try test.reading { first in
                try test.reading { second in
                    let counts = try [count(first, test), count(second, test)]
                    #expect(counts == ["\(n)", "\(n)"])
                }
            }
            let third = try test.reading { try count($0, test) }
            #expect(third == "\(n)")
        }
    }

    ///     reader                          writer
    ///     leases a snapshot: 0 rows
    ///                                     INSERT
    ///     still sees 0 rows; is not the newest
    ///     refreshes: 1 row; is the newest
    @Test func aSnapshotStaysUntilItIsRefreshed() throws {
        let test = try TestPool()
        try test.reading { _ in }
        try test.reading { reader in
            #expect(try count(reader, test) == "0")
            #expect(reader.isNewest)
            _ = test.run([test.member("INSERT INTO t VALUES(1, 1)")])
            #expect(try count(reader, test) == "0")
            #expect(!reader.isNewest)
            try reader.refreshSnapshot(epoch: test.pool.leaseEpoch)
            #expect(try count(reader, test) == "1")
            #expect(reader.isNewest)
            reader.endSnapshot()
            #expect(!reader.isNewest)
            reader.endSnapshot()
        }
    }

    /// B11: the first snapshot of a connection that was just opened can be compared like any other.
    @Test func aReadersFirstSnapshot() throws {
        let test = try TestPool()
        try test.reading { reader in
            #expect(reader.isNewest)
            _ = test.run([test.member("INSERT INTO t VALUES(1, 1)")])
            #expect(!reader.isNewest)
        }
    }

    /// A transaction that was rolled back leaves every lease as it is.
    @Test func aRollbackChangesNothing() throws {
        let test = try TestPool()
        try test.reading { _ in }
        try test.reading { reader in
            try test.pool.writer.begin(test.member())
            try test.pool.writer.connection.executeInternal("INSERT INTO t VALUES(1, 1)")
            test.pool.writer.rollback()
            #expect(reader.isNewest)
        }
    }

    /// A lease that is reused is the old read transaction with its read mark in the WAL, so the WAL cannot restart; a
    /// new one after a complete checkpoint reads the file alone, and the WAL does. This tells the two apart.
    ///
    ///     reader                          writer
    ///     leases a snapshot
    ///                                     PASSIVE copies everything
    ///     refreshes with the same epoch (reused) or another (begun anew)
    ///                                     INSERT: after the frames there are, or at the beginning
    @Test(arguments: [(0, false), (1, true)])
    func anEqualHeaderReusesTheSnapshot(_ epochStep: Int, _ restarts: Bool) throws {
        let test = try TestPool()
        _ = test.run([test.member("INSERT INTO t VALUES(1, 1)")])
        try test.reading { _ in }
        try test.reading { reader in
            #expect(reader.isNewest)
            #expect(try test.pool.writer.checkpoint(.passive).isComplete)
            try reader.refreshSnapshot(epoch: test.pool.leaseEpoch + epochStep)
            #expect(reader.isNewest)
            let before = test.walFrames
            _ = test.run([test.member("INSERT INTO t VALUES(2, 2)")])
            #expect(restarts ? test.walFrames < before : test.walFrames > before)
            #expect(try count(reader, test) == "1")
        }
        try expectCount("2", test)
    }

    /// The pool's checkpoint changes the epoch itself when it copied everything.
    @Test func aCompleteCheckpointLetsTheWALRestart() throws {
        let test = try TestPool()
        for n in 1...20 { _ = test.run([test.member("INSERT INTO t VALUES(\(n), \(n))")]) }
        try test.reading { _ in }
        let epoch = test.pool.leaseEpoch
        #expect(test.pool.run(.checkpoint).isEmpty)
        #expect(test.pool.leaseEpoch == epoch + 1)
        let before = test.walFrames
        try expectCount("20", test)
        _ = test.run([test.member("INSERT INTO t VALUES(21, 21)")])
        #expect(test.walFrames < before)
        try expectCount("21", test)
    }

    /// An idle reader's old snapshot does not hold a checkpoint up; one that is in use does, until it ends.
    ///
    ///     reader                          writer
    ///     leases a snapshot
    ///                                     INSERT
    ///     [gives the reader back]
    ///                                     checkpoint: complete if it was given back
    ///     gives it back
    ///                                     checkpoint: complete
    @Test(arguments: [true, false])
    func idleSnapshotsEndBeforeACheckpoint(_ isIdle: Bool) throws {
        let test = try TestPool()
        let index = try #require(test.pool.requestReader(test.member(), deadline: .distantFuture).value)
        _ = try test.pool.reader(at: index)
        _ = test.run([test.member("INSERT INTO t VALUES(1, 1)")])
        let epoch = test.pool.leaseEpoch
        if isIdle { _ = test.pool.releaseReader(index) }
        _ = test.pool.run(.checkpoint)
        #expect(test.pool.leaseEpoch == (isIdle ? epoch + 1 : epoch))
        #expect((test.pool.writer.framesToCheckpoint == 0) == isIdle)
        if !isIdle { _ = test.pool.releaseReader(index) }
        _ = test.pool.run(.checkpoint)
        #expect(test.pool.writer.framesToCheckpoint == 0)
        try expectCount("1", test)
    }

    ///     reader 0                        pool
    ///     (idle)
    ///                                     checkpoint borrows it
    ///     while it is borrowed nobody waits: nothing is handed on, and both are there afterwards
    @Test func theCheckpointGivesReadersBack() throws {
        let test = try TestPool { $0.readers = 2 }
        try test.reading { _ in try test.reading { _ in } }
        _ = test.pool.run(.checkpoint)
        let clients = (1...3).map { _ in test.member() }
        let pictures = clients.map { test.pool.requestReader($0, deadline: .distantFuture).picture }
        #expect(pictures == ["granted", "granted", "parked"])
    }

    /// DDL of the pool or of another process: the next read has the new columns.
    @Test(arguments: ["pool", "outsider"])
    func aSchemaChangeIsSeen(_ who: String) throws {
        let test = try TestPool()
        let outsider = try Outsider(test.path)
        _ = test.run([test.member("INSERT INTO t VALUES(1, 'a')")])
        let all = text("SELECT * FROM t")
        func row() throws -> (row: [String], preparations: Int32) {
            try test.reading { reader in
                let lease = try reader.statement(for: all)
                defer { reader.giveBack(lease) }
                #expect(try lease.statement.step() == .row)
                return (lease.statement.row, lease.statement.preparations)
            }
        }
        #expect(try row() == (["1", "a"], 0))
        let change = "ALTER TABLE t ADD COLUMN w DEFAULT 'b'"
        if who == "pool" { _ = test.run([test.member(change)]) } else { outsider.run(change) }
        #expect(try row() == (["1", "a", "b"], 1))
        #expect(try row() == (["1", "a", "b"], 1))
    }

    /// What was announced to a client is compared once per preparation, not once per use.
    @Test func aDescriptionIsVerifiedOncePerPreparation() throws {
        let test = try TestPool()
        final class Description {}
        let description = Description()
        let all = text("SELECT * FROM t")
        func isVerified() throws -> Bool {
            try test.reading { reader in
                let lease = try reader.statement(for: all)
                defer { reader.giveBack(lease) }
                _ = try lease.statement.step()
                let was = lease.isVerified(for: description)
                lease.markVerified(for: description)
                #expect(!lease.isVerified(for: Description()))
                return was
            }
        }
        #expect(try [isVerified(), isVerified()] == [false, true])
        _ = test.run([test.member("ALTER TABLE t ADD COLUMN w")])
        #expect(try [isVerified(), isVerified()] == [false, true])
    }
}
