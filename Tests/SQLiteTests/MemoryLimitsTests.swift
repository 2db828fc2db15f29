import CHeap
import CSQLite
import Foundation
import Testing

@testable import SQLite

/// Each test limits its own thread: other tests run beside it, but not those of this suite, which take much at once. What all
/// threads have together is bounded in Tests/BlackBox/test_hostile_sql.py.
@Suite(.serialized) struct MemoryLimitsTests {
    private func limited(toBytes bytes: Int64, _ body: () throws -> Void) rethrows {
        walpool_heap_begin_limited(bytes)
        defer { SQLiteLibrary.beginOwnWork() }
        try body()
    }

    @Test func aStatementThatWantsTooMuchFails() throws {
        let connection = try TemporaryDatabase().open(.readOnly)
        limited(toBytes: 32 << 20) {
            let many = "SELECT " + (0..<40).map { _ in "randomblob(1000000)" }.joined(separator: ", ")
            #expect(connection.failure(many)?.code == 7)
            // What was taken is given back, so as often as you like.
            for _ in 0..<20 { #expect(connection.failure("SELECT length(randomblob(20000000))") == nil) }
            #expect(connection.failure("SELECT length(randomblob(40000000))")?.code == 7)
            SQLiteLibrary.beginOwnWork()
            #expect(connection.failure("SELECT length(randomblob(40000000))") == nil)
        }
    }

    /// What a thread has counted and not yet added to the total must not be lost with it: a hundred such threads, each with
    /// less than it adds at a time.
    @Test func aThreadThatEndsLeavesItsCount() throws {
        try #require(SQLiteLibrary.configure())
        // Tests of other suites allocate meanwhile, but nothing like that much.
        let before = SQLiteLibrary.memoryBytes
        for _ in 0..<100 { onThread { Memory.shared.allocate(900_000) } }
        #expect(SQLiteLibrary.memoryBytes - before > 60 << 20)
        for _ in 0..<100 { onThread { Memory.shared.free() } }
        #expect(SQLiteLibrary.memoryBytes - before < 30 << 20)
    }

    private func onThread(_ body: @escaping @Sendable () -> Void) {
        let thread = Thread {
            body()
            SQLiteLibrary.endWork()
            Memory.shared.ended.signal()
        }
        thread.start()
        Memory.shared.ended.wait()
    }

    @Test func aParserThatWantsTooMuchFails() throws {
        let connection = try TemporaryDatabase().open(.readOnly)
        limited(toBytes: 16 << 20) {
            let doubling = (1...30).map { "c\($0) AS (SELECT 1 FROM c\($0 - 1) a, c\($0 - 1) b)" }.joined(separator: ", ")
            #expect(connection.failure("WITH c0 AS (SELECT 1), \(doubling) SELECT * FROM c30")?.code == 7)
            #expect(connection.failure("SELECT 1") == nil)
        }
    }

    /// The list of the parts of the -wal's index is such a block: SQLite goes on with a transaction whose frames it could not enter there,
    /// and their checksums are wrong then.
    @Test func smallBlocksMayGrow() throws {
        // Configures the allocator.
        _ = try TemporaryDatabase()
        var block = try #require(sqlite3_malloc(64))
        walpool_heap_begin_limited(0)
        defer {
            walpool_heap_begin()
            sqlite3_free(block)
        }
        #expect(sqlite3_malloc(64) == nil)
        #expect(sqlite3_realloc(block, 4097) == nil)
        block = try #require(sqlite3_realloc(block, 4096))
        #expect(sqlite3_realloc(block, 4096 + 4096) == nil)
    }
}

/// `@unchecked Sendable`: one thread after the other.
private final class Memory: @unchecked Sendable {
    static let shared = Memory()
    let ended = DispatchSemaphore(value: 0)
    private var blocks: [UnsafeMutableRawPointer] = []

    func allocate(_ bytes: Int32) { blocks.append(sqlite3_malloc(bytes)) }
    func free() { sqlite3_free(blocks.removeLast()) }
}
