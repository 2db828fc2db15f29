import CLinux
import Foundation
import Glibc
import SQLite
import Scheduling
import Testing

@testable import Pool

/// Where the tests below are left out, too: they ask what is tested here.
@Suite struct LocalFileSystemsTests {
    /// By the numbers of linux/magic.h and statfs(2).
    @Test(
        arguments: [
            ("ext2 to ext4", 0xEF53, true), ("XFS", 0x5846_5342, true), ("Btrfs", 0x9123_683E, true), ("F2FS", 0xF2F5_2010, true),
            ("tmpfs", 0x0102_1994, true),
            ("it cannot be said", 0, false), ("NFS", 0x6969, false), ("SMB", 0x517B, false), ("CIFS", 0xFF53_4D42, false),
            ("SMB 2", 0xFE53_4D42, false), ("9p", 0x0102_1997, false), ("Ceph", 0x00C3_6400, false), ("AFS", 0x5346_414F, false),
            ("OCFS2", 0x7461_636F, false), ("GFS2", 0x0116_1970, false), ("FUSE", 0x6573_5546, false), ("overlay", 0x794C_7630, false),
            ("proc", 0x9FA0, false),
        ] as [(String, UInt32, Bool)])
    func isLocal(_ name: String, _ number: UInt32, _ expected: Bool) { #expect(FileWatch.isLocal(number) == expected, "\(name)") }

    @Test func theNumberOfAPath() {
        #expect(walpool_file_system("/proc") == 0x9FA0)
        #expect(walpool_file_system("/no-such-directory") == 0)
    }
}

/// What is told of a database's files between two looks at their paths.
@Suite(.enabled(if: FileWatch.isLocal(walpool_file_system(NSTemporaryDirectory())), "temporary files are where nothing is watched"))
struct FileWatchTests {
    private let test: TestPool
    private let path: String

    init() throws {
        test = try TestPool()
        path = test.path
        _ = test.run([test.member("INSERT INTO t VALUES(1, 1)")])
    }

