import Foundation
import Testing

@testable import Pool
@testable import SQLite
@testable import Scheduling

/// Files that are others, or away, in the very moment in which a connection is opened.
@Suite struct LostFilesTests {
    private let files = FileManager.default

    private func commit(_ ids: ClosedRange<Int>, _ test: TestPool) {
        for id in ids { _ = test.run([test.member("INSERT INTO t VALUES(\(id), \(id))")]) }
    }

    /// A database of one row beside the served one.
    private func backup(_ test: TestPool) throws -> String {
        let path = test.directory + "/backup.db"
        let connection = try Connection(path: path, mode: .readWrite, settings: ConnectionSettings())
        try connection.executeInternal("PRAGMA journal_mode = DELETE; CREATE TABLE t(id, v); INSERT INTO t VALUES(1000, 1000)")
        return path
    }

    private func replace(_ path: String, by other: String) throws { try #require(rename(other, path) == 0) }

    /// What a path leads to when it is looked at is not what SQLite has opened, although it may be read here besides.
    @Test(arguments: ["", "-wal", "-shm"], [true, false])
    func anotherFileThatComesWhileTheyAreOpened(_ name: String, _ isReadHere: Bool) throws {
        let test = try TestPool()
        commit(1...2, test)
        test.pool.close()
        let connection = try Connection(path: test.path, mode: .readWrite, settings: ConnectionSettings())
        try connection.executeInternal("SELECT count(*) FROM t")
        try Data(contentsOf: URL(fileURLWithPath: test.path + name)).write(to: URL(fileURLWithPath: test.path + ".copy"))
        var opened = OpenFiles(of: connection, walIndex: connection.walIndex())
        #expect(opened.problem() == nil)
        let reader = isReadHere ? FileHandle(forReadingAtPath: test.path + ".copy") : nil
        defer { try? reader?.close() }
        try replace(test.path + name, by: test.path + ".copy")
        opened = OpenFiles(of: connection, walIndex: connection.walIndex())
        #expect(opened.problem() != nil && opened.places.problem != nil)
    }

    /// It was deleted while the database was opened here, and another made: the two have no locks in common.
    @Test func aProcessWithAnotherIndex() throws {
        let test = try TestPool()
        let path = test.directory + "/other.db"
        func open() throws -> Connection {
            let connection = try Connection(path: path, mode: .readWrite, settings: ConnectionSettings())
            try connection.executeInternal("PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS t(x); SELECT count(*) FROM t")
            return connection
        }
        var connection = try open()
        let outsider = try Outsider(path)
        #expect(outsider.run("SELECT count(*) FROM t") == "[(0,)]")
        #expect(Pool.processWithAnotherIndex(DatabaseFiles(of: connection), withinMilliseconds: 0) == nil)
        connection = try Connection(path: ":memory:", mode: .readWrite, settings: ConnectionSettings())
        try files.removeItem(atPath: path + "-shm")
        connection = try open()
        #expect(Pool.processWithAnotherIndex(DatabaseFiles(of: connection), withinMilliseconds: 0) == outsider.number)
    }

    /// It would read the one's file with the other's -wal: it is closed before it has read anything.
    @Test func aReaderOfAnotherFile() throws {
        let test = try TestPool()
        let other = try backup(test)
        let files = test.pool.files
        var hasRead = false
        #expect(throws: SQLiteError.self) {
            _ = try files.open { (whenOpened) throws(SQLiteError) in
                _ = rename(test.path, test.path + ".away")
                _ = rename(other, test.path)
                let connection = try Connection(path: test.path, mode: .readOnly, settings: ConnectionSettings()) {
                    (connection) throws(SQLiteError) in
                    _ = rename(test.path, other)
                    _ = rename(test.path + ".away", test.path)
                    try whenOpened(connection)
                }
                hasRead = true
                return connection
            }
        }
        #expect(!hasRead && files.problem == nil)
    }

    /// SQLite would make one, and delete the -wal for it.
    @Test func nothingIsMadeInThePlaceOfAFileThatIsAway() throws {
        let test = try TestPool()
        commit(1...2, test)
        try files.moveItem(atPath: test.path, toPath: test.path + ".away")
        #expect(throws: SQLiteError.self) { try test.pool.openWriterAgain(test.pool.filesToOpenAgain()) }
        #expect(!files.fileExists(atPath: test.path) && files.fileExists(atPath: test.path + "-wal"))
        try files.moveItem(atPath: test.path + ".away", toPath: test.path)
        #expect(try test.lookFromOutside("SELECT count(*) FROM t") == [["2"]])
    }

