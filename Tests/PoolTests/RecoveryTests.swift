import Foundation
import Testing

@testable import Pool
@testable import SQLite
@testable import Scheduling

@Suite struct RecoveryTests {
    private static let failure = SQLiteError(extendedCode: 1034, message: "disk I/O error")

    ///     1 commits; then the writer is found to have failed; 2 waits; 3 has a reader
    ///     1 releases                          -> recovery, before 2
    ///     the gate closes, 3 is ended, everything is opened again
    ///     recovery releases                   -> 2, on the new writer
    @Test func everythingIsOpenedAgain() throws {
        let test = try TestPool { $0.gateMilliseconds = 10 }
        let pool = test.pool
        let members = [test.member("INSERT INTO t VALUES(1, 1)"), test.member("INSERT INTO t VALUES(2, 2)")]
        let index = try #require(pool.requestReader(test.member(), deadline: .distantFuture).value)
        _ = try pool.reader(at: index).rows("SELECT count(*) FROM t", test.member())
        _ = pool.requestWriter(members[0], .member, deadline: .distantFuture)
        _ = pool.requestWriter(members[1], .member, deadline: .distantFuture)
        _ = pool.commitGroup([members[0]])
        weak let old = pool.writer
        pool.writer.note(Self.failure)
        #expect(pool.releaseWriter()?.picture == "recovery")
        let resumptions = pool.run(.recovery) { _ in
            _ = pool.releaseReader(index)
            return 1
        }
        #expect(resumptions.isEmpty)
        #expect(old == nil && pool.writer.failure == nil)
        #expect(test.ends.reasons.isEmpty)
        #expect(pool.releaseWriter()?.picture == "2")
        #expect(pool.commitGroup([members[1]]).count == 1 && members[1].succeeded)
        #expect(pool.releaseWriter() == nil)
        #expect(try test.reading { try $0.rows("SELECT count(*) FROM t", test.member()) } == [["2"]])
    }

    /// Who holds the writer while a sync fails, and whether who is told of that, and looks, waits until the database is open again.
    enum Holder: CaseIterable { case group, longGroup, transaction, checkpoint, maintenance, nobody }

