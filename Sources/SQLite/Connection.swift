import CFileMap
import CSQLite
import CWriteOut

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
        var copy = sql
        let prepared = copy.withUTF8 { bytes in
            Result { () throws(SQLiteError) -> Statement? in try prepare(UnsafeRawBufferPointer(bytes)).statement }
        }
        guard let statement = try prepared.get() else {
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
    public var hasUnresolvedForeignKeys: Bool {
        var current: Int32 = 0
        var highest: Int32 = 0
        sqlite3_db_status(handle, SQLITE_DBSTATUS_DEFERRED_FKS, &current, &highest, 0)
        return current != 0
    }

    /// Pages SQLite has written so far on this connection, into the -wal and into an attached temporary database
    /// (SQLITE_DBSTATUS_CACHE_WRITE, https://www.sqlite.org/c3ref/c_dbstatus_options.html). It only reads counters, so
    /// the progress handler may ask.
    public var pagesWritten: Int {
        var current: Int32 = 0
        var highest: Int32 = 0
        sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_WRITE, &current, &highest, 0)
        return Int(current)
    }

    /// What the schema takes that is in memory. To find that out takes as long as to walk through it.
    /// https://www.sqlite.org/c3ref/c_dbstatus_options.html#sqlitedbstatusschemaused
    public var schemaBytes: Int {
        var current: Int32 = 0
        var highest: Int32 = 0
        sqlite3_db_status(handle, SQLITE_DBSTATUS_SCHEMA_USED, &current, &highest, 0)
        return Int(current)
    }

    /// The name of the view or the virtual table that was made last.
    public func newestWithOwnColumns() throws(SQLiteError) -> String? {
        try firstText(Self.withOwnColumns)
    }

    /// Views and virtual tables, the newest first: "the sqlite_schema.rootpage … is 0 or NULL for views, triggers, and virtual tables"
    /// (https://www.sqlite.org/schematab.html).
    private static let withOwnColumns: StaticString =
        "SELECT name FROM sqlite_schema WHERE type = 'view' OR (type = 'table' AND coalesce(rootpage, 0) = 0) ORDER BY rowid DESC"

    /// What the columns of all of them take; not those of one that cannot be used, and none behind those that are more than the limit.
    /// And how many cannot be used, as a view of what is not there.
    public func columnBytesOfAll(limitBytes: Int) throws(SQLiteError) -> (bytes: Int, waiting: Int) {
        var names: [String] = []
        let found = try prepareInternal(Self.withOwnColumns)
        while try found.step() == .row { names.append(String(decoding: found.text(0), as: UTF8.self)) }
        var (bytes, waiting) = (0, 0)
        for name in names where bytes <= limitBytes {
            do { bytes += try columnBytes(of: name) } catch {
                if error.isInterrupt || error.isOfCircumstances || error.mayBeStoppedPreparation { throw error }
                waiting += 1
            }
        }
        return (bytes, waiting)
    }

    /// Of a column, beside its name and its declared type: its structure, of 24 bytes at most, and what malloc rounds up of three blocks.
    private static let bytesBesideColumnTexts = 64

    /// What the columns take that SQLite keeps of a view or a virtual table.
    public func columnBytes(of name: String) throws(SQLiteError) -> Int {
        let columns = try prepareInternal("PRAGMA main.table_xinfo(\(SQLQuoting.literal(name)))")
        var bytes = 0
        while try columns.step() == .row { bytes += columns.text(1).count + columns.text(2).count + Self.bytesBesideColumnTexts }
        return bytes
    }

    /// The WAL index, once a first read transaction has mapped it; nil for a database that is not in WAL mode.
    public func walIndex() -> WALIndex? {
        // Asking the file object for it where there is none would create a -shm file.
        guard (try? firstText("PRAGMA journal_mode")) == "wal" else { return nil }
        return WALIndex(connection: handle)
    }

    /// The -wal file this connection writes; nil for a database that is not in WAL mode.
    public func walFile() -> WALFile? { commitFrames?.file ?? WALFile(connection: handle) }

    /// From here on what `commit` writes leaves by one write, and the -wal is never begun anew or emptied before the database is on the
    /// disk. To be called once, in WAL mode, which is never left: SQLITE_MISUSE in
    /// another.
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

    /// The outcome row of a checkpoint. "busy" is no error: https://www.sqlite.org/c3ref/wal_checkpoint_v2.html
    public struct Checkpoint: Equatable, Sendable {
        /// SQLITE_BUSY: another process checkpoints, or readers or a writer stood in the way of a TRUNCATE.
        public var isBusy: Bool
        /// `pnLog` of `sqlite3_wal_checkpoint_v2`: frames in the WAL, 0 once it is emptied; -1: nothing was done, so it is not known.
        public var frames: Int
        /// `pnCkpt` of it: how many of those are in the database file now, with those that were before; -1 as above.
        public var copiedFrames: Int
        /// Nothing is left in the WAL that is not in the database file too.
        public var isComplete: Bool { !isBusy && frames == copiedFrames }

        /// The same for people: SQLite says 0 of 0 when it has emptied the WAL, of which all there was has been copied then.
        public func telling(framesBefore: Int) -> Checkpoint {
            frames == 0 && isComplete ? Checkpoint(isBusy: false, frames: framesBefore, copiedFrames: framesBefore) : self
        }
    }

    /// SQLite's PASSIVE, which waits for nobody, and TRUNCATE, which waits for readers and writers by the busy handler and
    /// then empties the WAL. https://www.sqlite.org/c3ref/wal_checkpoint_v2.html
    public enum CheckpointMode: Sendable { case passive, truncate }

    /// Copies what the WAL holds into the database file. Only ever call it on the writer connection: SQLite before
    /// 3.51.3 may corrupt a database when one connection checkpoints while another restarts the WAL
    /// (https://www.sqlite.org/wal.html#walresetbug).
    public func checkpoint(_ mode: CheckpointMode) throws(SQLiteError) -> Checkpoint {
        var frames: Int32 = -1
        var copied: Int32 = -1
        let rawMode = mode == .passive ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_TRUNCATE
        // The disk begins with what is copied while more is.
        walpool_write_out_begin()
        let code = sqlite3_wal_checkpoint_v2(handle, "main", rawMode, &frames, &copied)
        walpool_write_out_end()
        guard code == SQLITE_OK || code & 0xFF == SQLITE_BUSY else {
            throw SQLiteError(connection: handle, code: code)
        }
        return Checkpoint(isBusy: code != SQLITE_OK, frames: Int(frames), copiedFrames: Int(copied))
    }
}
