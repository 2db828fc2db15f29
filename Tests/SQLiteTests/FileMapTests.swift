import Foundation
import Testing

@testable import SQLite

/// A reader's memory map: kept from one snapshot to the next, and no signal when a page cannot be read.
@Suite struct FileMapTests {
    /// Some 400 pages, of which the first hundred rows are in the first few.
    static let schema = """
        CREATE TABLE t(a INTEGER PRIMARY KEY, b);
        WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM n WHERE i<1600) INSERT INTO t SELECT i, zeroblob(1000) FROM n;
        PRAGMA wal_checkpoint(TRUNCATE)
        """
    static let more = """
        WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM n WHERE i<1600) INSERT INTO t(b) SELECT zeroblob(1000) FROM n
        """

    /// A commit that is in the file and in the -wal: the latter says how large the file is, whatever happens to it.
    static let touch = "INSERT INTO t(b) VALUES('x'); PRAGMA wal_checkpoint(PASSIVE)"

    /// Where this process has mapped the file: its first address and how many bytes.
    private func maps(of path: String) throws -> [String: Int] {
        var maps: [String: Int] = [:]
        for line in try Self.ownMaps().split(separator: "\n")
        where line.hasSuffix(path) {
            let range = line.split(separator: " ")[0].split(separator: "-")
            maps[String(range[0])] = Int(range[1], radix: 16)! - Int(range[0], radix: 16)!
        }
        return maps
    }

    /// Read to its end: the kernel gives a page of it at a time, which is less than was asked for.
    private static func ownMaps() throws -> String {
        let file = try #require(FileHandle(forReadingAtPath: "/proc/self/maps"))
        var bytes = Data()
        while let more = try file.read(upToCount: 4096), !more.isEmpty { bytes += more }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func realPath(_ path: String) throws -> String {
        try #require(realpath(path, nil).map { String(cString: $0) })
    }

    ///     reader                     writer
    ///     SELECT: maps the file
    ///                                UPDATE
    ///     SELECT: the new value, the same map
    ///                                checkpoint
    ///     SELECT: the new value, the same map
    @Test func isKeptFromSnapshotToSnapshot() throws {
        let database = try TemporaryDatabase(Self.schema)
        let path = try realPath(database.path)
        let writer = try database.open()
        #expect(try maps(of: path).isEmpty)
        let reader = try database.open(.readOnly)
        #expect(try reader.value("SELECT sum(length(b)) FROM t") == "1600000")
        let map = try maps(of: path)
        #expect(map.count == 1)
        for round in 1...3 {
            try writer.executeInternal("UPDATE t SET b = 'x\(round)' WHERE a = 800")
            #expect(try reader.value("SELECT b FROM t WHERE a = 800") == "x\(round)")
            #expect(try maps(of: path) == map)
            try writer.executeInternal("PRAGMA wal_checkpoint(TRUNCATE)")
            #expect(try reader.value("SELECT b FROM t WHERE a = 800") == "x\(round)")
            #expect(try maps(of: path) == map)
        }
    }

    /// The file grows when a checkpoint copies what is in the WAL, and what is new is mapped when it is read.
    @Test func followsAFileThatGrows() throws {
        let database = try TemporaryDatabase(Self.schema)
        let path = try realPath(database.path)
        let writer = try database.open()
        let reader = try database.open(.readOnly)
        #expect(try reader.value("SELECT sum(length(b)) FROM t") == "1600000")
        let small = try #require(try maps(of: path).values.first)
        try writer.executeInternal(Self.more + "; PRAGMA wal_checkpoint(TRUNCATE)")
        // The first to meet a page that is not in the map reads it otherwise, the next snapshot maps it.
        #expect(try reader.value("SELECT sum(length(b)) FROM t") == "3200000")
        try writer.executeInternal("UPDATE t SET b = zeroblob(1001) WHERE a = 1")
        #expect(try reader.value("SELECT sum(length(b)) FROM t") == "3200001")
        let large = try #require(try maps(of: path).values.first)
        #expect(large > small * 3 / 2)
    }

    /// VACUUM makes the file smaller at the checkpoint after it; the map is then larger than the file.
    @Test func outlivesAFileThatShrinks() throws {
        let database = try TemporaryDatabase(Self.schema)
        let writer = try database.open()
        let reader = try database.open(.readOnly)
        #expect(try reader.value("SELECT sum(length(b)) FROM t") == "1600000")
        try writer.executeInternal("DELETE FROM t WHERE a % 4 > 0; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
        #expect(try reader.value("SELECT sum(length(b)) FROM t") == "400000")
        try writer.executeInternal(Self.more + "; PRAGMA wal_checkpoint(TRUNCATE)")
        #expect(try reader.value("SELECT sum(length(b)) FROM t") == "2000000")
        #expect(!reader.hasUnreadablePages)
    }

    /// Somebody truncates the file, and the page that is read is not there any more: an error, and only for those who
    /// had it mapped. Whoever opens the file when it is whole again reads it.
    @Test func aPageThatIsGone() throws {
        let database = try TemporaryDatabase(Self.schema)
        let writer = try database.open()
        try writer.executeInternal(Self.touch)
        let whole = try Data(contentsOf: URL(fileURLWithPath: database.path))
        let reader = try database.open(.readOnly)
        let count = try reader.prepared("SELECT sum(length(b)) FROM t")
        #expect(try count.step() == .row)
        count.reset()
        try #require(truncate(database.path, 100 * 4096) == 0)
        #expect(throws: SQLiteError.self) { while try count.step() == .row {} }
        #expect(reader.hasUnreadablePages)
        #expect(reader.failure("SELECT b FROM t WHERE a = 1")?.extendedCode == 6154)
        #expect(reader.failure("SELECT nosuch FROM t")?.isInputOutput == true)
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: database.path))
        try file.write(contentsOf: whole)
        // Its zeros are still mapped.
        #expect(reader.failure("SELECT b FROM t WHERE a = 1")?.extendedCode == 6154)
        let another = try database.open(.readOnly)
        #expect(try another.value("SELECT sum(length(b)) FROM t") == "1600001")
        #expect(!another.hasUnreadablePages)
    }