    ///     1 commits; 2 or a job has the writer
    ///     the sync of 1's commit fails: 1 is told, and looks      -> waits, unless the holder may take any time
    ///     the holder releases                                     -> recovery
    ///     recovery releases                                       -> 1 looks
    @Test(arguments: Holder.allCases) func whoIsToldOfAFailedSyncLooks(_ holder: Holder) throws {
        let test = try TestPool { $0.durability = .pipelined }
        let pool = test.pool
        let members = [test.member("INSERT INTO t VALUES(1, 1)"), test.member("INSERT INTO t VALUES(2, 2)")]
        _ = pool.requestWriter(members[0], .member, deadline: .distantFuture)
        _ = pool.commitGroup([members[0]])
        let commit = try #require(pool.commitToSync())
        #expect(pool.releaseWriter() == nil)
        switch holder {
        case .group, .longGroup: #expect(pool.requestWriter(members[1], .member, deadline: .distantFuture).value != nil)
        case .transaction: #expect(pool.requestWriter(members[1], .transaction, deadline: .distantFuture).value != nil)
        case .checkpoint: #expect(pool.requestCheckpoint()?.picture == "checkpoint")
        case .maintenance: #expect(pool.requestMaintenance(now: MonotonicClock.now)?.picture == "maintenance")
        case .nobody: break
        }
        if holder == .longGroup { #expect(pool.openGateWhileReadersLeave().isEmpty) }
        #expect(pool.syncFailed(commit)?.picture == (holder == .nobody ? "recovery" : nil))
        let looks = [.group, .checkpoint, .nobody].contains(holder) ? "parked" : "granted"
        let request = pool.requestReader(members[0], deadline: .distantFuture)
        #expect(request.picture == looks)
        if let index = request.value { _ = pool.releaseReader(index) }
        // What turns out to be long keeps readers no more than what was long before.
        if holder == .group { #expect(pool.openGateWhileReadersLeave().count == 1) }
        if holder == .checkpoint { #expect(pool.run(.checkpoint).isEmpty) }
        if holder != .nobody { #expect(pool.releaseWriter()?.picture == "recovery") }
        #expect(pool.requestReader(test.member(), deadline: .distantFuture).picture == "parked")
    }

    /// An I/O error inside a member ends SQLite's transaction. The others have not been answered, so they are run again,
    /// but not on this connection.
    @Test func theOthersOfAGroupWaitForTheNewWriter() throws {
        let test = try TestPool()
        let pool = test.pool
        let members = [test.member("INSERT INTO t VALUES(1, 1)"), test.member(), test.member("INSERT INTO t VALUES(3, 3)")]
        members[1].onRun = {
            pool.writer.rollback()
            pool.writer.note(Self.failure)
        }
        let result = test.run(members)
        #expect(result.finished.map(\.clientID) == [2])
        #expect(result.postponed.map(\.clientID) == [1, 3])
        #expect(members[0].rewinds == 1 && members[2].runs == 0)
        #expect(try test.lookFromOutside("SELECT count(*) FROM t") == [["0"]])
    }

    /// A commit whose file cannot be found again is not acknowledged, and there is nothing to go on with.
    @Test func aReplacedDatabase() throws {
        let test = try TestPool()
        let pool = test.pool
        let member = test.member("INSERT INTO t VALUES(1, 1)")
        try FileManager.default.moveItem(atPath: test.path, toPath: test.path + ".old")
        _ = pool.requestWriter(member, .member, deadline: .distantFuture)
        _ = pool.commitGroup([member])
        #expect(member.commitError?.isInputOutput == true)
        #expect(pool.releaseWriter()?.picture == "recovery")
        _ = pool.run(.recovery)
        #expect(test.ends.reasons.count == 1 && test.ends.reasons[0].contains("moved, replaced or deleted"))
    }

    /// Nor is anything of it left for the file that comes in its place, although the writer keeps a snapshot, and although it may end
    /// before its recovery.
    @Test(arguments: [true, false], [true, false])
    func aDatabaseThatIsMovedAfterACommit(_ closes: Bool, _ commitsMore: Bool) throws {
        let test = try TestPool()
        let pool = test.pool
        let member = test.member("INSERT INTO t VALUES(1, 1)")
        _ = test.run([member])
        #expect(member.succeeded && pool.writer.keepsSnapshot)
        try FileManager.default.moveItem(atPath: test.path, toPath: test.path + ".old")
        if commitsMore {
            _ = pool.requestWriter(member, .member, deadline: .distantFuture)
            _ = pool.commitGroup([test.member("INSERT INTO t VALUES(2, 2)")])
            #expect(pool.hasWriterFailed)
        }
        if closes {
            pool.close()
        } else if commitsMore {
            #expect(pool.releaseWriter()?.picture == "recovery")
            _ = pool.run(.recovery)
        } else {
            #expect(pool.lookAtFiles(now: MonotonicClock.now)?.picture == "recovery")
            _ = pool.run(.recovery)
        }
        #expect(test.ends.reasons.count == 1)
        #expect(try FileManager.default.attributesOfItem(atPath: test.path + "-wal")[.size] as? Int == 0)
    }

    /// A file that has lost its end is noticed, too.
    @Test(arguments: [PoolLimits.Durability.full, .pipelined])
    func aTruncatedDatabase(_ durability: PoolLimits.Durability) throws {
        let test = try TestPool { $0.durability = durability }
        let pool = test.pool
        #expect(try pool.writer.checkpoint(.truncate).isComplete)
        try #require(truncate(test.path, 4096) == 0)
        let member = test.member("INSERT INTO t VALUES(1, 1)")
        _ = pool.requestWriter(member, .member, deadline: .distantFuture)
        _ = pool.commitGroup([member])
        if let commit = pool.commitToSync() {
            #expect(throws: SQLiteError.self) { try commit.waitUntilDurable() }
            #expect(pool.syncFailed(commit) == nil)
        } else {
            // It is the first commit after a checkpoint, and was not begun.
            #expect(member.refusal?.error == DatabaseFiles.truncated)
        }
        #expect(pool.releaseWriter()?.picture == "recovery")
    }

    /// The daemon's own checkpoint after a VACUUM makes the file shorter, and that is no loss.
    @Test func aFileShortenedByACheckpoint() throws {
        let test = try TestPool()
        let pool = test.pool
        let connection = pool.writer.connection
        try connection.executeInternal("CREATE TABLE filler(x); INSERT INTO filler VALUES(zeroblob(100000))")
        #expect(try pool.writer.checkpoint(.truncate).isComplete)
        let long = try FileManager.default.attributesOfItem(atPath: test.path)[.size] as? Int ?? 0
        for id in 1...2 {
            let member = test.member("INSERT INTO t VALUES(\(id), \(id))")
            _ = pool.requestWriter(member, .member, deadline: .distantFuture)
            _ = pool.commitGroup([member])
            #expect(member.succeeded)
            #expect(pool.releaseWriter() == nil)
            pool.writer.endSnapshot()
            try connection.executeInternal("DROP TABLE IF EXISTS filler; VACUUM")
            #expect(try pool.writer.checkpoint(.truncate).isComplete)
        }
        #expect(try FileManager.default.attributesOfItem(atPath: test.path)[.size] as? Int ?? 0 < long)
    }

    /// The -wal is deleted: the commit is not acknowledged, but everything committed is copied before it is closed.
    @Test func aDeletedWAL() throws {
        let test = try TestPool()
        let pool = test.pool
        for id in 1...3 {
            let member = test.member("INSERT INTO t VALUES(\(id), \(id))")
            _ = pool.requestWriter(member, .member, deadline: .distantFuture)
            _ = pool.commitGroup([member])
            #expect(member.succeeded == (id < 3) && (member.commitError != nil) == (id == 3))
            let next = pool.releaseWriter()
            #expect(next?.picture == (id == 3 ? "recovery" : nil))
            if id == 2 { try FileManager.default.removeItem(atPath: test.path + "-wal") }
        }
        #expect(pool.run(.recovery).isEmpty)
        #expect(test.ends.reasons.isEmpty)
        #expect(pool.releaseWriter() == nil)
        #expect(try test.reading { try $0.rows("SELECT count(*) FROM t", test.member()) } == [["3"]])
        #expect(try test.lookFromOutside("SELECT count(*) FROM t") == [["3"]])
    }

    /// With synchronous = pipelined the writer may be anybody's when a sync fails.
    @Test func aFailedSync() throws {
        let test = try TestPool { $0.durability = .pipelined }
        let pool = test.pool
        func commit() throws -> UnsyncedCommit { try #require(pool.commitToSync()) }
        #expect(pool.requestWriter(test.member(), .transaction, deadline: .distantFuture).picture == "granted")
        let first = try commit(), second = try commit()
        #expect(pool.releaseWriter() == nil)
        #expect(pool.syncFailed(first)?.picture == "recovery")
        #expect(pool.syncFailed(second) == nil)
        #expect(pool.run(.recovery).isEmpty)
        #expect(pool.releaseWriter() == nil)
        // One that hears of it late does not have the new writer opened again.
        #expect(pool.syncFailed(second) == nil)
        #expect(pool.requestWriter(test.member(), .transaction, deadline: .distantFuture).picture == "granted")
        #expect(pool.syncFailed(try commit()) == nil)
        #expect(pool.releaseWriter()?.picture == "recovery")
        #expect(test.ends.reasons.isEmpty)
    }

    /// What the writer has in its WAL then must not be copied into the database.
    @Test func recoveryComesBeforeTheGate() throws {
        let test = try TestPool { limits in
            limits.walLimitBytes = 16 * 4120
            limits.checkpointFrames = 4
        }
        let pool = test.pool
        let holder = test.member()
        _ = pool.requestWriter(holder, .transaction, deadline: .distantFuture)
        try pool.writer.connection.executeInternal(
            "CREATE TABLE big(x);"
                + "INSERT INTO big SELECT randomblob(4000) FROM json_each('[\(Array(repeating: "1", count: 40).joined(separator: ","))]')")
        pool.writer.note(Self.failure)
        #expect(pool.releaseWriter()?.picture == "recovery")
    }

    /// The members that run again one by one stop at the first error of that kind. So does the one that has ended their transaction: its
    /// own error may come of what they had written.
    @Test func nothingElseIsCommittedAfterAnError() throws {
        let test = try TestPool()
        let pool = test.pool
        let members = [
            test.member("INSERT INTO t VALUES(1, 1)"), test.member("INSERT INTO t VALUES(2, 2)"),
            test.member("INSERT INTO tripwire VALUES(1)"),
        ]
        members[0].onRun = { if members[0].rewinds == 1 { pool.writer.note(Self.failure) } }
        let result = test.run(members)
        #expect(result.postponed.map(\.clientID) == [2, 3])
        #expect(members[0].commitError != nil)
        #expect(try test.lookFromOutside("SELECT count(*) FROM t") == [["0"]])
    }

    /// Everything could be copied, only the emptying meets a reader of another process: nobody waits for that, neither clients nor a stop.
    @Test(arguments: [false, true]) func aDeletedWALWithAnOutsiderThatReads(_ closes: Bool) throws {
        let test = try TestPool { $0.gateGraceMilliseconds = 3_600_000 }
        let pool = test.pool
        let outsider = try Connection(path: test.path, mode: .readOnly, settings: ConnectionSettings())
        for id in 1...3 {
            let member = test.member("INSERT INTO t VALUES(\(id), \(id))")
            _ = pool.requestWriter(member, .member, deadline: .distantFuture)
            if id == 3 {
                try FileManager.default.removeItem(atPath: test.path + "-wal")
            }
            _ = pool.commitGroup([member])
            // It has the -wal open before that is deleted, and a snapshot of all that is in it.
            if id == 2 { try outsider.executeInternal("SELECT count(*) FROM t") }
            if id == 3 { try outsider.executeInternal("BEGIN; SELECT count(*) FROM t") }
            _ = pool.releaseWriter()
        }
        if closes { pool.close() } else { _ = pool.run(.recovery) }
        #expect(test.ends.reasons == [])
        #expect(try test.lookFromOutside("SELECT count(*) FROM t") == [["3"]])
    }

    /// What the outsider writes stands behind what was committed: that much is saved although it does not end.
    @Test(arguments: PoolLimits.Durability.allCases)
    func aDeletedWALWithAnOutsiderThatWrites(_ durability: PoolLimits.Durability) throws {
        let test = try TestPool { limits in
            limits.durability = durability
            limits.gateGraceMilliseconds = 50
        }
        let pool = test.pool
        // Who opens the database then finds its first page there.
        #expect(try pool.writer.checkpoint(.truncate).isComplete)
        _ = test.run([test.member("INSERT INTO t VALUES(1, 1)")])
        try pool.commitToSync()?.waitUntilDurable()
        pool.writer.endSnapshot()
        try FileManager.default.removeItem(atPath: test.path + "-wal")
        let outsider = try Outsider(test.path)
        #expect(outsider.run("BEGIN IMMEDIATE") == "[]")
        pool.close()
        #expect(test.ends.reasons.count == 1 && test.ends.reasons[0].contains("what was committed is in"))
        #expect(outsider.run("INSERT INTO parent VALUES(2)") == "[]" && outsider.run("COMMIT") == "[]")
        let copy = test.directory + "/copy.db"
        for name in ["", "-wal"] { try FileManager.default.copyItem(atPath: test.path + name, toPath: copy + name) }
        let saved = try Connection(path: copy, mode: .readOnly, settings: ConnectionSettings())
        #expect(try saved.rows("SELECT id FROM t") == [["1"]])
        #expect(try saved.rows("SELECT id FROM parent") == [["2"]])
    }

    /// SQLite asks the progress handler when a statement has done everything, too, and counts the steps of all its runs
    /// together: so sooner or later BEGIN IMMEDIATE is called interrupted after it has taken the lock.
    @Test func aBeginThatIsStoppedLateLeavesNoTransaction() throws {
        let test = try TestPool()
        let owner = test.member()
        owner.whileRunning = { _ in .cancelled }
        var stopped = 0
        for _ in 0..<3_000 {
            do { try test.pool.writer.begin(owner) } catch { stopped += 1 }
            if test.pool.writer.stopReason != nil { #expect(test.pool.writer.connection.isAutocommit) }
            test.pool.writer.rollback()
        }
        #expect(stopped > 0)
    }

    /// The timer may have looked while a member that goes back to the queue was in none.
    @Test func aPostponedMembersDeadlineIsAnnounced() throws {
        let test = try TestPool { $0.groupMilliseconds = 0 }
        let pool = test.pool
        let members = [test.member("INSERT INTO t VALUES(1, 1)"), test.member("INSERT INTO t VALUES(2, 2)")]
        let deadline = MonotonicClock.now.advanced(byMilliseconds: 60_000)
        members[1].waitDeadline = deadline
        _ = pool.requestWriter(members[0], .member, deadline: .distantFuture)
        _ = pool.commitGroup(members)
        #expect(test.observer.announced.contains(deadline))
    }
}
