import Foundation
import Testing

@testable import Pool
@testable import SQLite

/// A COMMIT that had no room has left frames, of which all but zeros may be there.
@Suite struct UnfinishedCommitTests {
    private let full = SQLiteError(extendedCode: SQLiteError.Code.full, message: "database or disk is full")

    private func walBytes(_ test: TestPool) throws -> Int64 { try #require(test.pool.writer.connection.walFile()?.bytes) }

    private func committedBytes(_ test: TestPool) throws -> Int64 {
        try #require(test.pool.writer.walIndex.map { Int64($0.copyHeader().leastWALBytes) })
    }

    /// As `WALRoom` does it.
    private func leaveSomething(_ test: TestPool) throws {
        let file = try #require(test.pool.writer.connection.walFile())
        try file.appendZeros(from: try walBytes(test), upTo: try walBytes(test) + 10_000)
        #expect(try walBytes(test) > committedBytes(test))
    }

    @Test func itIsCutOff() throws {
        let test = try TestPool()
        try leaveSomething(test)
        #expect(test.pool.writer.cutUnfinishedCommit(after: full) == full)
        #expect(try walBytes(test) == committedBytes(test) && !test.pool.writer.hasUnfinishedCommit)
        #expect(test.pool.writer.cutUnfinishedCommit(after: full) == full)
    }

    ///     writer                                | another process
    ///                                           | BEGIN IMMEDIATE
    ///     nobody knows what will be there       |
    ///                                           | ROLLBACK, or COMMIT
    ///     the next transaction begins with it   |
    @Test(arguments: ["ROLLBACK", "INSERT INTO parent VALUES (7); COMMIT"])
    func notBesideAnotherProcess(end: String) throws {
        let test = try TestPool()
        try leaveSomething(test)
        let other = try Connection(path: test.path, mode: .readWrite, settings: ConnectionSettings())
        try other.executeInternal("BEGIN IMMEDIATE")
        let error = test.pool.writer.cutUnfinishedCommit(after: full)
        #expect(error.isInputOutput && test.pool.writer.failure == nil && test.pool.writer.hasUnfinishedCommit)
        try other.executeInternal(end)
        try test.pool.writer.begin(test.member())
        #expect(try walBytes(test) >= committedBytes(test) && !test.pool.writer.hasUnfinishedCommit && test.pool.writer.failure == nil)
        try test.pool.writer.connection.executeInternal("INSERT INTO parent VALUES (8)")
        try test.pool.writer.commit()
        #expect(try test.lookFromOutside("SELECT count(*) FROM parent WHERE id = 8") == [["1"]])
    }
}
