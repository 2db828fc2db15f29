import CSQLite
import Testing

@testable import SQLite

@Suite struct ConnectionTests {
    static let schema = "CREATE TABLE t(id INTEGER PRIMARY KEY, a UNIQUE); INSERT INTO t VALUES(1, 1)"

    // MARK: Checkpoints

    @Test func checkpointWithoutAReader() throws {
        let database = try TemporaryDatabase(Self.schema)
        let writer = try database.open()
        try writer.rows("INSERT INTO t VALUES(2, 2)")
        let passive = try writer.checkpoint(.passive)
        #expect(passive.frames > 0 && passive.isComplete && !passive.isBusy)
        try writer.rows("INSERT INTO t VALUES(3, 3)")
        let truncate = try writer.checkpoint(.truncate)
        #expect(truncate == Connection.Checkpoint(isBusy: false, frames: 0, copiedFrames: 0))
        #expect(truncate.isComplete)
    }

    ///     reader                     writer
    ///     begins a snapshot
    ///                                INSERT
    ///                                PASSIVE: copies nothing newer than the snapshot, is not busy
    ///                                TRUNCATE: busy
    ///     ends it
    ///                                TRUNCATE: complete
    @Test func checkpointBesideAReader() throws {
        let database = try TemporaryDatabase(Self.schema)
        let writer = try database.open()
        try writer.rows("INSERT INTO t VALUES(2, 2)")
        let reader = try database.open(.readOnly)
        let pin = try reader.prepared("SELECT * FROM t")
        _ = try pin.step()
        try writer.rows("INSERT INTO t VALUES(3, 3)")

        let passive = try writer.checkpoint(.passive)
        #expect(!passive.isBusy && passive.copiedFrames < passive.frames && !passive.isComplete)
        let blocked = try writer.checkpoint(.truncate)
        #expect(blocked.isBusy && !blocked.isComplete)

        pin.reset()
        #expect(try writer.checkpoint(.truncate).isComplete)
        #expect(try reader.value("SELECT count(*) FROM t") == "3")
    }

    /// TRUNCATE waits for a reader through the busy handler, which is how it is bounded.
    @Test func checkpointAsksTheBusyHandler() throws {
        let database = try TemporaryDatabase(Self.schema)
        let writer = try database.open()
        try writer.rows("INSERT INTO t VALUES(2, 2)")
        let reader = try database.open(.readOnly)
        let pin = try reader.prepared("SELECT * FROM t")
        _ = try pin.step()
        try writer.rows("INSERT INTO t VALUES(3, 3)")
        var attempts: [Int] = []
        writer.callbacks.onBusy = { attempt in
            attempts.append(attempt)
            if attempt == 2 { pin.reset() }
            return attempt < 5
        }
        #expect(try writer.checkpoint(.truncate).isComplete)
        #expect(attempts == [0, 1, 2])
    }

    @Test func checkpointInsideATransactionIsAnError() throws {
        let database = try TemporaryDatabase(Self.schema)
        let writer = try database.open()
        try writer.executeInternal("BEGIN IMMEDIATE; INSERT INTO t VALUES(2, 2)")
        #expect { try writer.checkpoint(.passive) } throws: { ($0 as? SQLiteError)?.code == 6 }
    }

    /// It is the file that is synced, and who asks is told if that fails.
    @Test func syncWAL() throws {
        let database = try TemporaryDatabase(Self.schema)
        let writer = try database.open()
        try writer.rows("INSERT INTO t VALUES(2, 2)")
        let wal = try #require(writer.walFile())
        try wal.sync()
        let file = wal.file
        let methods = file.pointee.pMethods
        let failing = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        defer { failing.deallocate() }
        failing.initialize(to: file.pointee.pMethods.pointee)
        failing.pointee.xSync = { _, _ in 1034 }
        file.pointee.pMethods = UnsafePointer(failing)
        let onBrokenDisk = writer.walFile()
        file.pointee.pMethods = methods
        #expect { try onBrokenDisk?.sync() } throws: { ($0 as? SQLiteError)?.extendedCode == 1034 }
    }

    // MARK: Transactions

    @Test func autocommit() throws {
        let writer = try TemporaryDatabase(Self.schema).open()
        #expect(writer.isAutocommit)
        try writer.executeInternal("BEGIN")
        #expect(!writer.isAutocommit)
        #expect(writer.failure("INSERT INTO t VALUES(1, 1)")?.code == 19)
        #expect(!writer.isAutocommit, "a failed statement undoes itself alone")
        #expect(writer.failure("INSERT OR ROLLBACK INTO t VALUES(1, 1)")?.code == 19)
        #expect(writer.isAutocommit, "OR ROLLBACK takes the transaction along")
    }

