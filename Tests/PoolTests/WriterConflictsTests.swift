import Testing

@testable import Pool
@testable import SQLite

@Suite struct WriterConflictsTests {
    private static let trigger = "CREATE TRIGGER f BEFORE INSERT ON t BEGIN SELECT RAISE(FAIL, 'no') WHERE new.id < 0; END"

    @Test(arguments: [
        ("SELECT 1", false),
        (trigger, true),
        ("CREATE TRIGGER f BEFORE INSERT ON t BEGIN INSERT OR FAIL INTO parent VALUES(1); END", true),
        ("CREATE TABLE x(a NOT NULL ON CONFLICT FAIL)", true),
        ("CREATE TABLE x(a UNIQUE on conflict fail)", true),
        // It costs a second run of the others, and nothing else.
        ("CREATE TABLE x(fail)", true),
        // These do not say it.
        ("CREATE TABLE x(failed, fail_count)", false), ("CREATE TABLE failures(a NOT NULL ON CONFLICT ABORT)", false),
    ])
    func whatSaysIt(_ definition: String, _ expected: Bool) throws {
        let writer = try TestPool().pool.writer
        #expect(!writer.schemaSaysFail())
        try writer.connection.executeInternal(definition)
        #expect(writer.schemaSaysFail() == expected)
        // What is remembered is the same.
        #expect(writer.schemaSaysFail() == expected)
    }

    /// Whatever the transaction has done to the schema until now counts, and what was undone does not.
    @Test func insideATransaction() throws {
        let writer = try TestPool().pool.writer
        try writer.connection.executeInternal("BEGIN IMMEDIATE")
        #expect(!writer.schemaSaysFail())
        try writer.connection.executeInternal(Self.trigger)
        #expect(writer.schemaSaysFail())
        writer.rollback()
        #expect(!writer.schemaSaysFail())
    }

    /// Versions of a schema are counted, so one that was rolled back comes again with another schema:
    ///
    ///     BEGIN; CREATE TABLE harmless; ROLLBACK      version 6, looked at
    ///     CREATE TRIGGER ... RAISE(FAIL ...)          version 6
    @Test(arguments: [true, false])
    func theSameVersionAgain(bySavepoint: Bool) throws {
        let writer = try TestPool().pool.writer
        try writer.connection.executeInternal("BEGIN IMMEDIATE")
        if bySavepoint { try writer.beginMemberSavepoint() }
        try writer.connection.executeInternal("CREATE TABLE harmless(a)")
        let version = try writer.connection.firstText("PRAGMA schema_version")
        #expect(!writer.schemaSaysFail())
        if bySavepoint { try writer.rollbackMemberSavepoint() } else { writer.rollback() }
        try writer.connection.executeInternal(Self.trigger)
        #expect(try writer.connection.firstText("PRAGMA schema_version") == version)
        #expect(writer.schemaSaysFail())
        writer.rollback()
    }

    /// Another process may say it at any time.
    @Test func byAnOutsider() throws {
        let test = try TestPool()
        #expect(!test.pool.writer.schemaSaysFail())
        let outsider = try Connection(path: test.path, mode: .readWrite, settings: ConnectionSettings())
        try outsider.executeInternal(Self.trigger)
        #expect(test.pool.writer.schemaSaysFail())
    }
}
