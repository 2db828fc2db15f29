import CSQLite
import Foundation
import Testing

@testable import SQLite

@Suite struct WALIndexTests {
    static let schema = "CREATE TABLE t(a); INSERT INTO t VALUES(1)"

    ///     reader                     writer
    ///     copy, SELECT: matches
    ///                                BEGIN, INSERT: still matches
    ///                                ROLLBACK: still matches
    ///                                INSERT
    ///     no longer matches
    ///     copy, SELECT: matches
    @Test func matchesUntilACommitOfThisProcess() throws {
        let database = try TemporaryDatabase(Self.schema)
        let reader = try database.open(.readOnly)
        let writer = try database.open()
        try reader.value("SELECT count(*) FROM t")
        let index = try #require(reader.walIndex())
        let first = index.copyHeader()
        #expect(try reader.value("SELECT count(*) FROM t") == "1")
        #expect(index.matches(first))

        try writer.executeInternal("BEGIN; INSERT INTO t VALUES(2)")
        #expect(index.matches(first))
        try writer.executeInternal("ROLLBACK")
        #expect(index.matches(first))

        try writer.rows("INSERT INTO t VALUES(2)")
        #expect(!index.matches(first))
        let second = index.copyHeader()
        #expect(second != first)
        #expect(try reader.value("SELECT count(*) FROM t") == "2")
        #expect(index.matches(second))
        #expect(!index.matches(WALIndex.Header()))
        // Every connection sees the same header.
        #expect(try #require(writer.walIndex()).copyHeader() == second)
    }

    @Test func seesACommitOfAnotherProcess() throws {
        let database = try TemporaryDatabase(Self.schema)
        let reader = try database.open(.readOnly)
        try reader.value("SELECT count(*) FROM t")
        let index = try #require(reader.walIndex())
        let outsider = try Outsider(database)
        let header = index.copyHeader()
        #expect(outsider.run("SELECT count(*) FROM t") == "[(1,)]")
        #expect(index.matches(header))
        #expect(outsider.run("BEGIN IMMEDIATE") == "[]")
        #expect(outsider.run("INSERT INTO t VALUES(2)") == "[]")
        #expect(index.matches(header))
        #expect(outsider.run("COMMIT") == "[]")
        #expect(!index.matches(header))
        #expect(try reader.value("SELECT count(*) FROM t") == "2")
    }

