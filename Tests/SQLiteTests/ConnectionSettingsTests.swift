import CSQLite
import Foundation
import Testing

@testable import SQLite

@Suite struct ConnectionSettingsTests {
    @Test func doubleQuotedStringsAreNamesOnly() throws {
        let database = try TemporaryDatabase("CREATE TABLE t(a)")
        let strict = try database.open()
        #expect(strict.failure("SELECT \"nosuch\" FROM t")?.message == "no such column: nosuch")
        #expect(strict.failure("CREATE INDEX i ON t(\"nosuch\")") != nil)

        var settings = ConnectionSettings()
        settings.doubleQuotedStrings = true
        let lenient = try database.open(.readWrite, settings)
        #expect(try lenient.rows("SELECT \"nosuch\"") == [["nosuch"]])
        #expect(lenient.failure("CREATE INDEX i ON t(\"nosuch\")") == nil)
    }

    @Test(arguments: [Connection.Mode.readOnly, .readWrite])
    func defensive(_ mode: Connection.Mode) throws {
        let database = try TemporaryDatabase("CREATE TABLE t(a); CREATE VIRTUAL TABLE f USING fts5(a)")
        let connection = try database.open(mode)
        for sql in [
            "UPDATE sqlite_master SET sql = 'x'", "DELETE FROM sqlite_schema", "INSERT INTO sqlite_master(name) VALUES('x')",
            "UPDATE sqlite_temp_master SET sql = 'x'", "INSERT INTO f_data VALUES(99, x'00')", "DELETE FROM f_content", "DROP TABLE f_data",
        ] {
            let error = connection.failure(sql)
            #expect(error?.message.contains("may not be") == true, "\(sql): \(String(describing: error))")
        }
        // Not even the daemon's own SQL may switch it off.
        try connection.executeInternal("PRAGMA writable_schema = ON")
        #expect(throws: SQLiteError.self) { try connection.executeInternal("UPDATE sqlite_master SET sql = 'x'") }
    }

    @Test func foreignKeys() throws {
        let schema = "CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(p REFERENCES p)"
        #expect(try TemporaryDatabase(schema).open().failure("INSERT INTO c VALUES(1)")?.extendedCode == 787)
        var settings = ConnectionSettings()
        settings.foreignKeys = false
        #expect(try TemporaryDatabase(schema).open(.readWrite, settings).failure("INSERT INTO c VALUES(1)") == nil)
    }

    /// rtreecheck() is not marked innocuous, so a view of an untrusted schema may not call it.
    @Test func trustedSchema() throws {
        let database = try TemporaryDatabase(
            "CREATE VIRTUAL TABLE r USING rtree(id, a, b); CREATE VIEW v AS SELECT rtreecheck('r') AS answer")
        #expect(try database.open(.readOnly).failure("SELECT * FROM v")?.message == "unsafe use of rtreecheck()")
        var settings = ConnectionSettings()
        settings.trustedSchema = true
        let trusting = try database.open(.readOnly, settings)
        trusting.callbacks.isInternal = true  // rtreecheck() runs BEGIN
        #expect(try trusting.rows("SELECT * FROM v") == [["ok"]])
    }

    /// The crash primitive of Debian's build: a tokenizer at an address of the client's choice. Refused at both doors,
    /// the authorizer and the connection's own switch, and the process lives.
    @Test(arguments: [Connection.Mode.readOnly, .readWrite])
    func tokenizerPrimitiveIsRefused(_ mode: Connection.Mode) throws {
        let connection = try TemporaryDatabase().open(mode)
        let crash = "SELECT fts3_tokenizer('evil', x'4141414141414141')"
        #expect(connection.failure(crash)?.message == "not authorized to use function: fts3_tokenizer")
        connection.callbacks.isInternal = true
        #expect(connection.failure(crash)?.message == "fts3tokenize disabled")
        #expect(connection.failure("CREATE VIRTUAL TABLE temp.x USING fts3(a, tokenize=evil)") != nil)
        connection.callbacks.isInternal = false
        #expect(try connection.value("SELECT 1") == "1")
    }

