import Foundation
import Testing

@testable import SQLite

@Suite struct StatementTests {
    /// One value, bound and read back: its type as SQLite names it, its class and its text.
    @Test func numbersRoundTrip() throws {
        let connection = try TemporaryDatabase().open(.readOnly)
        let statement = try connection.prepared("SELECT ?1, typeof(?1)")
        func again() throws {
            statement.reset()
            statement.clearBindings()
        }
        for value in [0, 1, -1, Int64(Int32.max) + 1, .min, .max] {
            try again()
            try statement.bind(value, at: 1)
            #expect(try statement.step() == .row)
            #expect(statement.storageClass(0) == .integer && statement.integer(0) == value)
        }
        for value in [0.0, -0.0, 1.5, .greatestFiniteMagnitude, .leastNonzeroMagnitude, .infinity, -.infinity] {
            try again()
            try statement.bind(value, at: 1)
            #expect(try statement.step() == .row)
            #expect(statement.storageClass(0) == .real && statement.double(0) == value)
        }
        try again()
        try statement.bind(Double.nan, at: 1)  // SQLite has no NaN: it stores NULL
        #expect(try statement.step() == .row)
        #expect(statement.storageClass(0) == .null)
        try again()
        try statement.bindNull(1)
        #expect(try statement.step() == .row)
        #expect(statement.string(1) == "null")
    }

    @Test(arguments: [[], [0], Array("text".utf8), Array("é日本🜚".utf8), Array("a\0b".utf8), nil])
    func bytesRoundTrip(_ short: [UInt8]?) throws {
        // Not as an argument: the test's log would have every byte of it.
        let bytes = short ?? [UInt8](repeating: 7, count: 100_000)
        let connection = try TemporaryDatabase().open(.readOnly)
        let statement = try connection.prepared("SELECT ?1, ?2, ?3, ?4, typeof(?1), typeof(?2), typeof(?3), typeof(?4)")
        try bytes.withUnsafeBytes { raw in
            try statement.bindText(inPlace: raw, at: 1)
            try statement.bindText(copying: raw, at: 2)
            try statement.bindBlob(inPlace: raw, at: 3)
            try statement.bindBlob(copying: raw, at: 4)
            #expect(try statement.step() == .row)
            for column in 0..<2 {
                #expect(statement.storageClass(column) == .text && Array(statement.text(column)) == bytes)
                #expect(statement.string(column + 4) == "text")
            }
            for column in 2..<4 {
                #expect(statement.storageClass(column) == .blob && Array(statement.blob(column)) == bytes)
                #expect(statement.string(column + 4) == "blob")
            }
            statement.reset()
            statement.clearBindings()
        }
    }

    /// No bytes at no address are an empty string, not NULL.
    @Test func nullPointersAreEmptyValues() throws {
        let connection = try TemporaryDatabase("CREATE TABLE t(a NOT NULL, b NOT NULL, c NOT NULL, d NOT NULL)").open()
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        let insert = try connection.prepared("INSERT INTO t VALUES(?, ?, ?, ?)")
        try insert.bindText(inPlace: nothing, at: 1)
        try insert.bindText(copying: nothing, at: 2)
        try insert.bindBlob(inPlace: nothing, at: 3)
        try insert.bindBlob(copying: nothing, at: 4)
        #expect(try insert.step() == .done)
        #expect(try connection.rows("SELECT typeof(a), typeof(b), typeof(c), typeof(d) FROM t") == [["text", "text", "blob", "blob"]])
        let select = try connection.prepared("SELECT a, c, NULL FROM t")
        #expect(try select.step() == .row)
        #expect(select.text(0).isEmpty && select.blob(1).isEmpty)
        #expect([0, 1, 2].map { select.storageClass($0) } == [.text, .blob, .null])
    }

    @Test func clearBindingsForgets() throws {
        let connection = try TemporaryDatabase().open(.readOnly)
        let statement = try connection.prepared("SELECT ?")
        try statement.bind(Int64(5), at: 1)
        _ = try statement.step()
        statement.reset()
        _ = try statement.step()
        #expect(statement.integer(0) == 5)
        statement.reset()
        statement.clearBindings()
        _ = try statement.step()
        #expect(statement.storageClass(0) == .null)
    }

    @Test func parameters() throws {
        let connection = try TemporaryDatabase().open(.readOnly)
        let statement = try connection.prepared("SELECT ?, ?5, :a, @b, $c, :a")
        #expect(statement.parameterCount == 8)
        #expect((0...9).map { statement.parameterName($0) } == [nil, nil, nil, nil, nil, "?5", ":a", "@b", "$c", nil])
        #expect(try connection.prepared("SELECT 1").parameterCount == 0)
    }