    /// Two commits of the same size in the same place after a restart of the WAL are still two different headers.
    @Test func everyCommitHasAHeaderOfItsOwn() throws {
        let database = try TemporaryDatabase(Self.schema)
        let writer = try database.open()
        try writer.value("SELECT 1 FROM t")
        let index = try #require(writer.walIndex())
        var headers: [WALIndex.Header] = []
        for round in 0..<30 {
            // Writing what is there already is no commit: SQLite compares.
            try writer.rows("UPDATE t SET a = \(round % 2 == 0 ? 7 : 8)")
            let header = index.copyHeader()
            #expect(!headers.contains(header))
            headers.append(header)
            if round % 3 == 0 { #expect(try writer.checkpoint(.passive).isComplete) }
        }
    }

    @Test func framesAndBackfill() throws {
        let database = try TemporaryDatabase(Self.schema)
        let writer = try database.open()
        #expect(try writer.checkpoint(.truncate).isComplete)
        try writer.rows("INSERT INTO t VALUES(2)")
        let index = try #require(writer.walIndex())
        #expect(index.frames == 1 && index.backfilledFrames == 0)
        try writer.rows("INSERT INTO t VALUES(3)")
        #expect(index.frames == 2 && index.backfilledFrames == 0)
        let header = index.copyHeader()
        #expect(try writer.checkpoint(.passive) == Connection.Checkpoint(isBusy: false, frames: 2, copiedFrames: 2))
        #expect(index.frames == 2 && index.backfilledFrames == 2)
        #expect(index.matches(header), "a checkpoint is no commit")
        try writer.rows("INSERT INTO t VALUES(4)")
        #expect(index.frames == 1 && index.backfilledFrames == 0)
    }

    /// Who has not the write lock may copy it while another process writes it: a checksum of one commit with the frames of the next would
    /// say that frames are missing.
    @Test func aHeaderThatIsHalfWritten() throws {
        let database = try TemporaryDatabase(Self.schema)
        let connection = try database.open()
        #expect(try connection.checkpoint(.truncate).isComplete)
        try connection.rows("INSERT INTO t VALUES(2)")
        let index = try #require(connection.walIndex())
        let older = index.copyHeader()
        try connection.rows("INSERT INTO t VALUES(3)")
        let newer = index.copyHeader()
        #expect(older.isWhole && newer.isWhole)
        // The checksum of the last frame: bytes 24 to 31.
        let region = UnsafeRawPointer(try #require(walpool_wal_index(connection.handle)))
        let checksum = UnsafeMutableRawPointer(mutating: region) + 24
        checksum.storeBytes(of: older.words.3, as: UInt64.self)
        #expect(!index.copyHeader().isWhole)
        #expect(try connection.rescueWAL(besideWriter: true) == nil)
        checksum.storeBytes(of: newer.words.3, as: UInt64.self)
        #expect(try connection.rescueWAL(besideWriter: true) == .complete)
    }

    /// A database in another mode has no WAL index, and asking must not leave one behind.
    @Test(arguments: [Connection.Mode.readOnly, .readWrite])
    func noneOutsideWALMode(_ mode: Connection.Mode) throws {
        let database = try TemporaryDatabase(Self.schema, journalMode: "DELETE")
        let connection = try database.open(mode)
        try connection.value("SELECT * FROM t")
        #expect(connection.walIndex() == nil)
        #expect(database.fileNames == ["test.db"])
    }

    ///     connection                 outsider
    ///     INSERT 1, INSERT 2         (keeps the index in memory)
    ///     the last frame is lost
    ///                                sees 2 rows in the index
    ///     forgets the index
    ///     sees 1 row                 sees 1 row
    ///     INSERT 3                   sees it
    @Test func whatIsForgottenIsReadAnewFromTheWAL() throws {
        let database = try TemporaryDatabase("CREATE TABLE t(a)")
        let connection = try database.open()
        let outsider = try Outsider(database)
        try connection.rows("INSERT INTO t VALUES(1)")
        let length = connection.walIndex()?.frames ?? 0
        try connection.rows("INSERT INTO t VALUES(2)")
        #expect(outsider.run("SELECT count(*) FROM t") == "[(2,)]")

        let frameBytes: UInt64 = 4096 + 24
        var calls = 0
        let forgets = connection.forgetWALIndex {
            calls += 1
            guard let wal = FileHandle(forWritingAtPath: database.path + "-wal") else { return }
            wal.seek(toFileOffset: 32 + UInt64(length) * frameBytes)
            wal.write(Data(count: Int(frameBytes)))
        }
        #expect(forgets && calls == 1)
        #expect(outsider.run("SELECT count(*) FROM t") == "[(1,)]")
        #expect(try connection.rows("SELECT a FROM t") == [["1"]])
        try connection.rows("INSERT INTO t VALUES(3)")
        #expect(outsider.run("SELECT a FROM t") == "[(1,), (3,)]")
    }

    /// Whoever writes knows which frames there are, and would go on behind those that are lost.
    @Test func nothingIsForgottenWhileSomebodyWrites() throws {
        let database = try TemporaryDatabase(Self.schema)
        let connection = try database.open()
        try connection.value("SELECT count(*) FROM t")
        let header = try #require(connection.walIndex()).copyHeader()
        let outsider = try Outsider(database)
        #expect(outsider.run("BEGIN IMMEDIATE") == "[]")
        var calls = 0
        #expect(!connection.forgetWALIndex { calls += 1 })
        #expect(calls == 0 && connection.walIndex()?.matches(header) == true)
        #expect(outsider.run("COMMIT") == "[]")
        #expect(connection.forgetWALIndex { calls += 1 })
        #expect(calls == 1 && connection.walIndex()?.matches(header) == false)
        // It is not locked any more.
        #expect(outsider.run("INSERT INTO t VALUES(2)") == "[]")
        #expect(try connection.rows("SELECT a FROM t") == [["1"], ["2"]])
    }
}
