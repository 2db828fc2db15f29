import CLinux
import Glibc
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

/// Where a database's file, its -wal and its -shm were when the writer opened them.
///
/// The -shm is where SQLite's locks are. When it was deleted, whoever opens the database makes another, and then two write at a time
/// who do not know of each other.
struct DatabaseFiles: Sendable {
    let path: String
    private let database: FileIdentity?
    private let wal: FileIdentity?
    private let index: FileIdentity?
    private let wasEmpty: Bool

    /// - Parameter path: without symbolic links.
    init(path: String) {
        self.path = path
        let status = Self.status(path)
        database = status.map(FileIdentity.init)
        wasEmpty = status?.bytes == 0
        wal = Self.identity(path + "-wal")
        index = Self.identity(path + "-shm")
    }

    /// The database's file, if that is what the path leads to, and there is anything left in it. SQLite takes an empty file for
    /// a new database and deletes its -wal.
    var databaseInPlace: walpool_file? {
        guard let status = Self.status(path), FileIdentity(status) == database, status.bytes > 0 || wasEmpty else { return nil }
        return status
    }

    var hasWAL: Bool { Self.identity(path + "-wal") == wal }

    private var hasIndex: Bool { Self.identity(path + "-shm") == index }

    var hasWALAndIndex: Bool { hasWAL && hasIndex }

    /// The -shm was deleted, and there is another: a process that has nothing to do with these locks.
    var isIndexReplaced: Bool {
        guard let other = Self.identity(path + "-shm") else { return false }
        return other != index
    }

    /// Both were deleted, and another process has committed into others: the frames of two histories of the same file.
    var isWALReplaced: Bool {
        guard isIndexReplaced, !hasWAL, let other = Self.status(path + "-wal") else { return false }
        return other.bytes > 0
    }

    /// What is certainly wrong with them, or nil. That they cannot be looked at (EACCES of a directory, ENOMEM, a network) is nothing
    /// SQLite's open files suffer from.
    var problem: SQLiteError? {
        let isEmptied = !wasEmpty && Self.status(path)?.bytes == 0
        guard isEmptied || Self.isLost(path, database) || Self.isLost(path + "-wal", wal) || Self.isLost(path + "-shm", index) else {
            return nil
        }
        return Self.lost("the database's file, its -wal or its -shm was moved, replaced or deleted while it was open")
    }

    private static func isLost(_ path: String, _ identity: FileIdentity?) -> Bool {
        var file = walpool_file()
        if walpool_look_at_file(path, &file) == 0 { return FileIdentity(file) != identity }
        return errno == ENOENT || errno == ENOTDIR
    }

    static func lost(_ message: String) -> SQLiteError {
        SQLiteError(extendedCode: ioError, message: message)
    }

    /// SQLITE_IOERR
    private static let ioError: Int32 = 10

    private static func identity(_ path: String) -> FileIdentity? { status(path).map(FileIdentity.init) }

    /// nil when there is no such file.
    private static func status(_ path: String) -> walpool_file? {
        var file = walpool_file()
        return walpool_look_at_file(path, &file) == 0 ? file : nil
    }
}