    @Test func columns() throws {
        let connection = try TemporaryDatabase("CREATE TABLE t(a INTEGER PRIMARY KEY, b VARCHAR(20), c)").open(.readOnly)
        let statement = try connection.prepared("SELECT a, b AS renamed, c, a + 1, 'x' AS \"y z\" FROM t AS u")
        #expect(statement.columnCount == 5)
        #expect((0..<5).map { statement.columnName($0) } == ["a", "renamed", "c", "a + 1", "y z"])
        #expect((0..<5).map { statement.columnDeclaredType($0) } == ["INTEGER", "VARCHAR(20)", nil, nil, nil])
        #expect((0..<5).map { statement.columnTableName($0) } == ["t", "t", "t", nil, nil])
        #expect((0..<5).map { statement.columnOriginName($0) } == ["a", "b", "c", nil, nil])
        #expect(try connection.prepared("PRAGMA user_version").columnCount == 1)
        #expect(statement.columnName(99) == "")
    }

    @Test func running() throws {
        let connection = try TemporaryDatabase().open(.readOnly)
        let statement = try connection.prepared("SELECT 1 UNION ALL SELECT 2")
        #expect(!statement.isRunning)
        #expect(try statement.step() == .row)
        #expect(statement.isRunning)
        #expect(try statement.step() == .row)
        #expect(try statement.step() == .done)
        #expect(!statement.isRunning)
        _ = try statement.step()
        statement.reset()
        #expect(!statement.isRunning)
    }

    @Test(arguments: [
        ("SELECT * FROM t", true, 0),
        ("VALUES (1)", true, 0),
        ("WITH w AS (SELECT 1) SELECT * FROM w", true, 0),
        ("PRAGMA user_version", true, 0),
        ("PRAGMA table_info(t)", true, 0),
        ("PRAGMA user_version = 3", false, 0),
        ("INSERT INTO t VALUES(1)", false, 0),
        ("INSERT INTO t VALUES(1) RETURNING a", false, 0),
        ("WITH w AS (SELECT 1) INSERT INTO t SELECT * FROM w", false, 0),
        ("UPDATE t SET a = 1", false, 0),
        ("DELETE FROM t WHERE 0", false, 0),
        ("CREATE TABLE u(a)", false, 0),
        ("REINDEX", false, 0),
        ("ANALYZE", false, 0),
        ("EXPLAIN SELECT * FROM t", true, 1),
        ("EXPLAIN QUERY PLAN SELECT * FROM t", true, 2),
        ("EXPLAIN DELETE FROM t", false, 1),
    ])
    func kinds(_ sql: String, _ isReadOnly: Bool, _ explain: Int) throws {
        let statement = try TemporaryDatabase("CREATE TABLE t(a); CREATE INDEX i ON t(a)").open().prepared(sql)
        // EXPLAIN of a write counts as a write, though it only reads: whoever routes it has to look at `explain`.
        #expect(statement.isReadOnly == isReadOnly)
        #expect(statement.explain == explain)
    }

    /// What `prepare` takes of a text, and whether there was a statement in it.
    @Test(arguments: [
        ("", false, 0), ("   ", false, 3), ("-- nothing", false, 10), ("/* nothing */", false, 13), (";", false, 1),
        ("SELECT 1", true, 8), ("SELECT 1;", true, 9), ("SELECT 1; SELECT 2", true, 9), ("SELECT 1 ; ", true, 10),
        ("SELECT ';'; SELECT 2", true, 11), (" SELECT 1;-- x", true, 10), ("SELECT 'é'; SELECT 2", true, 12),
    ])
    func consumed(_ sql: String, _ hasStatement: Bool, _ consumed: Int) throws {
        let prepared = try TemporaryDatabase().open(.readOnly).prepareFirst(sql)
        #expect((prepared.statement != nil) == hasStatement)
        #expect(prepared.consumed == consumed)
    }

    /// A statement sees a changed schema by itself.
    @Test func schemaChange() throws {
        let database = try TemporaryDatabase("CREATE TABLE t(a); INSERT INTO t VALUES(1)")
        let reader = try database.open(.readOnly)
        let statement = try reader.prepared("SELECT * FROM t")
        _ = try statement.step()
        #expect(statement.columnCount == 1)
        statement.reset()
        try database.open().executeInternal("ALTER TABLE t ADD COLUMN b DEFAULT 2")
        #expect(try statement.step() == .row)
        #expect(statement.columnCount == 2 && statement.integer(1) == 2)
    }
}
