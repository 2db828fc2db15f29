import Glibc

/// Which files the paths of a database lead to, to notice that one was replaced or deleted while it was open: SQLite
/// goes on writing to a file nobody will find again.
///
/// By stat(2) only. A descriptor of the database's file must not be opened beside SQLite's: "If one process has the same
/// file open twice, and one of the file descriptors is closed, … all POSIX advisory locks … are dropped"
/// (https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_).
struct FileIdentity: Equatable {
    private let device: dev_t
    private let inode: ino_t

    /// nil when there is no such file.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = status.st_dev
        inode = status.st_ino
    }
}

/// A database's file and its -wal as they were when the writer opened them.
struct OpenFiles {
    private let path: String
    private let database: FileIdentity?
    private let wal: FileIdentity?

    init(path: String) {
        self.path = path
        database = FileIdentity(path: path)
        wal = FileIdentity(path: path + "-wal")
    }

    var hasDatabase: Bool { database == FileIdentity(path: path) }
    var hasWAL: Bool { wal == FileIdentity(path: path + "-wal") }
}
