import CLinux
import SQLite

/// Which files the paths of a database lead to, to notice that one was replaced or deleted while it was open: SQLite
/// goes on writing to a file nobody will find again.
///
/// By the path only. A descriptor of the database's file must not be opened beside SQLite's: "If one process has the same
/// file open twice, and one of the file descriptors is closed, … all POSIX advisory locks … are dropped"
/// (https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_).
struct FileIdentity: Equatable {
    private let device: UInt64
    private let inode: UInt64

    init(_ file: walpool_file) {
        device = file.device
        inode = file.inode
    }
}

/// A database's file and its -wal as they were when the writer opened them.
struct OpenFiles {
    private let path: String
    private let database: FileIdentity?
    private let wal: FileIdentity?
    /// The length of the database's file when it was last looked at. Between checkpoints nobody changes it.
    private var databaseBytes: UInt64
    /// This process has checkpointed since. If it was another one that did, and vacuumed before, what `problem` says is a false
    /// alarm.
    private var mayBeShorter = false

    init(path: String) {
        self.path = path
        let status = Self.status(path)
        database = status.map(FileIdentity.init)
        databaseBytes = status?.bytes ?? 0
        wal = Self.status(path + "-wal").map(FileIdentity.init)
    }

    /// Whether the path leads to the file that is open, and there is anything left in it. SQLite takes an empty file for
    /// a new database and deletes its -wal.
    var hasDatabase: Bool {
        guard let status = Self.status(path) else { return false }
        return FileIdentity(status) == database && (status.bytes > 0 || databaseBytes == 0)
    }

    var hasWAL: Bool { Self.status(path + "-wal").map(FileIdentity.init) == wal }

    mutating func wereCheckpointed() { mayBeShorter = true }

    /// Why what was written into them may not be found again, or nil.
    mutating func problem() -> SQLiteError? {
        guard let status = Self.status(path), FileIdentity(status) == database, hasWAL else {
            return Self.lost("the database's file or its -wal was moved, replaced or deleted while it was open")
        }
        let isShorter = status.bytes < databaseBytes
        guard !isShorter || (mayBeShorter && status.bytes > 0) else {
            return Self.lost("the database's file was truncated while it was open")
        }
        databaseBytes = status.bytes
        mayBeShorter = false
        return nil
    }

    private static func lost(_ message: String) -> SQLiteError {
        SQLiteError(extendedCode: ioError, message: message)
    }

    /// SQLITE_IOERR
    private static let ioError: Int32 = 10

    /// nil when there is no such file.
    private static func status(_ path: String) -> walpool_file? {
        var file = walpool_file()
        return walpool_look_at_file(path, &file) == 0 ? file : nil
    }
}