    private func write(_ bytes: String, into name: String, _ flags: Int32 = 0) throws {
        let descriptor = open(path + name, O_WRONLY | O_CREAT | flags, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        try #require(Glibc.write(descriptor, bytes, bytes.utf8.count) == bytes.utf8.count)
    }

    /// What somebody may do to the files, by name. Each is told once.
    private static let told: [(name: String, act: @Sendable (FileWatchTests) throws -> Void)] = [
        ("the database moved away", { try #require(rename($0.path, $0.path + ".away") == 0) }),
        (
            "another in its place",
            { test in
                try test.write("other", into: ".new")
                try #require(rename(test.path + ".new", test.path) == 0)
            }
        ),
        ("the -wal deleted", { try #require(unlink($0.path + "-wal") == 0) }),
        ("the -shm deleted", { try #require(unlink($0.path + "-shm") == 0) }),
        ("a hard link to the database", { try #require(link($0.path, $0.path + ".link") == 0) }),
        ("the database written into", { try $0.write("x", into: "") }),
        ("the database emptied by its path", { try #require(truncate($0.path, 0) == 0) }),
        (
            "the directory moved and back, without the database",
            { test in
                let directory = test.test.directory
                try #require(rename(directory, directory + ".away") == 0)
                // What is removed behind the test.
                try FileManager.default.moveItem(atPath: directory + ".away", toPath: directory)
                try #require(rename(test.path, test.path + ".away") == 0)
            }
        ),
    ]

    @Test(arguments: told.map(\.name))
    func isTold(_ name: String) throws {
        let watch = try #require(FileWatch(path: path))
        #expect(watch.takeEvents())
        try #require(Self.told.first { $0.name == name }).act(self)
        #expect(!watch.takeEvents())
        #expect(watch.takeEvents())
    }

    /// The daemon's own work: a commit writes into the -wal.
    @Test func commitsAndReadsAreQuiet() throws {
        let watch = try #require(FileWatch(path: path))
        _ = test.run([test.member("INSERT INTO t VALUES(2, 2)")])
        _ = try test.lookFromOutside("SELECT count(*) FROM t")
        #expect(watch.takeEvents())
    }

    @Test(arguments: [
        ("a directory that is not there", "/no-such-directory/app.db"),
        ("a file that is not there", NSTemporaryDirectory() + "no-such-file.db"),
        ("a file system without names of its own", "/proc/self/status"),
    ])
    func cannotBeWatched(_ why: String, _ path: String) { #expect(FileWatch(path: path) == nil, "\(why)") }

    private func opened() -> OpenFiles {
        let connection = test.pool.writer.connection
        return OpenFiles(of: connection, walIndex: connection.walIndex())
    }

    /// What is wrong is found by the next look, although the paths were looked up this very moment, and by each one after that.
    @Test(arguments: [
        "the database moved away", "another in its place", "the -wal deleted", "the -shm deleted", "the database emptied by its path",
        "the directory moved and back, without the database", "the -wal emptied",
    ])
    func isFoundAtOnce(_ name: String) throws {
        var files = opened()
        let now = MonotonicClock.now
        #expect(files.problem(now: now) == nil)
        #expect(files.problem(now: now) == nil)
        if name == "the -wal emptied" {
            try write("", into: "-wal", O_TRUNC)
        } else {
            try #require(Self.told.first { $0.name == name }).act(self)
        }
        for _ in 1...3 { #expect(files.problem(now: now) != nil) }
    }

    /// That is no loss, and what happens next is found as before.
    @Test func whatIsNoProblem() throws {
        var files = opened()
        let now = MonotonicClock.now
        #expect(files.problem(now: now) == nil)
        try write("a file of somebody's", into: ".other")
        #expect(files.problem(now: now) == nil)
        try #require(unlink(path + "-wal") == 0)
        #expect(files.problem(now: now) != nil)
    }

    ///     look            somebody
    ///                     renames a directory above: nobody tells of that
    ///     nothing wrong
    ///     10 ms later: lost
    @Test func whatIsNotToldIsFoundAfterAWhile() throws {
        let above = test.directory + "/above"
        try FileManager.default.createDirectory(atPath: above + "/data", withIntermediateDirectories: true)
        let connection = try Connection(path: above + "/data/app.db", mode: .readWrite, settings: ConnectionSettings())
        try connection.executeInternal("PRAGMA journal_mode = WAL; CREATE TABLE t(x)")
        var files = OpenFiles(of: connection, walIndex: connection.walIndex())
        let now = MonotonicClock.now
        #expect(files.problem(now: now) == nil)
        try #require(rename(above, above + ".away") == 0)
        #expect(files.problem(now: now) == nil)
        #expect(files.problem(now: now.advanced(byNanoseconds: FileWatch.trustedNanoseconds)) != nil)
    }

    /// The paths cannot be looked at, which is no loss: another's checkpoint of that time is known when they can be again, and so is what
    /// had been told before.
    @Test(arguments: [false, true])
    func anObstacle(_ isLost: Bool) throws {
        let directory = test.directory
        try FileManager.default.createDirectory(atPath: directory + "/data", withIntermediateDirectories: true)
        let path = directory + "/data/app.db"
        let connection = try Connection(path: path, mode: .readWrite, settings: ConnectionSettings())
        try connection.executeInternal("PRAGMA journal_mode = WAL; CREATE TABLE t(x); INSERT INTO t VALUES(zeroblob(100000))")
        var files = OpenFiles(of: connection, walIndex: connection.walIndex())
        let now = MonotonicClock.now
        #expect(files.problem(now: now) == nil)
        if isLost { try #require(rename(path, path + ".away") == 0) }
        let outsider = try Connection(path: isLost ? ":memory:" : path, mode: .readWrite, settings: ConnectionSettings())
        // A link to itself: ELOOP, which says nothing of the files.
        try #require(rename(directory + "/data", directory + "/real") == 0)
        try #require(symlink("data", directory + "/data") == 0)
        #expect(files.problem(now: now) == nil)
        if !isLost {
            try outsider.executeInternal("DELETE FROM t; INSERT INTO t VALUES(1); PRAGMA wal_checkpoint; INSERT INTO t VALUES(2)")
        }
        #expect(files.problem(now: now) == nil)
        try #require(unlink(directory + "/data") == 0)
        try #require(rename(directory + "/real", directory + "/data") == 0)
        #expect((files.problem(now: now) != nil) == isLost)
    }

    /// One of the two is told of each thing: with `pipelined`, whose syncs are another thread's, that has to be theirs.
    @Test func whoLooksFromThenOn() throws {
        var files = opened()
        var handedOver = files.handOver()
        let now = MonotonicClock.now
        #expect(files.problem(now: now) == nil && handedOver.problem(now: now) == nil)
        try #require(unlink(path + "-wal") == 0)
        #expect(files.problem(now: now) != nil)
        #expect(handedOver.problem(now: now) != nil)
    }
}
