import Testing

@testable import SQLite

/// Two sessions that share one connection, each with counters of its own.
@Suite struct ChangeCountersTests {
    final class Session {
        let connection: Connection
        var values = ChangeCounters.Values()

        init(_ connection: Connection) { self.connection = connection }

        @discardableResult
        func write(_ sql: String, countsRows: Bool = true) throws -> [[String]] {
            connection.beginCountingChanges(for: values)
            defer { values = connection.endCountingChanges(countsRows: countsRows) }
            return try connection.rows(sql)
        }

        func read(_ sql: String) throws -> [[String]] {
            connection.changeCounters.values = values
            return try connection.rows(sql)
        }

        /// last_insert_rowid, changes, total_changes.
        func counters() throws -> [String] {
            try read("SELECT last_insert_rowid(), changes(), total_changes()")[0]
        }
    }

    static let schema = "CREATE TABLE t(id INTEGER PRIMARY KEY, a); CREATE TABLE log(a)"

    private func sessions(_ schema: String = Self.schema) throws -> (TemporaryDatabase, Session, Session) {
        let database = try TemporaryDatabase(schema)
        let connection = try database.open()
        return (database, Session(connection), Session(connection))
    }

    ///     ann                       bob
    ///     inserts 2 rows
    ///                               inserts row 100
    ///     sees 2, 2, 2
    ///                               sees 100, 1, 1
    @Test func sessionsDoNotMeet() throws {
        let (database, ann, bob) = try sessions()
        #expect(try ann.counters() == ["0", "0", "0"])
        try ann.write("INSERT INTO t(a) VALUES(1), (2)")
        try bob.write("INSERT INTO t VALUES(100, 1)")
        #expect(try ann.counters() == ["2", "2", "2"])
        #expect(try bob.counters() == ["100", "1", "1"])
        try ann.write("UPDATE t SET a = 0")
        #expect(try ann.counters() == ["2", "3", "5"])
        #expect(try bob.counters() == ["100", "1", "1"])
        try bob.write("DELETE FROM t WHERE id = 5")
        #expect(try bob.counters() == ["100", "0", "1"])
        withExtendedLifetime(database) {}
    }

    /// A reader connection answers from the session's values too.
    @Test func onAnyConnection() throws {
        let (database, ann, _) = try sessions()
        try ann.write("INSERT INTO t(a) VALUES(1)")
        let reader = try database.open(.readOnly)
        reader.changeCounters.values = ann.values
        #expect(try reader.rows("SELECT last_insert_rowid(), changes(), total_changes()") == [["1", "1", "1"]])
    }

    /// The well-known "update, else insert" of one session, with another's write between its two statements.
    ///
    ///     ann                                        bob
    ///     UPDATE: 1 row
    ///                                                UPDATE: no row (or two)
    ///     INSERT ... WHERE changes() = 0: nothing
    @Test(arguments: ["UPDATE t SET a = 1 WHERE id = 99", "INSERT INTO t(a) VALUES(1), (2)", "UPDATE t SET a = 9 WHERE id = 1"])
    func writingStatementSeesItsOwnSessionsChanges(_ between: String) throws {
        let (database, ann, bob) = try sessions()
        try ann.write("INSERT INTO t VALUES(1, 0)")
        try ann.write("UPDATE t SET a = 1 WHERE id = 1")
        try bob.write(between)
        try ann.write("INSERT INTO log SELECT 'missing' WHERE changes() = 0")
        #expect(try ann.read("SELECT * FROM log") == [])

        try ann.write("UPDATE t SET a = 1 WHERE id = 77")
        try bob.write(between)
        try ann.write("INSERT INTO log SELECT 'missing' WHERE changes() = 0")
        #expect(try ann.read("SELECT * FROM log") == [["missing"]])
        withExtendedLifetime(database) {}
    }

    @Test func writingStatementSeesItsOwnSessionsRowAndTotal() throws {
        let (database, ann, bob) = try sessions()
        try ann.write("INSERT INTO t VALUES(10, 0)")
        try bob.write("INSERT INTO t VALUES(20, 0), (21, 0)")
        try ann.write("INSERT INTO log VALUES(last_insert_rowid() || ' ' || total_changes())")
        #expect(try ann.read("SELECT * FROM log") == [["10 1"]])
        withExtendedLifetime(database) {}
    }

