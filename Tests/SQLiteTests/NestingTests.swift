import CHeap
import Foundation
import Testing

@testable import SQLite

/// What nests more deeply than the thread's stack has room for, each in the shape that recurses in a way of its own.
@Suite struct NestingTests {
    private static func chain(_ count: Int, _ link: (Int) -> String) -> String { (1..<count).map(link).joined() }

    struct Shape: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var schema = ""
        var query: String
    }

    private static func shapes(_ count: Int) -> [Shape] {
        [
            Shape(
                testDescription: "common table expressions",
                query: "WITH c0 AS (SELECT 1 AS x)" + chain(count) { ", c\($0) AS (SELECT DISTINCT x FROM c\($0 - 1))" }
                    + " SELECT * FROM c\(count - 1)"),
            // The authorizer is not asked while a view's columns are found.
            Shape(
                testDescription: "views",
                schema: "CREATE VIEW v0 AS SELECT 1 AS x;" + chain(count) { "CREATE VIEW v\($0) AS SELECT DISTINCT x FROM v\($0 - 1);" },
                query: "SELECT * FROM v\(count - 1)"),
            Shape(
                testDescription: "cascades",
                schema: "CREATE TABLE t0 (id INTEGER PRIMARY KEY);"
                    + chain(count) { "CREATE TABLE t\($0) (id INTEGER PRIMARY KEY REFERENCES t\($0 - 1) ON DELETE CASCADE);" },
                query: "DELETE FROM t0"),
        ]
    }

    @Test(arguments: shapes(3_000)) func ends(_ shape: Shape) throws {
        let database = try TemporaryDatabase(shape.schema)
        let found = try onThread(with: database) { connection in
            (connection.failure(shape.query), try connection.value("SELECT 1"))
        }
        #expect(found.0?.isStackDepth == true, "\(String(describing: found.0))")
        #expect(found.1 == "1")
    }

    @Test(arguments: shapes(60)) func goesOn(_ shape: Shape) throws {
        let database = try TemporaryDatabase(shape.schema)
        #expect(try onThread(with: database) { $0.failure(shape.query) } == nil)
    }

    /// A thread that was short of stack once has enough for the next statement, and another error is called what it is.
    @Test func otherErrorsKeepTheirNames() throws {
        let database = try TemporaryDatabase()
        let deep = Self.shapes(3_000)[0].query
        let codes = try onThread(with: database) { connection in
            _ = connection.failure(deep)
            let refused = connection.failure("PRAGMA journal_mode = DELETE")
            walpool_heap_begin_limited(1 << 20)
            let greedy = connection.failure("SELECT length(randomblob(20000000))")
            SQLiteLibrary.beginOwnWork()
            return [refused?.code, greedy?.code]
        }
        #expect(codes == [23, 7])
    }

    private func onThread<Result: Sendable>(
        with database: TemporaryDatabase, _ body: @escaping @Sendable (Connection) throws -> Result
    ) throws -> Result {
        let outcome = Outcome<Result>()
        let connection = try database.open()
        let thread = Thread {
            outcome.result = Swift.Result { try body(connection) }
            outcome.ended.signal()
        }
        thread.stackSize = 16 << 20
        thread.start()
        outcome.ended.wait()
        return try withExtendedLifetime(database) { try #require(outcome.result).get() }
    }
}

/// `@unchecked Sendable`: written before the signal, read after it.
private final class Outcome<Value>: @unchecked Sendable {
    var result: Result<Value, any Error>?
    let ended = DispatchSemaphore(value: 0)
}
