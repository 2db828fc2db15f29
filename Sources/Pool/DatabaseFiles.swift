import CLinux
import Glibc
import POSIX
import SQLite
import Scheduling

extension FileIdentity {
    init(_ file: walpool_file) { self.init(device: file.device, inode: file.inode) }
}

/// Which files a database's paths led to when the writer opened them: the file, its -wal and its -shm. So it is noticed that one was
/// replaced or deleted while it was open: SQLite goes on writing to a file nobody will find again.
///
/// By the path only. A descriptor of the database's file must not be opened beside SQLite's: "If one process has the same
/// file open twice, and one of the file descriptors is closed, … all POSIX advisory locks … are dropped"
/// (https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_).
///
/// SQLite's locks are in the -shm. If it is deleted, the next process that opens the database makes a new one, and two processes that do
/// not see each other's locks write at once.
package struct DatabaseFiles: Sendable {
    let path: String
    private(set) var database: FileIdentity?
    private var wal: FileIdentity?
    private(set) var index: FileIdentity?
    /// By which SQLite has the -wal open, where that is shown.
    private var walDescriptor: Int32?
    private let wasEmpty: Bool
    /// What there was before nobody had them open.
    var before: Before?

    /// - Parameter path: without symbolic links.
    private init(path: String) {
        self.path = path
        let status = Self.status(path)
        database = status.map(FileIdentity.init)
        wasEmpty = status?.bytes == 0
        wal = Self.identity(path + "-wal")
        index = Self.identity(path + "-shm")
    }

    /// Those that a connection has open, and the only one of this process that has any. Another file that has come to the place of one of
    /// them since SQLite went there is not what it was looked for: then it is lost, as when there is none.
    init(of connection: Connection) {
        self.init(path: connection.fileName)
        if connection.hasMoved { database = nil }
        // The database's file is among them, where they are shown at all.
        guard let database, let opened = Self.writableHere, opened.contains(where: { $0.file == database }) else { return }
        walDescriptor = opened.first { $0.file == wal }?.descriptor
        if wal != nil, walDescriptor == nil { wal = nil }
        if index != nil, !opened.contains(where: { $0.file == index }) { index = nil }
    }

    /// The database's file, if that is what the path leads to, and there is anything left in it. SQLite takes an empty file for
    /// a new database and deletes its -wal.
    var databaseInPlace: walpool_file? {
        guard let status = Self.status(path, asksForTime: true), FileIdentity(status) == database, status.bytes > 0 || wasEmpty else {
            return nil
        }
        return status
    }

    /// Somebody has emptied the file, and may write another database into it.
    var isDatabaseEmptied: Bool {
        guard let status = Self.status(path) else { return false }
        return FileIdentity(status) == database && status.bytes == 0 && !wasEmpty
    }

    func areOfSameDatabase(as other: DatabaseFiles) -> Bool { database == other.database }
    func haveSameWAL(as other: DatabaseFiles) -> Bool { wal == other.wal }

    /// The same database with the -wal and the -shm that are beside it now.
    var withFilesInPlace: DatabaseFiles {
        var files = DatabaseFiles(path: path)
        files.database = database
        return files
    }

    var hasWAL: Bool { walInPlace != nil }
    /// nil: there was none right after SQLite had opened it.
    var walIdentity: FileIdentity? { wal }

    /// The -wal, if that is what its path leads to. One that was not there when it was looked for, right after SQLite had opened it, was
    /// deleted by then.
    var walInPlace: walpool_file? {
        guard let wal, let status = Self.status(path + "-wal"), FileIdentity(status) == wal else { return nil }
        return status
    }

    /// The -wal, whatever its path leads to. nil: that is not shown.
    var openWAL: walpool_file? {
        var status = walpool_file()
        guard let walDescriptor, walpool_look_at_open_file(walDescriptor, &status) == 0, FileIdentity(status) == wal else { return nil }
        return status
    }

    var hasFrames: Bool { walInPlace.map { $0.bytes > 0 } ?? false }

    var hasIndex: Bool { index != nil && Self.identity(path + "-shm") == index }

    /// The -shm was deleted, and there is another: a process that has nothing to do with these locks.
    var isIndexReplaced: Bool {
        guard let other = Self.identity(path + "-shm") else { return false }
        return other != index
    }

    /// Both were deleted, and another process has committed into others: the frames of two histories of the same file.
    var isWALReplaced: Bool { isIndexReplaced && hasOtherWAL }

    /// In the place of the -wal there is another, with something in it: who has made it has gone on there.
    var hasOtherWAL: Bool { !hasWAL && (Self.status(path + "-wal").map { $0.bytes > 0 } ?? false) }

    /// There is no -wal in its place, not even an empty one. So nobody has opened the database since, for SQLite makes one
    /// before it takes a lock in the -shm (sqlite3WalOpen in https://www.sqlite.org/src/file/src/wal.c).
    var isNoWALInPlace: Bool { Self.identity(path + "-wal") == nil }

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
            if walpool_look_at_file(file, 0, &status) != 0, !Self.isAbsence(errno) { return "\(file): \(String(cString: strerror(errno)))" }
        }
        return nil
    }

    /// Whether another file is in the place of the database's, or comes there; one that was emptied is another when it has
    /// anything again.
    func isReplaced(withinMilliseconds milliseconds: Int64) -> Bool {
        let wasEmptied = isDatabaseEmptied
        let end = MonotonicClock.now.advanced(byMilliseconds: milliseconds)
        let isReplaced = MonotonicClock.poll(until: end) { () -> Bool? in
            guard let status = Self.status(path), status.bytes > 0 else { return nil }
            return wasEmptied || FileIdentity(status) != database
        }
        return isReplaced ?? false
    }

    /// Gives the -wal a name that nobody takes for one, and returns it. The -shm tells of it, and "does not contain any
    /// persistent content" (https://www.sqlite.org/walformat.html#the_wal_index_or_shm_file).
    func moveWALAway(keepsIndex: Bool = false) throws(SQLiteError) -> String {
        var (name, number) = ("\(path)-wal.lost", 1)
        while access(name, F_OK) == 0 {
            number += 1
            name = "\(path)-wal.lost\(number)"
        }
        guard rename(path + "-wal", name) == 0 else { throw Self.lost("rename: \(String(cString: strerror(errno)))") }
        if !keepsIndex, hasIndex { unlink(path + "-shm") }
        // What took the database's place may be on the disk before that is, and a -wal that comes back after a power failure is its own.
        Directory.sync(of: path)
        return name
    }

    static func isAbsence(_ number: Int32) -> Bool { number == ENOENT || number == ENOTDIR }

    private static func isLost(_ path: String, _ identity: FileIdentity?) -> Bool {
        var file = walpool_file()
        if walpool_look_at_file(path, 0, &file) == 0 { return FileIdentity(file) != identity }
        return isAbsence(errno)
    }

    static func identity(_ path: String) -> FileIdentity? { status(path).map(FileIdentity.init) }

    /// nil when there is no such file.
    static func status(_ path: String, asksForTime: Bool = false) -> walpool_file? {
        var file = walpool_file()
        return walpool_look_at_file(path, asksForTime ? 1 : 0, &file) == 0 ? file : nil
    }
}