    @Test func returning() throws {
        let (database, ann, bob) = try sessions()
        try bob.write("INSERT INTO t VALUES(50, 0)")
        #expect(try ann.write("INSERT INTO t(a) VALUES('x') RETURNING id, last_insert_rowid()") == [["51", "51"]])
        #expect(try ann.counters() == ["51", "1", "1"])
        withExtendedLifetime(database) {}
    }

    /// Inside a trigger the functions mean the trigger's own statements; after it, the statement's.
    @Test(arguments: [0, 1, 2, 5])
    func triggers(_ bobsRows: Int) throws {
        let (database, ann, bob) = try sessions(
            Self.schema + """
                ; CREATE TABLE seen(what, value);
                CREATE TABLE other(id INTEGER PRIMARY KEY, a);
                INSERT INTO other VALUES(1, 0), (2, 0);
                CREATE TRIGGER look AFTER INSERT ON log BEGIN
                  INSERT INTO other VALUES(1000, 0);
                  INSERT INTO seen VALUES('row', last_insert_rowid());
                  UPDATE other SET a = 1;
                  INSERT INTO seen VALUES('changes', changes());
                END
                """)
        if bobsRows > 0 { try bob.write("INSERT INTO t(a) VALUES\(Array(repeating: "(0)", count: bobsRows).joined(separator: ","))") }
        try ann.write("INSERT INTO t VALUES(7, 0)")
        try ann.write("INSERT INTO log VALUES('x')")
        #expect(try ann.read("SELECT what, value FROM seen") == [["row", "1000"], ["changes", "3"]])
        // The row of log, one of other, two of seen, and three updated: SQLite counts what triggers do in the total only.
        #expect(try ann.counters() == ["1", "1", "8"])
        withExtendedLifetime(database) {}
    }

    /// A trigger's statement that changes nothing says so, whatever the session's last one did.
    @Test func triggerStatementWithoutEffect() throws {
        let (database, ann, bob) = try sessions(
            Self.schema + """
                ; CREATE TABLE seen(value);
                CREATE TRIGGER look AFTER INSERT ON log BEGIN
                  UPDATE t SET a = 1 WHERE id = 99;
                  INSERT INTO seen SELECT 'missing' WHERE changes() = 0;
                END
                """)
        try ann.write("INSERT INTO t VALUES(1, 0)")
        try bob.write("INSERT INTO t VALUES(2, 0)")
        try ann.write("INSERT INTO log VALUES('x')")
        #expect(try ann.read("SELECT * FROM seen") == [["missing"]])
        withExtendedLifetime(database) {}
    }

    @Test func usableInViewsAndTriggersOfAnUntrustedSchema() throws {
        let (database, ann, _) = try sessions(
            Self.schema + "; CREATE VIEW v AS SELECT last_insert_rowid() + changes() + total_changes() AS sum")
        try ann.write("INSERT INTO t VALUES(5, 0)")
        #expect(try ann.read("SELECT sum FROM v") == [["7"]])
        withExtendedLifetime(database) {}
    }

    @Test func failedStatement() throws {
        let (database, ann, bob) = try sessions()
        try ann.write("INSERT INTO t VALUES(1, 0), (2, 0)")
        try bob.write("INSERT INTO t VALUES(30, 0)")
        #expect(throws: SQLiteError.self) { try ann.write("INSERT INTO t VALUES(3, 0), (1, 0)") }
        // SQLite: a failed statement changed nothing; the row number it had taken stays taken.
        #expect(try ann.counters()[1...] == ["0", "2"])
        #expect(try bob.counters() == ["30", "1", "1"])
        withExtendedLifetime(database) {}
    }

    /// CREATE and the like leave changes() as it was.
    @Test func onlyRowsCount() throws {
        let (database, ann, bob) = try sessions()
        try ann.write("INSERT INTO t VALUES(1, 0), (2, 0)")
        try bob.write("INSERT INTO t VALUES(30, 0)")
        try ann.write("CREATE TABLE u(a)", countsRows: false)
        #expect(try ann.counters() == ["2", "2", "2"])
        withExtendedLifetime(database) {}
    }
}
