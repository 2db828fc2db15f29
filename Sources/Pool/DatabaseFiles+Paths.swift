import Glibc
import POSIX
import SQLite

/// What a start asks of the database's path, before anything is open.
extension DatabaseFiles {
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
    static func target(of path: String) -> String {
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
}
