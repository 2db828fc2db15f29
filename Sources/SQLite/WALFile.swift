import CSQLite

/// The -wal file as a connection has it open, to be brought onto the disk from any thread.
///
/// `@unchecked Sendable`: the file object lives as long as its connection, and its xSync only calls fdatasync(2) on the
/// descriptor (https://www.sqlite.org/c3ref/io_methods.html), which may run beside the writer's own writes.
public struct WALFile: @unchecked Sendable {
    let file: UnsafeMutablePointer<sqlite3_file>

    public func sync() throws(SQLiteError) {
        let code = walpool_wal_sync(file)
        guard code == SQLITE_OK else {
            throw SQLiteError(extendedCode: code, message: String(cString: sqlite3_errstr(code)))
        }
    }
}
