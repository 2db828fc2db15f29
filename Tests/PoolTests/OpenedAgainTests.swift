import Foundation
import Testing

@testable import Pool
@testable import SQLite

/// The -wal goes, or has gone, in the milliseconds in which the database is closed and opened again.
@Suite struct OpenedAgainTests {
    private let files = FileManager.default

    private func commit(_ ids: ClosedRange<Int>, _ test: TestPool) {
        for id in ids { _ = test.run([test.member("INSERT INTO t VALUES(\(id), \(id))")]) }
    }

    /// In seconds of 1970.
    private func setLastChange(of path: String, to seconds: Int) throws {
        let time = timeval(tv_sec: seconds, tv_usec: 0)
        try #require(utimes(path, [time, time]) == 0)
    }

    /// A few milliseconds in which nobody has it open: what was committed there is gone with it, and nobody serves the database as if it
    /// were whole.
    @Test(arguments: [true, false]) func aWALThatGoesBeforeTheDatabaseIsOpenedAgain(_ isDeleted: Bool) throws {
        let test = try TestPool()
        commit(1...2, test)
        if isDeleted { try files.removeItem(atPath: test.path + "-wal") } else { try #require(truncate(test.path + "-wal", 0) == 0) }
        let left = try test.pool.filesToOpenAgain()
        #expect(throws: SQLiteError.self) { try test.pool.openWriterAgain(left) }
    }

    /// The new one that was written goes, too, before anybody has it open: what was committed here is written once more.
    @Test func aWALThatIsDeletedOnceMore() throws {
        let test = try TestPool()
        #expect(try test.pool.writer.checkpoint(.truncate).isComplete)
        commit(1...2, test)
        test.pool.writer.endSnapshot()
        try files.removeItem(atPath: test.path + "-wal")
        let outsider = try Outsider(test.path)
        #expect(outsider.run("INSERT INTO parent VALUES(1)") == "[]")
        #expect(try test.pool.rescueWAL() == nil)
        try files.removeItem(atPath: test.path + "-wal")
        #expect(try test.pool.rescueWALAgain()?.contains("is in no -wal that is left and lost") == true)
        let copy = test.directory + "/copy.db"
        for name in ["", "-wal"] { try files.copyItem(atPath: test.path + name, toPath: copy + name) }
        let saved = try Connection(path: copy, mode: .readOnly, settings: ConnectionSettings())
        #expect(try saved.rows("SELECT count(*) FROM t") == [["2"]])
    }

    /// The same a moment later.
    @Test func aWALThatIsTruncatedWhileTheDatabaseIsOpenedAgain() throws {
        let test = try TestPool()
        commit(1...2, test)
        try setLastChange(of: test.path, to: 1_000_000_000)
        let left = try test.pool.filesToOpenAgain()
        try #require(truncate(test.path + "-wal", 0) == 0)
        #expect(throws: SQLiteError.self) { try test.pool.openWriterAgain(left) }
    }

    /// What was in it is written anew, with what others have committed last.
    @Test(arguments: PoolLimits.Durability.allCases, [true, false])
    func aWALThatIsDeletedWhileTheDatabaseIsOpenedAgain(_ durability: PoolLimits.Durability, _ othersCommit: Bool) throws {
        let test = try TestPool { $0.durability = durability }
        #expect(try test.pool.writer.checkpoint(.truncate).isComplete)
        commit(1...2, test)
        try test.pool.commitToSync()?.waitUntilDurable()
        test.pool.writer.endSnapshot()
        try setLastChange(of: test.path, to: 1_000_000_000)
        let left = try test.pool.filesToOpenAgain()
        if othersCommit {
            let outsider = try Outsider(test.path)
            #expect(outsider.run("INSERT INTO parent VALUES(1)") == "[]")
        }
        try files.removeItem(atPath: test.path + "-wal")
        try test.pool.openWriterAgain(left)
        #expect(test.pool.writer.knownFiles.places.problem == nil)
        commit(3...3, test)
        try test.pool.commitToSync()?.waitUntilDurable()
        let copy = test.directory + "/copy.db"
        for name in ["", "-wal"] { try files.copyItem(atPath: test.path + name, toPath: copy + name) }
        let saved = try Connection(path: copy, mode: .readOnly, settings: ConnectionSettings())
        #expect(try saved.rows("SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM parent)") == [["3", othersCommit ? "1" : "0"]])
    }

    /// SQLite has opened it, and the index names what is in it, but nobody has looked yet where it is.
    @Test(arguments: PoolLimits.Durability.allCases, [true, false])
    func aWALThatIsDeletedRightAfterTheDatabaseWasOpenedAgain(_ durability: PoolLimits.Durability, _ isRead: Bool) throws {
        let test = try TestPool { $0.durability = durability }
        #expect(try test.pool.writer.checkpoint(.truncate).isComplete)
        commit(1...2, test)
        try test.pool.commitToSync()?.waitUntilDurable()
        test.pool.writer.endSnapshot()
        try setLastChange(of: test.path, to: 1_000_000_000)
        let left = try test.pool.filesToOpenAgain()
        try files.removeItem(atPath: test.path + "-wal")
        let outsider = isRead ? try Outsider(test.path) : nil
        if let outsider { #expect(outsider.run("SELECT count(*) FROM parent") == "[(0,)]") }
        #expect(try test.pool.writeWALAnew(left))
        try test.pool.openWriterAgain(test.pool.filesToOpenAgain())
        #expect(test.pool.writer.knownFiles.places.problem == nil)
        commit(3...3, test)
        try test.pool.commitToSync()?.waitUntilDurable()
        let copy = test.directory + "/copy.db"
        for name in ["", "-wal"] { try files.copyItem(atPath: test.path + name, toPath: copy + name) }
        let saved = try Connection(path: copy, mode: .readOnly, settings: ConnectionSettings())
        #expect(try saved.rows("SELECT count(*) FROM t") == [["3"]])
    }

    /// Somebody who has copied it since, and more, need not have left a trace of that: what is older is not written over it.
    @Test func aWALThatIsDeletedWhileTheDatabaseMayHaveBeenWritten() throws {
        let test = try TestPool()
        commit(1...2, test)
        try setLastChange(of: test.path, to: 4_000_000_000)
        let left = try test.pool.filesToOpenAgain()
        try files.removeItem(atPath: test.path + "-wal")
        #expect(throws: SQLiteError.self) { try test.pool.openWriterAgain(left) }
        #expect(!test.pool.writer.places.hasFrames)
    }

    /// A change within the same tick, or within the second where the file system has nothing smaller, would leave the file's time as it is.
    @Test(
        arguments: [
            (5_123_456_789, 5_133_456_789, false), (5_123_456_789, 5_143_456_790, true), (5_123_456_789, 5_123_456_789, false),
            (5_000_000_000, 5_999_999_999, false), (5_000_000_000, 6_999_999_999, false), (5_000_000_000, 7_000_000_001, true),
            (5_000_000_000, 4_000_000_000, false), (0, UInt64.max, true),
        ] as [(UInt64, UInt64, Bool)])
    func aTimeThatWouldTellOfAChange(_ modified: UInt64, _ now: UInt64, _ tells: Bool) {
        #expect(DatabaseFiles.wouldTellOfChange(modified, now: now) == tells)
    }

    /// Another process may have closed the database as the last one: then all is in its file.
    @Test func aWALThatIsCopiedWhileTheDatabaseIsOpenedAgain() throws {
        let test = try TestPool()
        commit(1...2, test)
        let left = try test.pool.filesToOpenAgain()
        _ = try test.pool.writer.checkpoint(.truncate)
        try test.pool.openWriterAgain(left)
        #expect(try test.lookFromOutside("SELECT count(*) FROM t") == [["2"]])
    }
}