    /// Of a file this small no page is handed out of the map, but page 1 is copied from it.
    @Test func aSmallFileThatIsGone() throws {
        let database = try TemporaryDatabase("CREATE TABLE t(a)")
        let writer = try database.open()
        try writer.executeInternal("INSERT INTO t VALUES(1); PRAGMA wal_checkpoint(PASSIVE)")
        let reader = try database.open(.readOnly)
        #expect(try reader.value("SELECT a FROM t") == "1")
        try writer.executeInternal("INSERT INTO t VALUES(2)")
        #expect(try reader.value("SELECT count(*) FROM t") == "2")
        try #require(truncate(database.path, 0) == 0)
        try writer.executeInternal("INSERT INTO t VALUES(3)")
        #expect(reader.failure("SELECT count(*) FROM t") != nil)
    }

    /// A row whose content is on pages that are gone is not sent as zeros: the step after it says so.
    @Test func overflowPagesThatAreGone() throws {
        let database = try TemporaryDatabase(
            """
            CREATE TABLE t(a INTEGER PRIMARY KEY, b);
            INSERT INTO t VALUES(1, randomblob(400000)), (2, 'end');
            PRAGMA wal_checkpoint(TRUNCATE)
            """)
        let writer = try database.open()
        try writer.executeInternal(Self.touch)
        let reader = try database.open(.readOnly)
        let blob = try reader.prepared("SELECT b FROM t")
        #expect(try blob.step() == .row && blob.blob(0).count == 400_000)
        blob.reset()
        try #require(truncate(database.path, 50 * 4096) == 0)
        #expect(throws: SQLiteError.self) {
            while try blob.step() == .row { _ = blob.blob(0).count }
        }
        #expect(reader.hasUnreadablePages)
    }

    @Test func none() throws {
        let database = try TemporaryDatabase(Self.schema)
        var settings = ConnectionSettings()
        settings.memoryMapBytes = 0
        let reader = try database.open(.readOnly, settings)
        #expect(try reader.value("SELECT sum(length(b)) FROM t") == "1600000")
        #expect(try maps(of: try realPath(database.path)).isEmpty)
        // A page beyond the limit is read as ever.
        settings.memoryMapBytes = 100 * 4096
        let other = try database.open(.readOnly, settings)
        #expect(try other.value("SELECT sum(length(b)) FROM t") == "1600000")
        #expect(try Array(maps(of: try realPath(database.path)).values) == [100 * 4096])
    }

    /// A connection that is closed, and another that takes its place.
    @Test func endsWithItsConnection() throws {
        let database = try TemporaryDatabase(Self.schema)
        let path = try realPath(database.path)
        for _ in 1...3 {
            let reader = try database.open(.readOnly)
            #expect(try reader.value("SELECT sum(length(b)) FROM t") == "1600000")
            #expect(try maps(of: path).count == 1)
        }
        #expect(try maps(of: path).isEmpty)
    }
}
