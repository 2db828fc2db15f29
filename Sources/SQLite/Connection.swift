import CFileMap
import CSQLite

/// One connection to a database file, opened without SQLite's own mutex.
///
/// "SQLITE_OPEN_NOMUTEX: The new database connection will use the 'multi-thread' threading mode. This means that
/// separate threads are allowed to use SQLite at the same time, as long as each thread is using a different database
/// connection." https://www.sqlite.org/c3ref/open.html
///
/// `@unchecked Sendable` because a connection goes from thread to thread, but only together with the lease that makes
/// its holder the one thread that uses it (the pool's writer lease, or a reader checked out of the pool).
public final class Connection: @unchecked Sendable {
    @usableFromInline let handle: OpaquePointer
    /// What SQLite calls back into. Set up once per connection: "changing the authorizer expires statements".
    public let callbacks = Callbacks()
    /// What the functions last_insert_rowid(), changes() and total_changes() answer on this connection.
    public let changeCounters = ChangeCounters()
    private let fileMap: FileMap?
    private var commitFrames: CommitFrames?
    /// CHECK constraints could not be switched on again: nothing may be committed here, and the connection is to be closed.
    public internal(set) var hasLostChecks = false
    /// How long one call of pg_sleep() may take: on the writer nobody else can write meanwhile.
    public var sleepLimitMilliseconds: Int64?

    /// Whether it may write.
    public enum Mode: Sendable { case readWrite, readOnly }

    /// Opens `path` and applies `settings`.
    ///
    /// - Parameters:
    ///   - creates: a read-write connection creates the file when it is absent.
    ///   - whenOpened: asked when nothing but the file itself is open, and nothing was read.
    public init(
        path: String, mode: Mode, settings: ConnectionSettings, creates: Bool = true,
        whenOpened: (Connection) throws(SQLiteError) -> Void = { (_) throws(SQLiteError) in }
    ) throws(SQLiteError) {
        let flags: Int32 =
            switch mode {
            case .readWrite: SQLITE_OPEN_READWRITE | (creates ? SQLITE_OPEN_CREATE : 0)
            case .readOnly: SQLITE_OPEN_READONLY
            }
        // Before the first one: opening initializes the library, and then it takes no settings any more.
        guard SQLiteLibrary.configure() else {
            throw SQLiteError(extendedCode: SQLITE_MISUSE, message: "SQLite was in use before it was configured")
        }
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
        guard code == SQLITE_OK, let opened else {
            let error = SQLiteError(connection: opened, code: code)
            sqlite3_close_v2(opened)
            throw error
        }
        handle = opened
        fileMap = mode == .readOnly && settings.memoryMapBytes > 0 ? FileMap(connection: opened) : nil
        try whenOpened(self)
        // SQLite opens a file it may not write to for reading instead, after an I/O error too, and says nothing: "The
        // database is opened for reading and writing if possible, or reading only if the file is write protected by
        // the operating system." https://www.sqlite.org/c3ref/open.html
        guard mode == .readOnly || sqlite3_db_readonly(opened, "main") == 0 else {
            throw SQLiteError(extendedCode: SQLITE_READONLY, message: "the file can be read, but not written")
        }
        // The first statement of all reads the schema, and another process may have the file locked for a moment: its last connection
        // empties the WAL when it closes. `callbacks` has another handler later.
        sqlite3_busy_timeout(opened, ConnectionSettings.openTimeoutMilliseconds)
        try apply(settings, mode: mode)
        changeCounters.register(on: handle)
        callbacks.register(on: handle)
        PlainFunctions.register(on: self)
    }

    deinit {
        fileMap?.release()
        sqlite3_close_v2(handle)
    }

    /// It reads through a map that is watched over.
    var keepsFileMap: Bool { fileMap != nil }

    /// A page of the file could not be read through the memory map, and zeros stand in its place: nothing that was read
    /// here is to be believed any more, and the connection is to be closed.
    public var hasUnreadablePages: Bool { fileMap?.hasUnreadablePages ?? false }

