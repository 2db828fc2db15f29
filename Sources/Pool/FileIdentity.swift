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

/// A database's file, its -wal and its -shm as they were when the writer opened them.
///
/// The -shm is where SQLite's locks are. When it was deleted, whoever opens the database makes another, and then two write at a time
/// who do not know of each other.
struct OpenFiles {
    private let path: String
    private let database: FileIdentity?
    private let wal: FileIdentity?
    private let index: FileIdentity?
    /// The length of the database's file when it was last looked at. Between checkpoints nobody changes it.
    private var databaseBytes: UInt64
    /// A checkpoint may make the file as long as VACUUM has left the database, this process's or another one's.
    private var mayBeShorter = false
    private let walIndex: WALIndex?
    /// From before the last look, so that a checkpoint beside it is found at the next.
    private var marks: WALIndex.CheckpointMarks?
    /// After a crash the index looks as it does in the middle of a checkpoint.
    private let marksAtOpening: WALIndex.CheckpointMarks?

    /// - Parameter walIndex: of a connection that is open for as long as this is used.
    init(path: String, walIndex: WALIndex?) {
        self.path = path
        self.walIndex = walIndex
        marks = walIndex?.checkpointMarks
        marksAtOpening = marks
        let status = Self.status(path)
        database = status.map(FileIdentity.init)
        databaseBytes = status?.bytes ?? 0
        wal = Self.identity(path + "-wal")
        index = Self.identity(path + "-shm")
    }

    /// Whether the path leads to the file that is open, and there is anything left in it. SQLite takes an empty file for
    /// a new database and deletes its -wal.
    var hasDatabase: Bool {
        guard let status = Self.status(path) else { return false }
        return FileIdentity(status) == database && (status.bytes > 0 || databaseBytes == 0)
    }

    var hasWAL: Bool { Self.identity(path + "-wal") == wal }

    private var hasIndex: Bool { Self.identity(path + "-shm") == index }

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

    mutating func wereCheckpointed() { mayBeShorter = true }

    /// Why what was written into them may not be found again, or nil.
    mutating func problem() -> SQLiteError? {
        let marksBefore = walIndex?.checkpointMarks
        guard let status = Self.status(path), FileIdentity(status) == database, hasWAL, hasIndex else {
            return Self.lost("the database's file, its -wal or its -shm was moved, replaced or deleted while it was open")
        }
        let isShorter = status.bytes < databaseBytes
        guard !isShorter || (status.bytes > 0 && (mayBeShorter || somebodyHasCheckpointed)) else {
            return Self.lost("the database's file was truncated while it was open")
        }
        databaseBytes = status.bytes
        mayBeShorter = false
        marks = marksBefore
        return nil
    }

    /// Since the last look, or just now. To be asked when the file was found to be shorter: the marks have changed before that.
    private var somebodyHasCheckpointed: Bool {
        guard let now = walIndex?.checkpointMarks, let marksAtOpening else { return false }
        return now != marks || (now.isUnderWay && !now.hasSameAttempt(as: marksAtOpening))
    }

    private static func lost(_ message: String) -> SQLiteError {
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