    @Test func deferredForeignKeys() throws {
        let writer = try TemporaryDatabase(
            "CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(p REFERENCES p DEFERRABLE INITIALLY DEFERRED)"
        ).open()
        try writer.executeInternal("BEGIN")
        #expect(!writer.hasUnresolvedForeignKeys)
        try writer.rows("INSERT INTO c VALUES(1)")
        #expect(writer.hasUnresolvedForeignKeys)
        #expect(throws: SQLiteError.self) { try writer.executeInternal("COMMIT") }
        #expect(!writer.isAutocommit, "COMMIT failed and left the transaction open")
        try writer.rows("INSERT INTO p VALUES(1)")
        #expect(!writer.hasUnresolvedForeignKeys)
        try writer.executeInternal("COMMIT")
    }

    // MARK: The daemon's own statements

    @Test func internalStatementsPassTheAuthorizer() throws {
        let database = try TemporaryDatabase(Self.schema)
        let writer = try database.open()
        for sql in ["BEGIN", "SAVEPOINT a", "ROLLBACK TO a", "RELEASE a", "COMMIT", "VACUUM", "PRAGMA wal_checkpoint", "PRAGMA optimize"] {
            try writer.executeInternal(sql)
        }
        let begin = try writer.prepareInternal("BEGIN IMMEDIATE")
        #expect(try begin.step() == .done)
        let rollback = try writer.prepareInternal("ROLLBACK")
        #expect(try rollback.step() == .done)
        #expect(try writer.firstText("PRAGMA journal_mode") == "wal")
        #expect(writer.callbacks.denial == nil && !writer.callbacks.isInternal)
        // The door is closed again behind them, also after a failure.
        #expect(throws: SQLiteError.self) { try writer.executeInternal("PRAGMA journal_mode = WAL; nonsense") }
        #expect(throws: SQLiteError.self) { try writer.prepareInternal("nonsense") }
        #expect(throws: SQLiteError.self) { try writer.prepareInternal("") }
        #expect(writer.failure("PRAGMA journal_mode = WAL")?.code == 23)
    }

    /// SQLite prepares a statement anew, inside `step`, when something expired it; the authorizer is asked again then,
    /// and must still know it for the daemon's own.
    @Test(arguments: [
        "ANALYZE",
        "CREATE TABLE u(a)",
        "BEGIN; CREATE TABLE u(a); ROLLBACK",
        "BEGIN; SAVEPOINT s; CREATE TABLE u(a); ROLLBACK TO s; COMMIT",
        "VACUUM",
        "PRAGMA foreign_keys = OFF",
    ])
    func internalStatementsOutliveWhatExpiresThem(_ sql: String) throws {
        let writer = try TemporaryDatabase(Self.schema).open()
        let statements = [
            try writer.prepareInternal("BEGIN IMMEDIATE"), try writer.prepareInternal("SAVEPOINT member"),
            try writer.prepareInternal("ROLLBACK TO member"), try writer.prepareInternal("RELEASE member"),
            try writer.prepareInternal("COMMIT"), try writer.prepareInternal("PRAGMA journal_mode"),
        ]
        for round in 1...2 {
            for statement in statements {
                _ = try statement.step()
                statement.reset()
            }
            #expect(writer.isAutocommit)
            if round == 1 { try writer.executeInternal(sql) }
        }
        #expect(writer.callbacks.denial == nil && !writer.callbacks.isInternal)
    }

    /// The statements of a group's member that changes the schema and fails.
    @Test func rolledBackMemberThatChangedTheSchema() throws {
        let writer = try TemporaryDatabase(Self.schema).open()
        let rollbackTo = try writer.prepareInternal("ROLLBACK TO member")
        let release = try writer.prepareInternal("RELEASE member")
        let commit = try writer.prepareInternal("COMMIT")
        try writer.executeInternal("BEGIN; SAVEPOINT member")
        try writer.rows("CREATE TABLE u(a)")
        for statement in [rollbackTo, release, commit] { #expect(try statement.step() == .done) }
        #expect(writer.isAutocommit)
    }

    /// Daemon's and client's statements alternate; only the client's are refused.
    @Test func clientsStatementIsNeverInternal() throws {
        let writer = try TemporaryDatabase(Self.schema).open()
        let asked = try writer.prepareInternal("PRAGMA journal_mode")
        _ = try asked.step()
        #expect(writer.failure("PRAGMA journal_mode = WAL")?.code == 23)
        let client = try writer.prepared("SELECT * FROM t")
        try writer.executeInternal("BEGIN; CREATE TABLE u(a); ROLLBACK")
        _ = try client.step()
        client.reset()
        #expect(writer.failure("BEGIN")?.code == 23)
    }
}