    @Test func extensionsCannotBeLoaded() throws {
        let connection = try TemporaryDatabase().open()
        connection.callbacks.isInternal = true
        #expect(connection.failure("SELECT load_extension('/nonexistent')")?.message == "not authorized")
    }

    @Test func pragmas() throws {
        let database = try TemporaryDatabase()
        for mode in [Connection.Mode.readOnly, .readWrite] {
            let connection = try database.open(mode)
            #expect(try connection.firstText("PRAGMA wal_autocheckpoint") == "0")
            #expect(try connection.firstText("PRAGMA trusted_schema") == "0")
            #expect(try connection.firstText("PRAGMA foreign_keys") == "1")
            #expect(try connection.firstText("PRAGMA recursive_triggers") == "0")
            #expect(try connection.firstText("PRAGMA cache_size") == "-2000")
        }
        #expect(try database.open(.readWrite).firstText("PRAGMA mmap_size") == "0")
        #expect(try database.open(.readOnly).firstText("PRAGMA mmap_size") != "0")
        var settings = ConnectionSettings()
        settings.cacheSizeKibibytes = 4321
        settings.memoryMapBytes = 1 << 20
        settings.recursiveTriggers = true
        #expect(try database.open(.readOnly, settings).firstText("PRAGMA mmap_size") == "1048576")
        let changed = try database.open(.readWrite, settings)
        #expect(try changed.firstText("PRAGMA cache_size") == "-4321")
        #expect(try changed.firstText("PRAGMA mmap_size") == "0")
        #expect(try changed.firstText("PRAGMA recursive_triggers") == "1")
    }

    @Test(arguments: [(ConnectionSettings.Synchronous.normal, "1"), (.full, "2")])
    func synchronous(_ level: ConnectionSettings.Synchronous, _ expected: String) throws {
        var settings = ConnectionSettings()
        settings.synchronous = level
        #expect(try TemporaryDatabase().open(.readWrite, settings).firstText("PRAGMA synchronous") == expected)
    }

    @Test(arguments: [(ConnectionSettings.SecureDelete.off, "0"), (.on, "1"), (.fast, "2")])
    func secureDelete(_ choice: ConnectionSettings.SecureDelete, _ expected: String) throws {
        var settings = ConnectionSettings()
        settings.secureDelete = choice
        #expect(try TemporaryDatabase().open(.readWrite, settings).firstText("PRAGMA secure_delete") == expected)
    }

    /// Each limit: what is just within it, what is just beyond, and the primary code of the refusal.
    @Test(
        arguments: [
            ("SELECT length(zeroblob(999000))", "SELECT length(zeroblob(1000001))", 18),
            ("SELECT 1" + String(repeating: " ", count: 4992), "SELECT 1" + String(repeating: " ", count: 4993), 18),
            ("SELECT " + String(repeating: "-+", count: 20) + "1", "SELECT " + String(repeating: "- ", count: 60) + "a FROM t", 1),
            ("SELECT ?7", "SELECT ?8", 1),
            (
                "SELECT 'a' LIKE '" + String(repeating: "%", count: 30) + "'",
                "SELECT 'a' LIKE '" + String(repeating: "%", count: 31) + "'", 1
            ),
            (
                "SELECT 'a' GLOB '" + String(repeating: "*", count: 30) + "'",
                "SELECT 'a' GLOB '" + String(repeating: "*", count: 31) + "'", 1
            ),
            ("SELECT 1" + String(repeating: ",1", count: 1999), "SELECT 1" + String(repeating: ",1", count: 2000), 1),
            ("SELECT max(1" + String(repeating: ",1", count: 126) + ")", "SELECT max(1" + String(repeating: ",1", count: 127) + ")", 1),
        ] as [(String, String, Int32)])
    func limits(_ within: String, _ beyond: String, _ code: Int32) throws {
        var settings = ConnectionSettings()
        settings.lengthLimitBytes = 1_000_000
        settings.sqlLengthLimitBytes = 5_000
        settings.expressionDepthLimit = 50
        settings.parameterLimit = 7
        settings.likePatternLimitBytes = 30
        let connection = try TemporaryDatabase("CREATE TABLE t(a)").open(.readOnly, settings)
        #expect(connection.failure(within) == nil)
        #expect(connection.failure(beyond)?.code == code)
    }

