import Foundation
import SQLite
import Testing

@testable import Pool

/// The -wal is longer than what it holds, and that changes nothing of what it holds.
@Suite struct WALRoomTests {
    private static func length(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : -1
    }

    /// A database in WAL mode in a directory of its own.
    private final class Scratch {
        let path: String
        let connection: Connection

        init() throws {
            let directory = NSTemporaryDirectory() + "/walpool-" + UUID().uuidString
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            path = directory + "/app.db"
            connection = try Connection(path: path, mode: .readWrite, settings: ConnectionSettings())
            try connection.executeInternal("PRAGMA journal_mode = WAL; CREATE TABLE t (n INTEGER)")
        }

        deinit { try? FileManager.default.removeItem(atPath: (path as NSString).deletingLastPathComponent) }
    }

    @Test func framesAreWrittenIntoWhatIsThere() throws {
        let scratch = try Scratch()
        let index = try #require(scratch.connection.walIndex())
        var room = WALRoom(file: try #require(scratch.connection.walFile()), pageBytes: 4096)
        let wal = scratch.path + "-wal"
        try scratch.connection.executeInternal("BEGIN IMMEDIATE")
        room.make(behind: index.frames, upTo: 4_000)
        let length = Self.length(wal)
        #expect(length >= 32 + index.frames * 4_120 + Int(WALRoom.aheadBytes))
        try scratch.connection.executeInternal("INSERT INTO t VALUES (1); COMMIT")
        #expect(Self.length(wal) == length)
        // As long as there is enough ahead, nothing is written.
        room.make(behind: index.frames, upTo: 4_000)
        #expect(Self.length(wal) == length)
        room.make(behind: (length - Int(WALRoom.aheadBytes)) / 4_120 + 1, upTo: 4_000)
        #expect(Self.length(wal) > length)
        #expect(try scratch.connection.firstText("SELECT n FROM t") == "1")
    }

    /// It may be a commit that was cut short, which zeros would make whole.
    @Test func noneBehindWhatAnotherHasLeft() throws {
        let scratch = try Scratch()
        let index = try #require(scratch.connection.walIndex())
        let file = try #require(scratch.connection.walFile())
        let wal = scratch.path + "-wal"
        let handle = try #require(FileHandle(forWritingAtPath: wal))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data([0, 0, 1]))
        let length = Self.length(wal)
        var room = WALRoom(file: file, pageBytes: 4096)
        room.make(behind: index.frames, upTo: 4_000)
        #expect(Self.length(wal) == length && !file.isZero(from: Int64(length - 3), upTo: Int64(length)))
        #expect(file.isZero(from: Int64(length - 3), upTo: Int64(length - 1)) && !file.isZero(from: 0, upTo: Int64(length) + 1))
        // A commit writes over it, and zeros are nothing.
        try scratch.connection.executeInternal("INSERT INTO t VALUES (1)")
        room.make(behind: index.frames, upTo: 4_000)
        #expect(Self.length(wal) > length + Int(WALRoom.aheadBytes))
        let extended = Self.length(wal)
        room = WALRoom(file: file, pageBytes: 4096)
        room.make(behind: (extended - Int(WALRoom.aheadBytes)) / 4_120 + 1, upTo: 4_000)
        #expect(Self.length(wal) > extended)
    }

    /// Whoever opens the database after a crash reads the WAL from its beginning, and finds the zeros behind the last
    /// commit.
    @Test func recoveryEndsAtTheZeros() throws {
        let scratch = try Scratch()
        let index = try #require(scratch.connection.walIndex())
        var room = WALRoom(file: try #require(scratch.connection.walFile()), pageBytes: 4096)
        try scratch.connection.executeInternal("BEGIN IMMEDIATE")
        room.make(behind: index.frames, upTo: 4_000)
        try scratch.connection.executeInternal("INSERT INTO t VALUES (1), (2); COMMIT")
        let copy = scratch.path + "-crashed"
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: scratch.path + suffix, toPath: copy + suffix)
        }
        let reopened = try Connection(path: copy, mode: .readWrite, settings: ConnectionSettings())
        #expect(try reopened.firstText("SELECT sum(n) FROM t") == "3")
        #expect(try reopened.firstText("PRAGMA integrity_check") == "ok")
        try reopened.executeInternal("INSERT INTO t VALUES (4)")
        #expect(try reopened.firstText("SELECT sum(n) FROM t") == "7")
    }

    /// Behind the point where a checkpoint is due nothing is made ready, and what is there is never cut off.
    @Test func notBeyondWhereACheckpointIsDue() throws {
        let scratch = try Scratch()
        let file = try #require(scratch.connection.walFile())
        let due: Int64 = 32 + 10 * 4_120
        var room = WALRoom(file: file, pageBytes: 4096)
        for frames in [2, 10, 5_000] {
            room.make(behind: frames, upTo: 10)
            #expect(file.bytes == due)
        }
        var shorter = WALRoom(file: file, pageBytes: 4096)
        shorter.make(behind: 1, upTo: 5)
        #expect(file.bytes == due)
        var longest = WALRoom(file: file, pageBytes: 4096)
        longest.make(behind: WALRoom.mostFrames - 1, upTo: .max)
        let most: Int64 = 32 + 4_062 * 4_120
        #expect(file.bytes == most)
    }

    /// SQLite writes the first frame, and its header before it. From then on there is room again.
    @Test func afterATruncation() throws {
        let scratch = try Scratch()
        let index = try #require(scratch.connection.walIndex())
        let file = try #require(scratch.connection.walFile())
        var room = WALRoom(file: file, pageBytes: 4096)
        room.make(behind: index.frames, upTo: 4_000)
        #expect(try scratch.connection.checkpoint(.truncate).isComplete)
        room.make(behind: index.frames, upTo: 4_000)
        #expect(index.frames == 0 && file.bytes == 0)
        try scratch.connection.executeInternal("INSERT INTO t VALUES (1)")
        room.make(behind: index.frames, upTo: 4_000)
        let expected = 32 + Int64(index.frames) * 4_120 + WALRoom.stepBytes
        #expect(file.bytes == expected)
        try scratch.connection.executeInternal("INSERT INTO t VALUES (2)")
        #expect(try scratch.connection.firstText("SELECT sum(n) FROM t") == "3")
    }

    /// Another process has emptied the file, which shows in that there are fewer frames than before.
    @Test func anotherProcessHasTruncatedIt() throws {
        let scratch = try Scratch()
        let index = try #require(scratch.connection.walIndex())
        let file = try #require(scratch.connection.walFile())
        var room = WALRoom(file: file, pageBytes: 4096)
        try scratch.connection.executeInternal("INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)")
        room.make(behind: index.frames, upTo: 4_000)
        do {
            let other = try Connection(path: scratch.path, mode: .readWrite, settings: ConnectionSettings())
            #expect(try other.checkpoint(.truncate).isComplete)
            try other.executeInternal("INSERT INTO t VALUES (3)")
        }
        let short = try #require(file.bytes)
        room.make(behind: index.frames, upTo: 4_000)
        #expect(try #require(file.bytes) > short + WALRoom.aheadBytes)
        #expect(try scratch.connection.firstText("SELECT sum(n) FROM t") == "6")
    }
}