    /// What the process before has committed is not lost either.
    @Test func aStartMakesNoneBesideCommits() throws {
        let test = try TestPool()
        commit(1...2, test)
        #expect(try !DatabaseFiles.isToBeMade(test.path))
        try files.moveItem(atPath: test.path, toPath: test.path + ".away")
        #expect(throws: SQLiteError.self) { try DatabaseFiles.isToBeMade(test.path) }
        try Pool.forgetCachedWAL(test.path, ConnectionSettings())
        #expect(!files.fileExists(atPath: test.path))
        #expect(try DatabaseFiles.isToBeMade(test.directory + "/new.db"))
    }

    /// It comes while nobody has the database open: the old -wal's frames are not for it, and they are not lost.
    @Test func anotherFileThatComesWhileTheDatabaseIsOpenedAgain() throws {
        let test = try TestPool()
        commit(1...2, test)
        let other = try backup(test)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: other))
        try files.moveItem(atPath: test.path, toPath: test.path + ".away")
        try replace(test.path, by: other)
        #expect(throws: SQLiteError.self) { try test.pool.openWriterAgain(test.pool.filesToOpenAgain()) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: test.path)) == bytes)
        #expect(try test.lookFromOutside("SELECT id FROM t") == [["1000"]])
        try replace(test.path, by: test.path + ".away")
        try replace(test.path + "-wal", by: test.path + "-wal.lost")
        #expect(try test.lookFromOutside("SELECT count(*) FROM t") == [["2"]])
    }

    /// A connection that fails while it is opened does not copy the -wal into a file it does not belong to.
    @Test func aDamagedFileThatComesWhileTheDatabaseIsOpenedAgain() throws {
        let test = try TestPool()
        commit(1...2, test)
        let letter = Data(repeating: UInt8(ascii: "x"), count: 8192)
        try files.moveItem(atPath: test.path, toPath: test.path + ".away")
        try letter.write(to: URL(fileURLWithPath: test.path))
        #expect(throws: SQLiteError.self) { try test.pool.openWriterAgain(test.pool.filesToOpenAgain()) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: test.path)) == letter)
        try replace(test.path, by: test.path + ".away")
        try replace(test.path + "-wal", by: test.path + "-wal.lost")
        #expect(try test.lookFromOutside("SELECT count(*) FROM t") == [["2"]])
    }

    /// They could not be found for a moment, and the next of them may be away when the database is opened again.
    @Test(arguments: PoolLimits.Durability.allCases)
    func nothingRestsOnTheWALAfterALossThatPasses(_ durability: PoolLimits.Durability) throws {
        let test = try TestPool { $0.durability = durability }
        commit(1...2, test)
        _ = test.pool.requestWriter(test.member(), .transaction, deadline: .distantFuture)
        test.pool.writer.note(DatabaseFiles.missingForAMoment)
        #expect(test.pool.releaseWriter()?.picture == "recovery")
        _ = test.pool.run(.recovery)
        #expect(test.ends.reasons.isEmpty)
        try files.copyItem(atPath: test.path, toPath: test.path + ".copy")
        let copy = try Connection(path: test.path + ".copy", mode: .readOnly, settings: ConnectionSettings())
        #expect(try copy.rows("SELECT count(*) FROM t") == [["2"]])
    }

    /// After an I/O error nothing is copied into the database, but what is only open ends with the process.
    @Test(arguments: PoolLimits.Durability.allCases)
    func aWALThatIsDeletedBeforeAnEndWithoutACheckpoint(_ durability: PoolLimits.Durability) throws {
        let test = try TestPool { $0.durability = durability }
        commit(1...2, test)
        let before = try Data(contentsOf: URL(fileURLWithPath: test.path))
        test.pool.writer.note(SQLiteError(extendedCode: 1034, message: "disk I/O error"))
        try files.removeItem(atPath: test.path + "-wal")
        test.pool.close()
        #expect(test.ends.reasons.isEmpty)
        #expect(try Data(contentsOf: URL(fileURLWithPath: test.path)) == before)
        #expect(try test.lookFromOutside("SELECT count(*) FROM t") == [["2"]])
    }

    /// Nobody else may use the writer while the daemon looks at what it leaves behind, beside a thread that goes on after all.
    @Test func anEndBesideThreadsThatGoOnHasTheWriterToItself() throws {
        let test = try TestPool()
        commit(1...2, test)
        #expect(test.pool.lossWithoutClosing() == nil)
        #expect(test.pool.requestWriter(test.member(), .transaction, deadline: .distantFuture).picture == "parked")
    }

    /// Who has the writer in a transaction that waits for its client does not look.
    @Test(arguments: PoolLimits.Durability.allCases, ["", "-wal"])
    func aBackupOfFilesThatWereWrittenOver(_ durability: PoolLimits.Durability, _ name: String) throws {
        let test = try TestPool { $0.durability = durability }
        let pool = test.pool
        #expect(try pool.writer.checkpoint(.truncate).isComplete)
        let older = try Data(contentsOf: URL(fileURLWithPath: test.path))
        commit(1...3, test)
        #expect(try pool.writer.checkpoint(.truncate).isComplete)
        commit(4...6, test)
        try pool.commitToSync()?.waitUntilDurable()
        #expect(pool.requestWriter(test.member(), .transaction, deadline: .distantFuture).picture == "granted")
        func back(_ copy: String) throws {
            _ = try pool.backups.make(copy, in: test.directory, for: test.member(), onCopy: { pool.lookIntoFiles().problem })
        }
        try back("before.db")
        try writeOver(test.path + name, name.isEmpty ? older : foreignWAL(test))
        do {
            try back("copy.db")
            Issue.record("a backup of two databases")
        } catch let error as BackupError {
            #expect("\(error)".contains("was written over while it was open"))
        }
        #expect(!files.fileExists(atPath: test.directory + "/copy.db"))
    }

    /// It ends before its recovery.
    @Test(arguments: [PoolLimits.Durability.full, .pipelined])
    func nothingIsCopiedOutOfAWALThatWasTruncated(_ durability: PoolLimits.Durability) throws {
        let test = try TestPool { $0.durability = durability }
        let pool = test.pool
        #expect(try pool.writer.checkpoint(.truncate).isComplete)
        let copied = try Data(contentsOf: URL(fileURLWithPath: test.path))
        commit(1...3, test)
        try pool.commitToSync()?.waitUntilDurable()
        try #require(truncate(test.path + "-wal", 0) == 0)
        let member = test.member("INSERT INTO t VALUES(4, 4)")
        _ = pool.requestWriter(member, .member, deadline: .distantFuture)
        _ = pool.commitGroup([member])
        if let commit = pool.commitToSync() {
            #expect(throws: SQLiteError.self) { try commit.waitUntilDurable() }
        } else {
            #expect(member.commitError?.isInputOutput == true)
        }
        pool.close()
        #expect(test.ends.reasons.count == 1 && test.ends.reasons[0].contains("-wal was truncated"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: test.path)) == copied)
    }

    /// A checkpoint that is just being made asks first, whoever makes it.
    @Test(arguments: PoolLimits.Durability.allCases)
    func nothingIsCopiedOutOfAWALThatWasWrittenOver(_ durability: PoolLimits.Durability) throws {
        let test = try TestPool { $0.durability = durability }
        let pool = test.pool
        #expect(try pool.writer.checkpoint(.truncate).isComplete)
        let copied = try Data(contentsOf: URL(fileURLWithPath: test.path))
        commit(1...3, test)
        let theirs = try foreignWAL(test)
        try writeOver(test.path + "-wal", theirs)
        for mode in [Connection.CheckpointMode.passive, .truncate] {
            #expect(throws: DatabaseFiles.writtenOverWAL) { try pool.writer.checkpoint(mode) }
        }
        pool.close()
        #expect(test.ends.reasons.count == 1 && test.ends.reasons[0].contains("-wal was written over by one of another database"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: test.path)) == copied)
        #expect(try Data(contentsOf: URL(fileURLWithPath: test.path + "-wal.lost")) == theirs)
        #expect(!files.fileExists(atPath: test.path + "-wal"))
    }

    /// It belongs to what comes next, and stays where it was put.
    @Test func aWALThatIsWrittenOverBeforeItsDatabaseComes() throws {
        let test = try TestPool()
        commit(1...3, test)
        let theirs = try foreignWAL(test)
        let other = try backup(test)
        try writeOver(test.path + "-wal", theirs)
        try replace(test.path, by: other)
        test.pool.close()
        #expect(test.ends.reasons.count == 1)
        #expect(try Data(contentsOf: URL(fileURLWithPath: test.path + "-wal")) == theirs)
    }

    /// What was in the -wal is for the file as it was, and the other database stays as it came.
    @Test(arguments: PoolLimits.Durability.allCases, [true, false])
    func aDatabaseThatIsWrittenOver(_ durability: PoolLimits.Durability, _ commits: Bool) throws {
        let test = try TestPool { $0.durability = durability }
        let pool = test.pool
        let theirs = try largerDatabase(test)
        #expect(try pool.writer.checkpoint(.truncate).isComplete)
        commit(1...3, test)
        try pool.commitToSync()?.waitUntilDurable()
        try writeOver(test.path, theirs)
        if commits {
            let member = test.member("INSERT INTO t VALUES(4, 4)")
            _ = pool.requestWriter(member, .member, deadline: .distantFuture)
            _ = pool.commitGroup([member])
            if let commit = pool.commitToSync() {
                #expect(throws: DatabaseFiles.writtenOver) { try commit.waitUntilDurable() }
            } else {
                #expect(member.commitError == DatabaseFiles.writtenOver)
            }
        } else {
            #expect(throws: DatabaseFiles.writtenOver) { try pool.writer.checkpoint(.passive) }
        }
        pool.close()
        #expect(test.ends.reasons.count == 1 && test.ends.reasons[0].contains("was written over"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: test.path)) == theirs)
        #expect(!files.fileExists(atPath: test.path + "-wal") && files.fileExists(atPath: test.path + "-wal.lost"))
        #expect(try test.lookFromOutside("SELECT id FROM t LIMIT 1") == [["1000"]])
    }

    /// Nobody commits: the timer notices it.
    @Test(arguments: PoolLimits.Durability.allCases, ["", "-wal"])
    func aFileThatIsWrittenOverWhileNobodyCommits(_ durability: PoolLimits.Durability, _ name: String) throws {
        let test = try TestPool { $0.durability = durability }
        commit(1...3, test)
        try test.pool.commitToSync()?.waitUntilDurable()
        #expect(test.pool.lookAtFiles(now: MonotonicClock.now) == nil)
        try writeOver(test.path + name, name.isEmpty ? largerDatabase(test) : foreignWAL(test))
        #expect(test.pool.lookAtFiles(now: MonotonicClock.now)?.picture == "recovery")
        _ = test.pool.run(.recovery)
        #expect(test.ends.reasons.count == 1 && test.ends.reasons[0].contains("was written over"))
    }

    /// The commit begins the -wal anew, and so looks as if somebody had checkpointed meanwhile.
    @Test(arguments: PoolLimits.Durability.allCases)
    func aDatabaseThatIsWrittenOverBeforeTheFirstCommit(_ durability: PoolLimits.Durability) throws {
        let test = try TestPool { $0.durability = durability }
        commit(1...3, test)
        #expect(try test.pool.writer.checkpoint(.passive).isComplete)
        try writeOver(test.path, largerDatabase(test))
        #expect(throws: DatabaseFiles.writtenOver) { try test.pool.writer.begin(test.member()) }
        #expect(test.pool.writer.failure == DatabaseFiles.writtenOver)
    }

    /// Its time has changed, and what a checkpoint has put there besides: nobody has written over it.
    @Test(arguments: PoolLimits.Durability.allCases)
    func aDatabaseThatIsOnlyTouched(_ durability: PoolLimits.Durability) throws {
        let test = try TestPool { $0.durability = durability }
        let outsider = try Outsider(test.path)
        for round in 1...4 {
            commit(round * 10...round * 10 + 2, test)
            try test.pool.commitToSync()?.waitUntilDurable()
            utimes(test.path, nil)
            if round > 1 { #expect(try test.pool.writer.checkpoint(round == 2 ? .passive : .truncate).isComplete) }
            utimes(test.path, nil)
            if round > 2 {
                commit(round * 10 + 3...round * 10 + 4, test)
                try test.pool.commitToSync()?.waitUntilDurable()
                test.pool.writer.endSnapshot()
                #expect(outsider.run("PRAGMA wal_checkpoint").hasPrefix("[(0"))
                utimes(test.path, nil)
            }
            #expect(test.pool.writer.knownFiles.problemOfCopying == nil)
        }
        commit(50...52, test)
        try test.pool.commitToSync()?.waitUntilDurable()
        #expect(try test.lookFromOutside("SELECT count(*) FROM t") == [["19"]])
    }

    /// One that is longer than a test's.
    private func largerDatabase(_ test: TestPool) throws -> Data {
        let path = test.directory + "/larger.db"
        let connection = try Connection(path: path, mode: .readWrite, settings: ConnectionSettings())
        try connection.executeInternal(
            "PRAGMA journal_mode = DELETE; CREATE TABLE t(id, v); INSERT INTO t VALUES(1000, randomblob(300000))")
        return try Data(contentsOf: URL(fileURLWithPath: path))
    }

    /// The content of a -wal of another database, with more frames than a test commits.
    private func foreignWAL(_ test: TestPool) throws -> Data {
        let path = test.directory + "/foreign.db"
        let connection = try Connection(path: path, mode: .readWrite, settings: ConnectionSettings())
        try connection.executeInternal("PRAGMA journal_mode = WAL; CREATE TABLE t(id, v)")
        for id in 1...200 { try connection.executeInternal("INSERT INTO t VALUES(\(id), randomblob(5000))") }
        return try Data(contentsOf: URL(fileURLWithPath: path + "-wal"))
    }

    /// As `cp` does: it stays the same file.
    private func writeOver(_ path: String, _ bytes: Data) throws {
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: bytes)
        try file.close()
    }
}