    /// Each of SQLite's limits is set, to what it says: none is left to how the library was built.
    @Test(arguments: [Connection.Mode.readOnly, .readWrite])
    func everyLimitIsSet(_ mode: Connection.Mode) throws {
        let settings = ConnectionSettings()
        let connection = try TemporaryDatabase().open(mode, settings)
        let limits = settings.limits(mode)
        #expect(limits.map(\.limit).sorted() == Array(0...Int32(limits.count - 1)))
        // A negative value asks; a category that does not exist is -1.
        for (limit, value) in limits { #expect(sqlite3_limit(connection.handle, limit, -1) == Int32(value)) }
        #expect(sqlite3_limit(connection.handle, Int32(limits.count), -1) == -1)
    }

    @Test func triggerDepthLimit() throws {
        var settings = ConnectionSettings()
        settings.recursiveTriggers = true
        settings.triggerDepthLimit = 10
        let database = try TemporaryDatabase(
            """
            CREATE TABLE t(a);
            CREATE TRIGGER deeper AFTER INSERT ON t WHEN new.a > 0 BEGIN INSERT INTO t VALUES(new.a - 1); END
            """)
        let connection = try database.open(.readWrite, settings)
        #expect(connection.failure("INSERT INTO t VALUES(5)") == nil)
        #expect(connection.failure("INSERT INTO t VALUES(50)")?.message.contains("too many levels of trigger recursion") == true)
    }

    /// A reader attaches nothing, whoever asks; the writer can still VACUUM, which attaches its copy.
    @Test func attachLimit() throws {
        let database = try TemporaryDatabase("CREATE TABLE t(a)")
        let reader = try database.open(.readOnly)
        #expect { try reader.executeInternal("ATTACH ':memory:' AS other") } throws: {
            ($0 as? SQLiteError)?.message.contains("too many attached databases") == true
        }
        try database.open().executeInternal("VACUUM")
    }

    @Test func readOnlyMeansReadOnly() throws {
        let database = try TemporaryDatabase("CREATE TABLE t(a); CREATE INDEX i ON t(a)")
        let reader = try database.open(.readOnly)
        for sql in ["INSERT INTO t VALUES(1)", "CREATE TABLE u(a)", "PRAGMA user_version = 5", "DROP TABLE t", "REINDEX", "ANALYZE"] {
            #expect(reader.failure(sql)?.code == 8, "\(sql)")
        }
    }

    /// A name that looks like a URI is a name: a client's database name must never turn into options.
    @Test func urisAreFileNames() throws {
        let database = try TemporaryDatabase()
        #expect(throws: SQLiteError.self) {
            try Connection(path: "file:\(database.path)?mode=memory", mode: .readOnly, settings: ConnectionSettings())
        }
    }

    @Test func libraryVersion() {
        #expect(SQLiteLibrary.version.hasPrefix("3."))
        #expect(SQLiteLibrary.versionNumber >= 3_040_000)
        #expect(SQLiteLibrary.hasWALResetBug == SQLiteLibrary.hasWALResetBug(inVersion: SQLiteLibrary.versionNumber))
    }

    /// Those of the two Debian releases the daemon is for, and both sides of each limit.
    @Test(arguments: [
        (3_040_001, true), (3_044_005, true), (3_044_006, false), (3_044_007, false), (3_044_999, false), (3_045_000, true),
        (3_046_001, true), (3_050_006, true), (3_050_007, false), (3_050_999, false), (3_051_000, true), (3_051_002, true),
        (3_051_003, false), (3_052_000, false),
    ])
    func walResetBug(_ version: Int, _ expected: Bool) { #expect(SQLiteLibrary.hasWALResetBug(inVersion: version) == expected) }
}
