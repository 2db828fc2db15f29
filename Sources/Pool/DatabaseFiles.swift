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
public struct DatabaseFiles: Sendable {
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

    func areOfSameDatabase(as other: DatabaseFiles) -> Bool { database == other.database }

    var hasWAL: Bool { Self.isInPlace(path + "-wal", wal) }

    var hasIndex: Bool { Self.isInPlace(path + "-shm", index) }

    var hasWALAndIndex: Bool { hasWAL && hasIndex }

    /// The -shm was deleted, and there is another: a process that has nothing to do with these locks.
    var isIndexReplaced: Bool {
        guard let other = Self.identity(path + "-shm") else { return false }
        return other != index
    }

    /// Both were deleted, and another process has committed into others: the frames of two histories of the same file.
    var isWALReplaced: Bool { isIndexReplaced && hasOtherWAL }

    /// In the place of the -wal there is another, with something in it: who has made it has gone on there.
    var hasOtherWAL: Bool { !hasWAL && (Self.status(path + "-wal").map { $0.bytes > 0 } ?? false) }

    /// What is certainly wrong with them, or nil. That they cannot be looked at (EACCES of a directory, ENOMEM, a network) is nothing
    /// SQLite's open files suffer from.
    var problem: SQLiteError? {
        let isEmptied = !wasEmpty && Self.status(path)?.bytes == 0
        guard isEmptied || Self.isLost(path, database) || Self.isLost(path + "-wal", wal) || Self.isLost(path + "-shm", index) else {
            return nil
        }
        return Self.lost("the database's file, its -wal or its -shm was moved, replaced or deleted while it was open")
    }

    /// Why one of them cannot be looked at (the directory was closed to this process, for one), or nil. Whether it was lost, too, is
    /// not known then; what is committed goes into the files that are open, and lasts if they do.
    var obstacle: String? {
        for file in [path, path + "-wal", path + "-shm"] {
            var status = walpool_file()
            if walpool_look_at_file(file, &status) != 0, !Self.isAbsence(errno) { return "\(file): \(String(cString: strerror(errno)))" }
        }
        return nil
    }

    /// What this process would have to write into to serve the database, and may not: the file, what lies beside it, or the
    /// directory, where a -wal and a -shm are made; and why. SQLite says of each that the database can only be read, or not opened.
    public static func unwritable(_ path: String) -> String? {
        let file = target(of: path)
        let names: [String] = [file, file + "-wal", file + "-shm"]
        for name in names where access(name, F_OK) == 0 && faccessat(AT_FDCWD, name, W_OK, AT_EACCESS) != 0 {
            return cannotBeWritten(name, errno)
        }
        let slash = file.lastIndex(of: "/")
        let directory = slash.map { $0 == file.startIndex ? "/" : String(file[..<$0]) } ?? "."
        let isWritable = faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) == 0
        return isWritable ? nil : cannotBeWritten("the directory \(directory)", errno)
    }

    private static func cannotBeWritten(_ name: String, _ number: Int32) -> String {
        "\(name) cannot be written by this process: \(String(cString: strerror(number)))"
    }

    /// Why a database may not be made where there is none, or nothing in it: its -wal has commits. SQLite takes such a -wal for a
    /// leftover and deletes it (`pagerOpenWalIfPresent` in https://www.sqlite.org/src/file/src/pager.c),
    /// and whoever brings the file back later has lost what was acknowledged since its last checkpoint.
    static func abandonedWAL(_ path: String) -> String? {
        let file = target(of: path)
        let bytes = status(file)?.bytes
        guard bytes ?? 0 == 0, holdsFrames(file + "-wal") else { return nil }
        return "\(file) is \(bytes == nil ? "missing" : "empty"), and \(file)-wal holds commits of it: put the file back, "
            + "or delete the -wal if they are not wanted"
    }

    /// Where a path leads, also if nothing is there: SQLite makes the file, and looks for its -wal, where the last of the symbolic links
    /// points to (`unixFullPathname` in https://www.sqlite.org/src/file/src/os_unix.c, up to SQLITE_MAX_SYMLINK of them).
    private static func target(of path: String) -> String {
        if let resolved = realpath(path, nil) {
            defer { free(resolved) }
            return String(cString: resolved)
        }
        let maximumLinks = 100
        var file = path
        for _ in 0..<maximumLinks {
            var bytes: [UInt8] = Array(repeating: 0, count: Int(PATH_MAX))
            let count = bytes.withUnsafeMutableBytes { readlink(file, $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count) }
            guard count > 0 else { break }
            let link = String(decoding: bytes[..<count], as: UTF8.self)
            let directory = file.lastIndex(of: "/").map { file[...$0] } ?? ""
            file = link.utf8.first == UInt8(ascii: "/") ? link : directory + link
        }
        return file
    }

    /// "The WAL header is 32 bytes in size"; it begins with "0x377f0682 or 0x377f0683"
    /// (https://www.sqlite.org/fileformat2.html#wal_file_format). Zeros are room made ahead.
    private static func holdsFrames(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { Glibc.close(descriptor) }
        var header: [UInt8] = Array(repeating: 0, count: 33)
        return pread(descriptor, &header, 33, 0) == 33 && header[..<3].elementsEqual([0x37, 0x7f, 0x06]) && header[3] & 0xfe == 0x82
    }

    private static func isAbsence(_ number: Int32) -> Bool { number == ENOENT || number == ENOTDIR }

    /// One that was not there when it was looked for, right after SQLite had opened it, was deleted by then.
    private static func isInPlace(_ path: String, _ identity: FileIdentity?) -> Bool {
        guard let identity else { return false }
        return Self.identity(path) == identity
    }

    private static func isLost(_ path: String, _ identity: FileIdentity?) -> Bool {
        var file = walpool_file()
        if walpool_look_at_file(path, &file) == 0 { return FileIdentity(file) != identity }
        return isAbsence(errno)
    }

    static func lost(_ message: String) -> SQLiteError {
        SQLiteError(extendedCode: ioError, message: message)
    }

    /// No disk has failed: a file was lost. SQLite's own errors of that kind say which operation it was, in a second byte
    /// (https://www.sqlite.org/rescode.html#extrc).
    static func isLoss(_ error: SQLiteError) -> Bool { error.extendedCode == ioError }

    /// SQLITE_IOERR
    private static let ioError: Int32 = 10

    private static func identity(_ path: String) -> FileIdentity? { status(path).map(FileIdentity.init) }

    /// nil when there is no such file.
    private static func status(_ path: String) -> walpool_file? {
        var file = walpool_file()
        return walpool_look_at_file(path, &file) == 0 ? file : nil
    }
}
