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
    private var database: FileIdentity?
    private var wal: FileIdentity?
    private var index: FileIdentity?
    /// By which SQLite has the -wal open, where that is shown.
    private var walDescriptor: Int32?
    private let wasEmpty: Bool
    /// Before nobody had them open: see `lookedAt(hadFrames:keeping:)`.
    private var hadFrames = false
    private var databaseBefore: walpool_file?
    /// The -wal as it was then, which somebody may delete while nobody has it open.
    private(set) var keptWAL: KeptWAL?

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

    /// By which this process has the file and its -shm open, to ask who else has them locked: nothing may be opened besides
    /// for that. nil: that is not shown.
    var descriptors: (database: Int32, index: Int32)? {
        let opened = Self.openHere ?? []
        guard let file = opened.first(where: { $0.file == database }), let shm = opened.first(where: { $0.file == index }) else {
            return nil
        }
        return (file.descriptor, shm.descriptor)
    }

    /// What this process has open.
    private static var openHere: [(descriptor: Int32, file: FileIdentity)]? {
        // The links lead to the files themselves, whatever their names are by now.
        Directory.names(in: "/proc/self/fd")?.compactMap { number in
            guard let descriptor = Int32(number), let file = identity("/proc/self/fd/\(number)") else { return nil }
            return (descriptor, file)
        }
    }

    /// What SQLite has open is among them; what is only read (`KeptWAL`) is not.
    private static var writableHere: [(descriptor: Int32, file: FileIdentity)]? {
        openHere?.filter { fcntl($0.descriptor, F_GETFL) & O_ACCMODE == O_RDWR }
    }

    /// Whether this process has the same file open by another descriptor as well, or may have.
    static func isOpenHereBesides(_ descriptor: Int32) -> Bool {
        guard let openHere, let file = identity("/proc/self/fd/\(descriptor)") else { return true }
        return openHere.count { $0.file == file } != 1
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
    var whatIsLeft: DatabaseFiles {
        var files = DatabaseFiles(path: path)
        files.database = database
        return files
    }

    /// They are about to be closed and opened again.
    ///
    /// - Parameters:
    ///   - hadFrames: something was committed that is not in the database. The -wal may have gone since.
    ///   - wal: it is kept, unless the database may be written into without a trace of that, so that what is in the -wal may be older.
    func lookedAt(hadFrames: Bool, keeping wal: KeptWAL? = nil) -> DatabaseFiles {
        var files = self
        files.hadFrames = hadFrames || hasFrames
        files.databaseBefore = databaseInPlace
        if let modified = files.databaseBefore?.modified,
            Self.wouldTellOfChange(modified, now: UInt64(clamping: SystemClock.nanoseconds(CLOCK_REALTIME)))
        {
            files.keptWAL = wal
        }
        return files
    }

    /// Whoever writes into the file from now on gives it another time. "The kernel has always used coarse time values to
    /// stamp inodes. This value is updated every jiffy, so any change that happens within that jiffy will end up with the
    /// same timestamp" (https://docs.kernel.org/filesystems/multigrain-ts.html). And where a file system keeps whole
    /// seconds, so does any within that one.
    ///
    /// - Parameters:
    ///   - modified: the file's time of modification, in nanoseconds since 1970.
    ///   - now: the same clock's time, in the same unit.
    static func wouldTellOfChange(_ modified: UInt64, now: UInt64) -> Bool {
        let granularity = modified % 1_000_000_000 == 0 ? coarsestNanoseconds : longestTickNanoseconds
        return now > modified && now - modified > granularity
    }

    /// Twice as long as the longest that a kernel is built with (CONFIG_HZ_100).
    private static let longestTickNanoseconds: UInt64 = 20_000_000
    /// ext3 and ext4 with small inodes have no more than seconds, FAT every other one.
    private static let coarsestNanoseconds: UInt64 = 2_000_000_000

    /// While nobody had it open the -wal was deleted, emptied or replaced, with commits that may be nowhere else. Another
    /// process that was the last to close the database may have copied them; then it has written into that.
    func haveLostWAL(since before: DatabaseFiles) -> Bool {
        guard before.hadFrames, !hasFrames || !haveSameWAL(as: before), let then = before.databaseBefore else { return false }
        return databaseInPlace.map { $0.modified == then.modified && $0.bytes == then.bytes } ?? false
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

    /// What this process would have to write into to serve the database, and may not: the file, what lies beside it, or the
    /// directory, where a -wal and a -shm are made; and why. A -journal is another process's that was killed, and is to be rolled back.
    /// SQLite says of each that the database can only be read, or not opened.
    package static func unwritable(_ path: String) -> String? {
        let file = target(of: path)
        if let problem = notAFile(file) { return problem }
        let names: [String] = [file, file + "-journal", file + "-wal", file + "-shm"]
        for name in names where access(name, F_OK) == 0 && faccessat(AT_FDCWD, name, W_OK, AT_EACCESS) != 0 {
            return cannotBeWritten(name, errno)
        }
        let directory = Directory.of(file)
        let isWritable = faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) == 0
        return isWritable ? nil : cannotBeWritten("the directory \(directory)", errno)
    }

    /// Something else than a file is there, or what it is cannot be found out; nil: neither.
    private static func notAFile(_ path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0 else { return isAbsence(errno) ? nil : "\(path): \(String(cString: strerror(errno)))" }
        return status.st_mode & S_IFMT == S_IFREG ? nil : "\(path) is not a file"
    }

    private static func cannotBeWritten(_ name: String, _ number: Int32) -> String {
        "\(name) cannot be written by this process: \(String(cString: strerror(number)))"
    }

    /// Whether there is no database yet. None may be made where there is none, or nothing in it, while its -wal has commits: SQLite takes
    /// such a -wal for a leftover and deletes it (`pagerOpenWalIfPresent` in https://www.sqlite.org/src/file/src/pager.c),
    /// and whoever brings the file back later has lost what was acknowledged since its last checkpoint.
    static func isToBeMade(_ path: String) throws(SQLiteError) -> Bool {
        let file = target(of: path)
        let bytes = status(file)?.bytes
        guard bytes ?? 0 == 0, holdsFrames(file + "-wal") else { return bytes == nil }
        throw SQLiteError(
            extendedCode: SQLiteError.Code.cannotOpen,
            message: "\(file) is \(bytes == nil ? "missing" : "empty"), and \(file)-wal holds commits of it: put the file back, "
                + "or delete the -wal if they are not wanted")
    }

    /// No file is there, or one with nothing in it: to SQLite either is a new database.
    static func holdsNothing(_ path: String) -> Bool { status(target(of: path))?.bytes ?? 0 == 0 }

    /// Where a path leads, also if nothing is there: SQLite makes the file, and looks for its -wal, where the last of the symbolic links
    /// points to (`unixFullPathname` in https://www.sqlite.org/src/file/src/os_unix.c, up to SQLITE_MAX_SYMLINK of them).
    private static func target(of path: String) -> String {
        if let resolved = Directory.resolved(path) { return resolved }
        var file = path
        for _ in 0..<PoolLimits.symbolicLinks {
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

    private static func isLost(_ path: String, _ identity: FileIdentity?) -> Bool {
        var file = walpool_file()
        if walpool_look_at_file(path, 0, &file) == 0 { return FileIdentity(file) != identity }
        return isAbsence(errno)
    }

    static func lost(_ message: String) -> SQLiteError {
        SQLiteError(extendedCode: SQLiteError.Code.inputOutput, message: message)
    }

    static var truncatedWAL: SQLiteError { lost("the -wal was truncated while it was open") }

    static var writtenOverWAL: SQLiteError { lost("the -wal was written over while it was open") }

    static var truncated: SQLiteError { lost("the database's file was truncated while it was open") }

    static var writtenOver: SQLiteError { lost("the database's file was written over while it was open") }

    static var replaced: SQLiteError { lost("another file is in its place") }

    /// They are back where they were, and another process may have opened others meanwhile.
    static var passing: SQLiteError {
        lost("the database's file, its -wal or its -shm could not be found for a moment")
    }

    /// No disk has failed: a file was lost. Errors of a disk say which operation it was, in a second byte
    /// (https://www.sqlite.org/rescode.html#extrc): those of SQLite, and those of our own calls.
    static func isLoss(_ error: SQLiteError) -> Bool { error.extendedCode == SQLiteError.Code.inputOutput }

    private static func identity(_ path: String) -> FileIdentity? { status(path).map(FileIdentity.init) }

    /// nil when there is no such file.
    private static func status(_ path: String, asksForTime: Bool = false) -> walpool_file? {
        var file = walpool_file()
        return walpool_look_at_file(path, asksForTime ? 1 : 0, &file) == 0 ? file : nil
    }
}
