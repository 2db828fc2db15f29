import Testing

@testable import Pool
@testable import SQLite

/// A statement that takes long to prepare obeys whoever it is prepared for.
@Suite struct PreparingTests {
    /// A join of many tables is planned for long, and planned anew wherever it is mentioned.
    private static let slow: String = {
        let tables = (0..<40).map { "t t\($0)" }.joined(separator: ", ")
        let columns = ["id", "v"]
        let conditions = (1..<40).flatMap { table in
            (max(0, table - 12)..<table).map { "t\(table).\(columns[(table + $0) % 2]) = t\($0).\(columns[table * $0 % 2])" }
        }
        return "WITH j AS NOT MATERIALIZED (SELECT 1 x FROM \(tables) WHERE \(conditions.joined(separator: " AND "))) "
            + "INSERT INTO t SELECT 7, coalesce(\(Array(repeating: "(SELECT x FROM j)", count: 20).joined(separator: ", ")))"
    }()

    @Test(arguments: [StopReason.cancelled, .statementTimeout, .writerTimeLimit]) func isStoppedForAReason(_ reason: StopReason) throws {
        let test = try TestPool()
        let owner = FakeMember(1, [])
        var questions = 0
        owner.whileRunning = { asked in
            questions = asked + 1
            return asked == 2 ? reason : nil
        }
        let writer = test.pool.writer
        let error = #expect(throws: SQLiteError.self) { try writer.statement(for: text(Self.slow), owner) }
        #expect(writer.stopReason == reason && error.map { writer.wasStopped(by: $0) } == true)
        #expect(questions == 3, "it is not prepared a second time")
        // Nobody owns it now, and nobody is asked.
        writer.giveBack(try writer.statement(for: text("SELECT 1")))
        #expect(questions == 3)
    }

    /// Who runs several statements in one go hears of it, also where the owner answers otherwise the next time.
    @Test func aReasonStays() throws {
        let test = try TestPool()
        let owner = FakeMember(1, [])
        var questions = 0
        owner.whileRunning = { asked in
            questions = asked + 1
            return asked == 0 ? .disconnected : nil
        }
        let (writer, sql) = (test.pool.writer, text(Self.slow))
        writer.beginRun(owner)
        for _ in 0..<2 {
            let error = #expect(throws: SQLiteError.self) { _ = try writer.connection.prepare(sql.bytes).statement }
            #expect(error?.mayBeStoppedPreparation == true)
        }
        #expect(writer.stopReason == .disconnected && questions == 1)
        writer.endRun()
    }

    ///     members
    ///     1 inserts
    ///     2 is prepared for longer than the group may take: stopped, at the head of the next group
    ///     1 is committed
    @Test func aMemberThatTakesLongRunsLater() throws {
        let test = try TestPool()
        let (early, slow) = (test.member("INSERT INTO t VALUES(1, 1)"), test.member(Self.slow))
        let result = test.run([early, slow], limitMilliseconds: 1)
        #expect(result.finished.map(\.clientID) == [1] && early.succeeded && result.postponed.map(\.clientID) == [2])
        #expect(try test.lookFromOutside("SELECT id FROM t") == [["1"]])
    }
}
