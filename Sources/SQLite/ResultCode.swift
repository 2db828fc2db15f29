import CSQLite

extension SQLiteError {
    /// SQLite's result codes, for those who do not import its header: primary ones, and the extended ones that are told apart from
    /// the others of their kind. https://www.sqlite.org/rescode.html
    public enum Code {
        /// SQLITE_ERROR, _PERM, _BUSY (another connection has a lock), _LOCKED (a statement of this one has).
        public static let error = SQLITE_ERROR, permission = SQLITE_PERM, busy = SQLITE_BUSY, locked = SQLITE_LOCKED
        /// SQLITE_NOMEM, _READONLY, _INTERRUPT (the progress handler has stopped a statement).
        public static let noMemory = SQLITE_NOMEM, readOnly = SQLITE_READONLY, interrupt = SQLITE_INTERRUPT
        /// SQLITE_IOERR, of which the extended codes below are a part; _CORRUPT; _FULL (the disk, or max_page_count is reached).
        public static let inputOutput = SQLITE_IOERR, corrupt = SQLITE_CORRUPT, full = SQLITE_FULL
        /// SQLITE_CANTOPEN, _PROTOCOL (the WAL's locks were not to be had for seconds), _SCHEMA (it changed meanwhile).
        public static let cannotOpen = SQLITE_CANTOPEN, protocolError = SQLITE_PROTOCOL, schema = SQLITE_SCHEMA
        /// SQLITE_TOOBIG (a value or a statement is too long), _CONSTRAINT (see `Constraint`), _MISMATCH (no integer for a rowid).
        public static let tooBig = SQLITE_TOOBIG, constraint = SQLITE_CONSTRAINT, mismatch = SQLITE_MISMATCH
        /// SQLITE_MISUSE (the caller's mistake), _AUTH (the authorizer has refused it), _RANGE (no such parameter or column).
        public static let misuse = SQLITE_MISUSE, authorization = SQLITE_AUTH, range = SQLITE_RANGE
        /// SQLITE_NOTADB: the file is no database, or an encrypted one.
        public static let notADatabase = SQLITE_NOTADB
        /// SQLITE_CORRUPT_VTAB: what a virtual table keeps is damaged.
        static let corruptVirtualTable = SQLITE_CORRUPT | (1 << 8)
        /// SQLITE_BUSY_SNAPSHOT: another connection has written since this one's snapshot began.
        public static let busySnapshot = SQLITE_BUSY | (2 << 8)
        /// Which operation on a file has failed: SQLITE_IOERR_READ, _SHORT_READ and _WRITE.
        public static let readFailed = SQLITE_IOERR | (1 << 8), shortRead = SQLITE_IOERR | (2 << 8), writeFailed = SQLITE_IOERR | (3 << 8)
        /// SQLITE_IOERR_FSYNC, _TRUNCATE and _MMAP.
        public static let syncFailed = SQLITE_IOERR | (4 << 8), truncateFailed = SQLITE_IOERR | (6 << 8)
        static let memoryMapFailed = SQLITE_IOERR | (24 << 8)
    }

    /// Which kind of rule a row breaks. https://www.sqlite.org/rescode.html#extrc
    public enum Constraint: Int32, Sendable {
        case check = 1, commitHook, foreignKey, function, notNull, primaryKey
        /// RAISE(ABORT, …) in a trigger, and what a RESTRICT foreign key does.
        case trigger
        case unique, virtualTable, rowid, pinned
        /// The type of a column in a STRICT table.
        case dataType
    }

    /// A read has failed. SQLITE_IOERR_CORRUPTFS says that of "the request not falling within the file's boundaries"
    /// (https://www.sqlite.org/rescode.html#ioerr_corruptfs), and unixRead() says it of EIO, too
    /// (https://www.sqlite.org/src/file/src/os_unix.c).
    public var isOfRead: Bool { extendedCode == Code.readFailed || extendedCode == SQLITE_IOERR | (33 << 8) }

    /// nil for any other error than SQLITE_CONSTRAINT, and where SQLite does not say which.
    public var constraint: Constraint? { code == SQLITE_CONSTRAINT ? Constraint(rawValue: extendedCode >> 8) : nil }

    /// In SQLite's words, for where a refused allocation has not become an error by itself.
    public static let outOfMemory = SQLiteError(extendedCode: SQLITE_NOMEM, message: "out of memory")
    /// In SQLite's words, for work that is told to stop while no statement runs.
    public static let interrupted = SQLiteError(extendedCode: SQLITE_INTERRUPT, message: "interrupted")
}
