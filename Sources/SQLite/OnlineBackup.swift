import CSQLite

/// SQLite's online backup: copies one database, page by page, over another connection's.
///
/// "Every call to sqlite3_backup_step() … obtains a shared lock on the source", and a source that changes in between is
/// copied again from its beginning (https://www.sqlite.org/c3ref/backup_finish.html). Not so if the source connection
/// has a read transaction open: then each step reads the snapshot that transaction has, and "a reader … continues to see
/// an unchanging snapshot" whatever others commit (https://www.sqlite.org/isolation.html). A caller that wants that
/// begins one before.
///
/// Both connections are kept alive; like them, it is used by one thread at a time.
public final class OnlineBackup {
    private let source: Connection
    private let destination: Connection
    private var handle: OpaquePointer?

    /// Begins to copy `source` over `destination`, which must have no transaction open.
    public init(from source: Connection, to destination: Connection) throws(SQLiteError) {
        self.source = source
        self.destination = destination
        guard let handle = sqlite3_backup_init(destination.handle, "main", source.handle, "main") else {
            // "an error code and error message are stored in the destination database connection".
            throw SQLiteError(connection: destination.handle, code: sqlite3_extended_errcode(destination.handle))
        }
        self.handle = handle
    }

    deinit { sqlite3_backup_finish(handle) }

    /// What a step has come to.
    public enum Step {
        case more
        case done
        /// A lock was in the way: nothing was copied, and it may be tried again.
        case busy
    }

    /// Copies up to `pages` pages.
    public func step(pages: Int) throws(SQLiteError) -> Step {
        let code = sqlite3_backup_step(handle, Int32(clamping: pages))
        switch code & 0xFF {
        case SQLITE_OK: return .more
        case SQLITE_DONE: return .done
        case SQLITE_BUSY, SQLITE_LOCKED: return .busy
        default:
            // Its text stands at neither connection yet: sqlite3_backup_finish puts the code there.
            throw SQLiteError(extendedCode: code, message: String(cString: sqlite3_errstr(code)))
        }
    }

    /// Pages still to be copied, as of the last step.
    public var remainingPages: Int { Int(sqlite3_backup_remaining(handle)) }
    /// Pages of the source, as of the last step.
    public var pageCount: Int { Int(sqlite3_backup_pagecount(handle)) }

    /// Ends the copying. If it was not done, the destination is rolled back to what it was.
    public func finish() throws(SQLiteError) {
        let code = sqlite3_backup_finish(handle)
        handle = nil
        guard code == SQLITE_OK else { throw SQLiteError(connection: destination.handle, code: code) }
    }
}