    /// Prepares the first statement of `sql`.
    ///
    /// - Returns: the statement (nil when there was only white space or a comment) and how many bytes it took.
    @inline(__always)
    public func prepare(_ sql: UnsafeRawBufferPointer) throws(SQLiteError) -> (statement: Statement?, consumed: Int) {
        guard let base = sql.baseAddress, sql.count > 0 else { return (nil, 0) }
        let text = base.assumingMemoryBound(to: CChar.self)
        var statement: OpaquePointer?
        var tail: UnsafePointer<CChar>?
        callbacks.beginPreparing()
        let code = sqlite3_prepare_v3(
            handle, text, Int32(clamping: sql.count), UInt32(SQLITE_PREPARE_PERSISTENT), &statement, &tail)
        callbacks.endPreparing()
        // Also when all seems well: the schema may have been read from such a page.
        guard !hasUnreadablePages else {
            sqlite3_finalize(statement)
            throw .unreadablePage
        }
        guard code == SQLITE_OK else { throw callbacks.noting(SQLiteError(connection: handle, code: code)) }
        let internalCallbacks = callbacks.isInternal ? callbacks : nil
        let unreadablePages = fileMap?.unreadablePages
        return (
            statement.map {
                Statement(
                    handle: $0, internalCallbacks: internalCallbacks, unreadablePages: unreadablePages,
                    droppedTable: callbacks.droppedTable)
            },
            tail.map { $0 - text } ?? sql.count
        )
    }

    /// Prepares one statement of the daemon's own, which the authorizer lets pass.
    public func prepareInternal(_ sql: StaticString) throws(SQLiteError) -> Statement {
        callbacks.isInternal = true
        defer { callbacks.isInternal = false }
        let bytes = UnsafeRawBufferPointer(start: sql.utf8Start, count: sql.utf8CodeUnitCount)
        guard let statement = try prepare(bytes).statement else {
            throw SQLiteError(extendedCode: SQLITE_MISUSE, message: "empty statement")
        }
        return statement
    }

    /// The same for a text that is made when it is needed.
    public func prepareInternal(_ sql: String) throws(SQLiteError) -> Statement {
        callbacks.isInternal = true
        defer { callbacks.isInternal = false }
        guard let statement = try sql.withBytes({ bytes throws(SQLiteError) in try prepare(bytes).statement }) else {
            throw SQLiteError(extendedCode: SQLITE_MISUSE, message: "empty statement")
        }
        return statement
    }

    /// Runs the daemon's own SQL, which the authorizer lets pass, to its end. Rows are dropped.
    public func executeInternal(_ sql: String) throws(SQLiteError) {
        callbacks.isInternal = true
        defer { callbacks.isInternal = false }
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard !hasUnreadablePages else { throw .unreadablePage }
        guard code == SQLITE_OK else { throw SQLiteError(connection: handle, code: code) }
    }

    /// Runs a query of the daemon's own and returns the first column of its first row as text.
    public func firstText(_ sql: StaticString) throws(SQLiteError) -> String? {
        let statement = try prepareInternal(sql)
        guard try statement.step() == .row else { return nil }
        return String(decoding: statement.text(0), as: UTF8.self)
    }

    /// What has failed since this was asked before, in preparing a statement or in one of the daemon's own, and came of circumstances (see
    /// `SQLiteError.isOfCircumstances`). Who makes do without an answer has to know whether there is none, or whether it was not to be had.
    public func takeFailure() -> SQLiteError? {
        defer { callbacks.failure = nil }
        return hasUnreadablePages ? .unreadablePage : callbacks.failure
    }

    /// Looks at the schema in the file, and reads it again when it is not the one this connection knows.
    public func rereadSchema() throws(SQLiteError) {
        // Running any statement that names a table compares the schema cookie.
        try executeInternal("SELECT 1 FROM sqlite_schema LIMIT 1")
    }

