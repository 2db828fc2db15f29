import Testing

@testable import SQLite

@Suite struct CallbacksTests {
    static let runaway = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

    @Test(arguments: [Connection.Mode.readOnly, .readWrite])
    func progressHandlerStopsARunawayQuery(_ mode: Connection.Mode) throws {
        let connection = try TemporaryDatabase().open(mode)
        var calls = 0
        connection.callbacks.onProgress = {
            calls += 1
            return calls == 50
        }
        let error = try #require(connection.failure(Self.runaway))
        #expect(error.isInterrupt && calls == 50)
        // The connection goes on, and the next statement is not interrupted.
        #expect(try connection.value("SELECT 1") == "1")
        connection.callbacks.onProgress = nil
        #expect(try connection.value(Self.runaway.replacing("FROM n)", with: "FROM n WHERE i < 100000)")) == "100000")
    }

    /// A join of many tables is planned for long, and planned anew wherever it is mentioned.
    static func slowToPrepare(mentions: Int) -> String {
        let tables = (0..<40).map { "t t\($0)" }.joined(separator: ", ")
        let conditions = (1..<40).flatMap { table in
            (max(0, table - 12)..<table).map { "t\(table).\(["a", "b"][(table + $0) % 2]) = t\($0).\(["a", "b"][table * $0 % 2])" }
        }
        return "WITH j AS NOT MATERIALIZED (SELECT 1 x FROM \(tables) WHERE \(conditions.joined(separator: " AND "))) SELECT "
            + Array(repeating: "(SELECT x FROM j)", count: mentions).joined(separator: ", ")
    }
    static let joined = "CREATE TABLE t (a, b); CREATE INDEX ta ON t (a); CREATE INDEX tb ON t (b)"

    @Test func preparingIsStopped() throws {
        let connection = try TemporaryDatabase(Self.joined).open()
        var calls = 0
        connection.callbacks.onProgress = {
            calls += 1
            return calls >= 3
        }
        let error = try #require(connection.failure(Self.slowToPrepare(mentions: 20)))
        #expect(error.mayBeStoppedPreparation && calls == 3, "\(error), \(calls)")
        // Else even a short one would be stopped, where the machine takes a millisecond for it.
        calls = .min
        #expect(try connection.value("SELECT 1") == "1")
        #expect(connection.failure(Self.slowToPrepare(mentions: 1)) == nil)
    }

    /// SQLite prepares a statement again in the middle of a step.
    @Test func preparingAgainIsStopped() throws {
        let database = try TemporaryDatabase(Self.joined)
        let connection = try database.open()
        let statement = try connection.prepared(Self.slowToPrepare(mentions: 3))
        try database.open().executeInternal("CREATE TABLE another (x)")
        connection.callbacks.onProgress = { true }
        let error = #expect(throws: SQLiteError.self) { try statement.step() }
        #expect(error?.mayBeStoppedPreparation == true, "\(String(describing: error))")
        connection.callbacks.onProgress = nil
        statement.reset()
        #expect(try statement.step() == .row)
    }

    @Test func shortStatementsNeverGetThere() throws {
        let connection = try TemporaryDatabase("CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES(1, 2)").open()
        var calls = 0
        connection.callbacks.onProgress = {
            calls += 1
            return false
        }
        let statement = try connection.prepared("SELECT a FROM t WHERE id = ?")
        calls = 0
        for _ in 0..<100 {
            try statement.bind(Int64(1), at: 1)
            #expect(try statement.step() == .row)
            statement.reset()
        }
        #expect(calls == 0)
        // Nor while they are prepared, but for those that lose the processor for a millisecond in the middle of it.
        for number in 0..<100 { try connection.rows("INSERT INTO t VALUES (\(number + 10), 'new')") }
        #expect(calls < 50)
    }

    /// A write that is stopped takes its whole transaction along.
    @Test func stoppedWriteRollsBack() throws {
        let connection = try TemporaryDatabase("CREATE TABLE t(a)").open()
        try connection.executeInternal("BEGIN")
        try connection.rows("INSERT INTO t VALUES(1)")
        connection.callbacks.onProgress = { true }
        let insert = "INSERT INTO t " + Self.runaway
        #expect(connection.failure(insert)?.isInterrupt == true)
        connection.callbacks.onProgress = nil
        #expect(connection.isAutocommit)
        #expect(try connection.value("SELECT count(*) FROM t") == "0")
    }

    ///     outsider                   we
    ///     BEGIN IMMEDIATE
    ///                                INSERT: asked three times, gives up: SQLITE_BUSY, nothing done
    @Test func busyHandlerGivesUp() throws {
        let database = try TemporaryDatabase("CREATE TABLE t(a)")
        let writer = try database.open()
        let outsider = try Outsider(database)
        #expect(outsider.run("BEGIN IMMEDIATE") == "[]")
        var attempts: [Int] = []
        writer.callbacks.onBusy = { attempt in
            attempts.append(attempt)
            return attempt < 2
        }
        let error = try #require(writer.failure("INSERT INTO t VALUES(1)"))
        #expect(error.isBusy && error.extendedCode == 5)
        #expect(attempts == [0, 1, 2])
        #expect(writer.isAutocommit)
        #expect(try writer.value("SELECT count(*) FROM t") == "0", "reads go on")
        writer.callbacks.onBusy = nil
        #expect(writer.failure("INSERT INTO t VALUES(1)")?.isBusy == true, "no handler: no wait")
        #expect(outsider.run("ROLLBACK") == "[]")
        #expect(writer.failure("INSERT INTO t VALUES(1)") == nil)
    }

    ///     outsider                   we
    ///     BEGIN IMMEDIATE
    ///                                INSERT: asked, tries again
    ///     COMMIT
    ///                                INSERT succeeds
    @Test func busyHandlerWaitsForTheOutsider() throws {
        let database = try TemporaryDatabase("CREATE TABLE t(a)")
        let writer = try database.open()
        let outsider = try Outsider(database)
        outsider.run("BEGIN IMMEDIATE")
        outsider.run("INSERT INTO t VALUES(1)")
        var attempts = 0
        writer.callbacks.onBusy = { _ in
            attempts += 1
            if attempts == 3 { outsider.run("COMMIT") }
            return attempts < 10
        }
        #expect(writer.failure("INSERT INTO t VALUES(2)") == nil)
        #expect(attempts == 3)
        #expect(try writer.value("SELECT count(*) FROM t") == "2")
    }

    /// A snapshot that is not the newest cannot be upgraded: SQLITE_BUSY_SNAPSHOT, and no handler is asked.
    @Test func oldSnapshotDoesNotWait() throws {
        let database = try TemporaryDatabase("CREATE TABLE t(a)")
        let writer = try database.open()
        var asked = false
        writer.callbacks.onBusy = { _ in
            asked = true
            return false
        }
        try writer.executeInternal("BEGIN")
        try writer.value("SELECT * FROM t")
        try writer.value("SELECT count(*) FROM t")
        try Outsider(database).run("INSERT INTO t VALUES(1)")
        let error = try #require(writer.failure("INSERT INTO t VALUES(2)"))
        #expect(error.isBusy && error.extendedCode == 517)
        #expect(!asked)
    }
}
