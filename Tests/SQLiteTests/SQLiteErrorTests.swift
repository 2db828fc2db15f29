import Foundation
import Testing

@testable import SQLite

@Suite struct SQLiteErrorTests {
    static let schema = """
        CREATE TABLE p(id INTEGER PRIMARY KEY, u UNIQUE, n NOT NULL DEFAULT 0, k CHECK (k < 10));
        CREATE TABLE c(p REFERENCES p);
        CREATE TABLE s(a INT) STRICT;
        CREATE TRIGGER stop BEFORE DELETE ON p BEGIN SELECT RAISE(ABORT, 'no deletes here'); END;
        INSERT INTO p(id, u) VALUES(1, 1)
        """

    @Test(
        arguments: [
            ("INSERT INTO p(id) VALUES(1)", 1555, "UNIQUE constraint failed: p.id", nil),
            ("INSERT INTO p(u) VALUES(1)", 2067, "UNIQUE constraint failed: p.u", nil),
            ("INSERT INTO p(n) VALUES(NULL)", 1299, "NOT NULL constraint failed: p.n", nil),
            ("INSERT INTO p(k) VALUES(11)", 275, "CHECK constraint failed: k < 10", nil),
            ("INSERT INTO c VALUES(7)", 787, "FOREIGN KEY constraint failed", nil),
            ("INSERT INTO s VALUES('x')", 3091, "cannot store TEXT value in INT column s.a", nil),
            ("INSERT INTO p(id) VALUES('x')", 20, "datatype mismatch", nil),
            ("DELETE FROM p", 1811, "no deletes here", nil),
            ("SELECT 1 FORM p", 1, "near \"p\": syntax error", 14),
            ("SELECT nosuch FROM p", 1, "no such column: nosuch", 7),
            ("SELECT 1 WHERE nosuch(1)", 1, "no such function: nosuch", 15),
            ("SELECT 'é', nosuch FROM p", 1, "no such column: nosuch", 13),  // bytes, not characters
            ("SELECT * FROM nosuch", 1, "no such table: nosuch", nil),
            ("SELECT abs(-9223372036854775808)", 1, "integer overflow", nil),
            ("SELECT 'open", 1, "unrecognized token: \"'open\"", 7),
            ("SELECT (1", 1, "incomplete input", nil),
        ] as [(String, Int32, String, Int?)])
    func fields(_ sql: String, _ extendedCode: Int32, _ message: String, _ offset: Int?) throws {
        let error = try #require(try TemporaryDatabase(Self.schema).open().failure(sql))
        #expect(error == SQLiteError(extendedCode: extendedCode, message: message, offset: offset))
        #expect(error.code == extendedCode & 0xFF)
    }

    @Test(
        arguments: [
            ("INSERT INTO p(id) VALUES(1)", .primaryKey), ("INSERT INTO p(u) VALUES(1)", .unique),
            ("INSERT INTO p(n) VALUES(NULL)", .notNull), ("INSERT INTO p(k) VALUES(11)", .check),
            ("INSERT INTO c VALUES(7)", .foreignKey), ("INSERT INTO s VALUES('x')", .dataType), ("DELETE FROM p", .trigger),
            ("INSERT INTO p(id) VALUES('x')", nil), ("SELECT * FROM nosuch", nil),
        ] as [(String, SQLiteError.Constraint?)])
    func constraint(_ sql: String, _ expected: SQLiteError.Constraint?) throws {
        #expect(try TemporaryDatabase(Self.schema).open().failure(sql)?.constraint == expected)
    }

    @Test func opening() throws {
        let database = try TemporaryDatabase()
        let settings = ConnectionSettings()
        #expect { try Connection(path: database.directory + "/nosuch.db", mode: .readOnly, settings: settings) } throws: {
            ($0 as? SQLiteError)?.code == 14
        }
        #expect { try Connection(path: database.directory + "/nosuch/x.db", mode: .readWrite, settings: settings) } throws: {
            ($0 as? SQLiteError)?.code == 14
        }
        let notes = database.directory + "/notes.txt"
        try String(repeating: "not a database. ", count: 100).write(toFile: notes, atomically: true, encoding: .utf8)
        for mode in [Connection.Mode.readOnly, .readWrite] {
            #expect { try Connection(path: notes, mode: mode, settings: settings) } throws: {
                $0 as? SQLiteError == SQLiteError(extendedCode: 26, message: "file is not a database")
            }
        }
        // What failed to open has been closed again.
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        let open = descriptors.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
        #expect(!open.contains { $0.hasSuffix("/notes.txt") && $0.hasPrefix(database.directory) })
    }

    /// SQLITE_MISUSE and the like, whose words the connection does not hold.
    @Test func errorsOfTheInterface() throws {
        let connection = try TemporaryDatabase().open()
        let statement = try connection.prepared("SELECT ?")
        #expect { try statement.bind(Int64(1), at: 2) } throws: { ($0 as? SQLiteError)?.code == 25 }
        _ = try statement.step()
        #expect { try statement.bind(Int64(1), at: 1) } throws: { ($0 as? SQLiteError)?.code == 21 }
    }

    @Test func kinds() {
        #expect(SQLiteError(extendedCode: 517, message: "").isBusy)
        #expect(SQLiteError(extendedCode: 9, message: "").isInterrupt)
        #expect(SQLiteError(extendedCode: 266, message: "").isInputOutput)
        #expect(SQLiteError(extendedCode: 13, message: "").isFull)
        #expect(!SQLiteError(extendedCode: 1, message: "").isBusy)
    }
}
