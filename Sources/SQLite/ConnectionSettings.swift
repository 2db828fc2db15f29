import CHeap
import COwnWAL
import CSQLite
import CWriteOut

/// What every connection is set to before a client's statement runs on it.
///
/// The system's SQLite may have been built with defaults that are wrong for SQL from strangers; Debian 12's is: double
/// quoted strings, trusted schema and the two-argument fts3_tokenizer() are all on there.
public struct ConnectionSettings: Sendable {
    /// The two values of the pragma that the daemon uses.
    public enum Synchronous: String, Sendable { case normal = "NORMAL", full = "FULL" }
    /// The values of the pragma, https://www.sqlite.org/pragma.html#pragma_secure_delete
    public enum SecureDelete: String, CaseIterable, Sendable { case off = "OFF", on = "ON", fast = "FAST" }

    /// When a commit waits for the disk. https://www.sqlite.org/pragma.html#pragma_synchronous
    public var synchronous: Synchronous = .full
    /// Whether deleted content is overwritten. FAST does so only where it costs no extra I/O.
    public var secureDelete: SecureDelete = .fast
    /// Whether foreign keys are enforced.
    public var foreignKeys = true
    /// Whether "text" in double quotes that names nothing is taken as a string. Off: a mistyped column is an error.
    public var doubleQuotedStrings = false
    /// Whether functions with side effects may be called from views, triggers and the like.
    public var trustedSchema = false
    /// Not even VACUUM's temporary copy: of a connection that never says VACUUM.
    public var attachesNothing = false
    /// Whether a trigger may set itself off. https://www.sqlite.org/pragma.html#pragma_recursive_triggers
    public var recursiveTriggers = false
    /// What each connection's page cache may take.
    public var cacheSizeKibibytes = 2000
    /// How much of the file a read-only connection maps; 0: nothing. SQLite itself maps 2 GiB less 64 KiB at most, unless
    /// it was built otherwise: https://www.sqlite.org/compile.html#max_mmap_size
    public var memoryMapBytes = 1 << 31
    /// Those that a client can run into, of SQLite's limits: https://www.sqlite.org/c3ref/c_limit_attached.html
    public var lengthLimitBytes = 64 << 20
    /// SQLITE_LIMIT_SQL_LENGTH: the text of a statement. Sessions refuse a longer one before SQLite sees it.
    public var sqlLengthLimitBytes = 1 << 20
    /// SQLITE_LIMIT_EXPR_DEPTH: levels of an expression's tree, which a chain of ANDs has one of for each.
    public var expressionDepthLimit = 1000
    /// SQLITE_LIMIT_TRIGGER_DEPTH: how many triggers, or actions of foreign keys, may run inside one another.
    public var triggerDepthLimit = 100
    /// SQLITE_LIMIT_VARIABLE_NUMBER: the highest number of a parameter. More than this a Bind message cannot carry.
    public var parameterLimit = 65_535
    /// SQLITE_LIMIT_LIKE_PATTERN_LENGTH: the pattern of a LIKE or GLOB.
    public var likePatternLimitBytes = 500
    /// How long opening waits for another process that has the file locked.
    public static let openTimeoutMilliseconds: Int32 = 2_000

    /// All as above.
    public init() {}
}

extension Connection {
    func apply(_ settings: ConnectionSettings, mode: Mode) throws(SQLiteError) {
        let switches: [(Int32, Bool)] = [
            // The two-argument form lets any SQL client crash the process or take it over:
            // https://www.sqlite.org/compile.html#enable_fts3_tokenizer
            (SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false),
            (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, false),
            (SQLITE_DBCONFIG_DQS_DML, settings.doubleQuotedStrings),
            (SQLITE_DBCONFIG_DQS_DDL, settings.doubleQuotedStrings),
            (SQLITE_DBCONFIG_TRUSTED_SCHEMA, settings.trustedSchema),
            (SQLITE_DBCONFIG_DEFENSIVE, true),
            (SQLITE_DBCONFIG_ENABLE_FKEY, settings.foreignKeys),
        ]
        // The last connection to close must not checkpoint by accident: the daemon does so itself, on the writer.
        if mode == .readOnly { keepWALWhenClosed() }
        for (option, isOn) in switches {
            let code = walpool_db_config_int(handle, option, isOn ? 1 : 0)
            guard code == SQLITE_OK else { throw SQLiteError(connection: handle, code: code) }
        }
        for (limit, value) in settings.limits(mode) { sqlite3_limit(handle, limit, Int32(clamping: value)) }
        // The map first: the others read the schema, and a map that is made by then would be made anew.
        try executeInternal(
            """
            PRAGMA mmap_size = \(keepsFileMap ? settings.memoryMapBytes : 0);
            PRAGMA cache_size = -\(settings.cacheSizeKibibytes);
            PRAGMA recursive_triggers = \(settings.recursiveTriggers ? 1 : 0);
            PRAGMA wal_autocheckpoint = 0;
            """)
        if mode == .readWrite {
            try executeInternal(
                """
                PRAGMA synchronous = \(settings.synchronous.rawValue);
                PRAGMA secure_delete = \(settings.secureDelete.rawValue);
                """)
        }
    }
}

/// The library as a whole.
public enum SQLiteLibrary {
    /// Settings of the process, made before any connection is opened; false when the library was in use before.
    ///
    /// Memory statistics cost one mutex around every allocation of every connection; off, `sqlite3_hard_heap_limit64`
    /// has no effect, and `MemoryLimits` bounds memory instead.
    /// https://www.sqlite.org/c3ref/c_config_covering_index_scan.html#sqliteconfigmemstatus
    public static func configure() -> Bool { isConfigured }

    /// Once in a process: "sqlite3_config() … may only be invoked prior to library initialization".
    private static let isConfigured: Bool = {
        let isConfigured =
            walpool_heap_install() == SQLITE_OK
            && walpool_config_int(SQLITE_CONFIG_MEMSTATUS, 0) == SQLITE_OK
            && walpool_config_int(SQLITE_CONFIG_URI, 0) == SQLITE_OK
            && sqlite3_initialize() == SQLITE_OK
        // Without it checkpoints take longer, and nothing else.
        _ = walpool_write_out_install()
        // Without it a -wal that is put into place in the very moment in which the daemon deletes its own is deleted for it.
        _ = walpool_own_wal_install()
        return isConfigured
    }()

    /// Of the library that this process has loaded: as text, and as 3045001.
    public static var version: String { String(cString: sqlite3_libversion()) }
    /// `sqlite3_libversion_number`: 3045001 is 3.45.1.
    public static var versionNumber: Int { Int(sqlite3_libversion_number()) }

    /// Versions in which a checkpoint on one connection may race a WAL restart on another and corrupt the file.
    /// Fixed in 3.51.3 and backported to 3.44.6 and 3.50.7: https://www.sqlite.org/wal.html#walresetbug
    public static var hasWALResetBug: Bool { hasWALResetBug(inVersion: versionNumber) }

    static func hasWALResetBug(inVersion number: Int) -> Bool {
        switch number {
        case 3_044_006..<3_045_000, 3_050_007..<3_051_000: false
        case ..<3_051_003: true
        default: false
        }
    }
}