    /// True outside any transaction. SQLite may end one by itself after FULL, IOERR, NOMEM or an interrupted write.
    /// https://www.sqlite.org/c3ref/get_autocommit.html
    @inlinable public var isAutocommit: Bool { sqlite3_get_autocommit(handle) != 0 }

    /// What these count: https://www.sqlite.org/c3ref/changes.html, https://www.sqlite.org/c3ref/total_changes.html. The rowid of the
    /// last INSERT can be set, because sessions share the connection and each has its own: see `ChangeCounters`.
    @inlinable public var changes: Int64 { sqlite3_changes64(handle) }
    @inlinable public var totalChanges: Int64 { sqlite3_total_changes64(handle) }
    @inlinable public var lastInsertRowID: Int64 {
        get { sqlite3_last_insert_rowid(handle) }
        set { sqlite3_set_last_insert_rowid(handle, newValue) }
    }

    /// "This parameter returns zero for the current value if and only if all foreign key constraints (deferred or
    /// immediate) have been resolved." https://www.sqlite.org/c3ref/c_dbstatus_options.html
    public var hasUnresolvedForeignKeys: Bool { status(SQLITE_DBSTATUS_DEFERRED_FKS, reset: false) != 0 }

    /// Pages SQLite has written so far on this connection, into the -wal and into an attached temporary database
    /// (SQLITE_DBSTATUS_CACHE_WRITE, https://www.sqlite.org/c3ref/c_dbstatus_options.html). It only reads counters, so
    /// the progress handler may ask.
    public var pagesWritten: Int { status(SQLITE_DBSTATUS_CACHE_WRITE, reset: false) }

    /// The WAL index, once a first read transaction has mapped it; nil for a database that is not in WAL mode.
    public func walIndex() -> WALIndex? {
        // Asking the file object for it where there is none would create a -shm file.
        guard (try? firstText("PRAGMA journal_mode")) == "wal" else { return nil }
        return WALIndex(connection: handle)
    }

    /// The -wal file this connection writes; nil for a database that is not in WAL mode.
    public func walFile() -> WALFile? { commitFrames?.file ?? WALFile(connection: handle) }

    /// From here on what `commit` writes leaves by one write, and this connection brings the database onto the disk before it begins the -wal
    /// anew or empties it. To be called once, in WAL mode, which is never left: SQLITE_MISUSE in another.
    public func gatherCommitFrames() throws(SQLiteError) {
        precondition(commitFrames == nil, "a file's methods are replaced once")
        guard let file = walFile(), let database = walpool_shared_file(handle) else {
            throw SQLiteError(extendedCode: SQLITE_MISUSE, message: "the database is not in WAL mode")
        }
        // Commits without would be slow, and before SQLite 3.50.2 some of them would not be found again.
        guard let frames = CommitFrames(file: file, database: database) else { throw .outOfMemory }
        commitFrames = frames
    }

    /// Runs `commit`, which steps a COMMIT. When it throws and the transaction is still open, that has to be rolled back.
    @inline(__always)
    public func commitAtOnce(_ commit: () throws(SQLiteError) -> Void) throws(SQLiteError) {
        guard let commitFrames else { return try commit() }
        try commitFrames.gather(commit)
    }

    /// The database's file as SQLite has it open: absolute, and no symbolic link. Its -wal stands beside this one.
    public var fileName: String { sqlite3_db_filename(handle, "main").map { String(cString: $0) } ?? "" }

    /// The file that is open is not the one that its name leads to.
    public var hasMoved: Bool { walpool_has_moved(handle) != 0 }

    /// Closing this connection shall leave the WAL as it is, even if it is the last one.
    public func keepWALWhenClosed(_ keeps: Bool = true) {
        _ = walpool_db_config_int(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keeps ? 1 : 0)
    }
}
