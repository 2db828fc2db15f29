import CSQLite
import CWriteOut
import Testing

@testable import SQLite

/// The kernel begins with the pages of a checkpoint while it copies on. How often it was told is the thread's to ask.
@Suite struct WriteOutTests {
    /// Rows that fill `pages` pages and some.
    private static func fill(_ pages: Int) -> String {
        """
        CREATE TABLE t(id INTEGER PRIMARY KEY, filling);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(pages))
        INSERT INTO t SELECT i, zeroblob(4000) FROM n
        """
    }

    @Test(arguments: [(10, 0), (60, 2), (1000, 41)])
    func aCheckpointIsWrittenOut(_ pages: Int, _ calls: Int) throws {
        // This library lets its writes be seen, as all of Debian's do.
        try #require(SQLiteLibrary.configure())
        // A second time it is still the system's call behind it.
        #expect(walpool_write_out_install() == SQLITE_OK)
        let database = try TemporaryDatabase()
        let writer = try database.open()
        try writer.executeInternal(Self.fill(pages))
        let result = try writer.checkpoint(.passive)

        #expect(result.isComplete && result.copiedFrames >= pages)
        // A page that left the cache early is in two frames, and is copied once.
        let told = walpool_write_out_end()
        #expect((calls...max(calls, result.copiedFrames / 24)).contains(told))
        // Nothing else of this thread's is.
        try writer.executeInternal("UPDATE t SET filling = zeroblob(3999)")
        #expect(walpool_write_out_end() == told)
        // And the file has it all: nothing is read from the WAL.
        #expect(try writer.checkpoint(.truncate).isComplete)
        let reader = try database.open(.readOnly)
        #expect(try reader.value("SELECT count(*) FROM t WHERE length(filling) = 3999") == "\(pages)")
        #expect(try reader.value("PRAGMA integrity_check") == "ok")
    }
}
