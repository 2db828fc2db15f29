import CLinux
import Glibc
import POSIX

/// A backup's file: temporary until it is complete and on the disk, and then under its name at once. Whoever is at work on it
/// has its lock.
///
/// SQLite's locks (fcntl(2)) would go with any descriptor of the file that is closed, so this one outlives the connection. It is
/// open before anything is written, so that its fsync(2) tells of all that could not be.
struct BackupFile: ~Copyable {
    let directory: String
    let name: String
    private let descriptor: Int32
    private let lock: BackupLock

    static let ending = ".walpool-backup"
    var temporaryPath: String { Self.temporaryPath(directory, name) }
    var path: String { "\(directory)/\(name)" }

    private static func temporaryPath(_ directory: String, _ name: String) -> String { "\(directory)/.\(name)\(ending)" }

    /// Makes the temporary file, empty.
    ///
    /// - Parameter mode: the permissions of the database: what it keeps from others its copy must, too.
    init(directory: String, name: String, mode: mode_t) throws(BackupError) {
        // Looked at before an hour of copying; `publish` is what makes sure.
        if let existing = Self.existing("\(directory)/\(name)") { throw .fileExists(existing) }
        let temporaryPath = Self.temporaryPath(directory, name)
        guard let lock = try BackupLock.take(for: temporaryPath) else { throw .alreadyRunning(name) }
        // Nobody is at work on what a killed daemon has left of that name.
        Self.remove(temporaryPath)
        let made = open(temporaryPath, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard made >= 0 else { throw .system(call: "open", path: temporaryPath, errorNumber: errno) }
        fchmod(made, mode & 0o666)
        self.directory = directory
        self.name = name
        self.descriptor = made
        self.lock = lock
    }

    deinit { close(descriptor) }

    /// What has the name, or would be taken for a part of what has it: SQLite plays a -wal or -journal that it finds into the
    /// database beside it ("Mispairing database files and hot journals", https://www.sqlite.org/howtocorrupt.html).
    private static func existing(_ path: String) -> String? {
        ([""] + BackupName.reservedEndings).map { path + $0 }.first { path in
            // Also a symbolic link that leads to a disk that is away.
            var status = stat()
            return lstat(path, &status) == 0
        }
    }

    /// Brings the file onto the disk and gives it its name. Its connection must be closed.
    func publish() throws(BackupError) {
        guard fsync(descriptor) == 0 else {
            throw .system(call: "fsync", path: temporaryPath, errorNumber: errno)
        }
        if let existing = Self.existing(path) { throw .fileExists(existing) }
        try moveToName()
        if let failure = Directory.sync(of: path) {
            // It would be gone after a power failure, perhaps.
            unlink(path)
            throw .system(call: failure.call, path: directory, errorNumber: failure.errorNumber)
        }
    }

    /// Not by rename(2), which replaces a file that has the name: link(2) fails with EEXIST, and the kinds of disk that have no
    /// links (vfat, exFAT, many of FUSE and SMB) say so by one of these numbers.
    private func moveToName() throws(BackupError) {
        if link(temporaryPath, path) == 0 {
            unlink(temporaryPath)
            return
        }
        switch errno {
        case EEXIST: throw .fileExists(path)
        case EPERM, EOPNOTSUPP, ENOSYS, EMLINK: try renameToName()
        default: throw .system(call: "link", path: path, errorNumber: errno)
        }
    }

    private func renameToName() throws(BackupError) {
        if walpool_rename_unless_taken(temporaryPath, path) == 0 { return }
        switch errno {
        case EEXIST: throw .fileExists(path)
        // "The filesystem does not support one of the flags in flags" (rename(2)), or the kernel has no flags. Then there is nothing
        // but to look and to rename, and a file that comes between the two is replaced. It is not another backup's: the lock of
        // the name is this one's until the file has it.
        case EINVAL, ENOSYS:
            if let existing = Self.existing(path) { throw .fileExists(existing) }
            guard rename(temporaryPath, path) == 0 else { throw .system(call: "rename", path: path, errorNumber: errno) }
        default: throw .system(call: "rename", path: path, errorNumber: errno)
        }
    }

    /// Removes the temporary file and what SQLite may have put beside it.
    func discard() { Self.remove(temporaryPath) }

    private static func remove(_ path: String) {
        for ending in BackupName.reservedEndings { unlink(path + ending) }
        unlink(path)
    }
}

// MARK: What a killed daemon leaves behind

extension BackupFile {
    /// Removes temporary files nobody is at work on, and locks that nobody has; returns the names of the files.
    static func removeStale(in directory: String) -> [String] {
        var names: Set<String> = []
        for name in Directory.names(in: directory) ?? [] where name.hasPrefix(".") {
            if name.hasSuffix(ending) { names.insert(name) }
            if name.hasSuffix(ending + BackupLock.ending) { names.insert(String(name.dropLast(BackupLock.ending.count))) }
        }
        return names.sorted().filter { removeIfStale("\(directory)/\($0)") }
    }

    /// False when there is none, when somebody has its lock, or when the lock cannot be had.
    private static func removeIfStale(_ path: String) -> Bool {
        guard let lock = try? BackupLock.take(for: path) else { return false }
        let isThere = access(path, F_OK) == 0
        remove(path)
        // The lock is kept until the file is gone.
        _ = consume lock
        return isThere
    }
}
