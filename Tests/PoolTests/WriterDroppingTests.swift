import Testing

@testable import Pool
@testable import SQLite

/// Which tables a DROP TABLE would change, beside SQLite itself, which does it.
@Suite struct WriterDroppingTests {
    private static let schema = """
        CREATE TABLE p(id INTEGER PRIMARY KEY, code TEXT COLLATE NOCASE UNIQUE, a, b, UNIQUE(a, b));
        INSERT INTO p VALUES(1, 'x', 1, 2), (2, 'y', 3, 4);
        CREATE TABLE pair(k UNIQUE, l, PRIMARY KEY(l, k)); INSERT INTO pair VALUES(5, 6);
        """

    /// The definition of "c", its rows, the table that is dropped, and what becomes of the rows: nil, nothing.
    static let cases: [(definition: String, rows: String, dropped: String, action: String?)] = [
        ("r REFERENCES p ON DELETE CASCADE", "(1)", "p", "CASCADE"),
        ("r REFERENCES p(id) ON DELETE SET NULL", "(1)", "p", "SET NULL"),
        ("r INTEGER DEFAULT 7 REFERENCES p(id) ON DELETE SET DEFAULT DEFERRABLE INITIALLY DEFERRED", "(1)", "p", "SET DEFAULT"),
        ("r REFERENCES P(ID) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED", "(NULL), (2)", "p", "CASCADE"),
        // As the referenced column compares, which is not as the other does.
        ("r TEXT REFERENCES p(code) ON DELETE CASCADE", "('X')", "p", "CASCADE"),
        ("r BLOB REFERENCES p(id) ON DELETE CASCADE", "('1')", "p", "CASCADE"),
        ("r, s, FOREIGN KEY(s, r) REFERENCES p(b, a) ON DELETE SET NULL", "(3, 4)", "p", "SET NULL"),
        ("r, s, FOREIGN KEY(s, r) REFERENCES p(b, a) ON DELETE SET NULL", "(3, NULL), (NULL, NULL)", "p", nil),
        ("r, s, FOREIGN KEY(r, s) REFERENCES pair ON DELETE CASCADE", "(6, 5)", "pair", "CASCADE"),
        ("r REFERENCES p ON DELETE CASCADE, s REFERENCES pair(k) ON DELETE CASCADE", "(2, NULL)", "p", "CASCADE"),
        // Nothing references anything.
        ("r REFERENCES p ON DELETE CASCADE", "(NULL)", "p", nil),
        ("r REFERENCES p ON DELETE CASCADE", "(NULL)", "c", nil),
        ("r REFERENCES p ON DELETE CASCADE", "(1)", "c", nil),
        ("r REFERENCES p ON DELETE CASCADE", "(1)", "pair", nil),
        // There is no such key, so SQLite does nothing either.
        ("r REFERENCES p(gone) ON DELETE CASCADE", "(1)", "p", nil),
        ("r REFERENCES pair ON DELETE CASCADE", "(NULL)", "pair", nil),
        // Its own rows go with it.
        ("id INTEGER PRIMARY KEY, r REFERENCES c ON DELETE CASCADE", "(1, 1), (2, 1)", "c", nil),
        ("id INTEGER PRIMARY KEY, r REFERENCES C(id) ON DELETE SET NULL", "(1, 1), (2, 1)", "c", nil),
    ]

    @Test(arguments: cases.indices)
    func asSQLiteDoesIt(_ index: Int) throws {
        let (definition, rows, dropped, action) = Self.cases[index]
        let writer = try TestPool().pool.writer
        // What is wrong about a key hinders an INSERT, but not one that was made before.
        try writer.connection.executeInternal("\(Self.schema) CREATE TABLE c(\(definition)); PRAGMA foreign_keys = OFF")
        try writer.connection.executeInternal("INSERT INTO c VALUES \(rows); PRAGMA foreign_keys = ON; BEGIN IMMEDIATE")
        let found = try writer.dependents(ofTable: dropped, limit: 10)
        #expect(found == action.map { [Writer.Dependent(table: "c", action: $0)] } ?? [])
        #expect(try writer.dependents(ofTable: dropped.uppercased(), limit: 10) == found)
        guard dropped != "c" else { return writer.rollback() }
        let before = try writer.connection.rows("SELECT * FROM c")
        try writer.connection.executeInternal("DROP TABLE \(dropped)")
        #expect((try writer.connection.rows("SELECT * FROM c") != before) == (action != nil))
        writer.rollback()
    }

    /// The module drops the tables that it keeps its contents in by DROP TABLE, too.
    @Test(arguments: ["f", "F"]) func aVirtualTable(_ dropped: String) throws {
        let writer = try TestPool().pool.writer
        try writer.connection.executeInternal(
            """
            CREATE VIRTUAL TABLE f USING fts5(a); INSERT INTO f(rowid, a) VALUES(1, 'x');
            CREATE TABLE c(r INTEGER REFERENCES f_content(id) ON DELETE CASCADE); INSERT INTO c VALUES(1);
            CREATE TABLE f_own(id INTEGER PRIMARY KEY); INSERT INTO f_own VALUES(1);
            CREATE TABLE d(r INTEGER REFERENCES f_own ON DELETE CASCADE); INSERT INTO d VALUES(1);
            PRAGMA foreign_keys = ON; BEGIN IMMEDIATE
            """)
        let found = try writer.dependents(ofTable: dropped, limit: 10)
        #expect(found == [Writer.Dependent(table: "c", action: "CASCADE")])
        try writer.connection.executeInternal("DROP TABLE \(dropped)")
        #expect(try writer.connection.rows("SELECT (SELECT count(*) FROM c), (SELECT count(*) FROM d)") == [["0", "1"]])
        writer.rollback()
    }

    /// What SQLite does not do silently is its own to refuse.
    @Test(arguments: ["", "ON DELETE RESTRICT", "ON UPDATE CASCADE", "ON DELETE NO ACTION DEFERRABLE INITIALLY DEFERRED"])
    func whatIsRefusedAnyway(_ action: String) throws {
        let writer = try TestPool().pool.writer
        try writer.connection.executeInternal("\(Self.schema) CREATE TABLE c(r REFERENCES p \(action)); INSERT INTO c VALUES(1)")
        #expect(try writer.dependents(ofTable: "p", limit: 10).isEmpty)
        #expect(throws: SQLiteError.self) { try writer.connection.executeInternal("DROP TABLE p") }
    }

    @Test func severalAndNoMoreThanAreAskedFor() throws {
        let writer = try TestPool().pool.writer
        try writer.connection.executeInternal(Self.schema)
        for number in 1...5 {
            try writer.connection.executeInternal(
                """
                CREATE TABLE "c ""\(number)"(r REFERENCES p ON DELETE CASCADE, s REFERENCES p ON DELETE CASCADE);
                INSERT INTO "c ""\(number)" VALUES(1, 2);
                """)
        }
        let expected = (1...5).map { Writer.Dependent(table: "c \"\($0)", action: "CASCADE") }
        #expect(try writer.dependents(ofTable: "p", limit: 10) == expected)
        #expect(try writer.dependents(ofTable: "p", limit: 2) == Array(expected.prefix(2)))
        try writer.connection.executeInternal("PRAGMA foreign_keys = OFF")
        #expect(try writer.dependents(ofTable: "p", limit: 10).isEmpty)
    }
}
