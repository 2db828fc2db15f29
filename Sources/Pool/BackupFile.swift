import Glibc

/// A backup's file: temporary until it is complete and on the disk, and then under its name at once.
///
/// A lock (flock(2)) says that somebody is at work on the temporary file, so that one left by a daemon that was killed
/// can be told from one that another daemon is writing into the same directory. SQLite's locks are of another kind
/// (fcntl(2)); they would go with any descriptor of the file that is closed, so this one outlives the connection.
struct BackupFile: ~Copyable {
    let directory: String
    let name: String
    private let descriptor: Int32

    static let ending = ".walpool-backup"
    var temporaryPath: String { Self.temporaryPath(directory, name) }
    var path: String { "\(directory)/\(name)" }

    private static func temporaryPath(_ directory: String, _ name: String) -> String { "\(directory)/.\(name)\(ending)" }

    /// Makes the temporary file, empty.
    ///
    /// - Parameter mode: the permissions of the database: what it keeps from others its copy must, too.
    init(directory: String, name: String, mode: mode_t) throws(BackupError) {
        self.directory = directory
        self.name = name
        let path = "\(directory)/\(name)"
        // Looked at before an hour of copying; `publish` is what makes sure.
        if let existing = Self.existing(path) { throw .fileExists(existing) }
        descriptor = try Self.make(Self.temporaryPath(directory, name), name)
        fchmod(descriptor, mode & 0o666)
    }

    deinit { close(descriptor) }

    /// What has the name, or would be taken for a part of what has it: SQLite plays a -wal or -journal that it finds into the
    /// database beside it ("Mispairing database files and hot journals", https://www.sqlite.org/howtocorrupt.html).
    private static func existing(_ path: String) -> String? {
        ([""] + BackupName.reservedEndings).map { path + $0 }.first { access($0, F_OK) == 0 }
    }

    private static func make(_ path: String, _ name: String) throws(BackupError) -> Int32 {
        while true {
            let made = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            if made >= 0 {
                // Between the two another daemon that starts may have taken it for one left behind.
                if flock(made, LOCK_EX | LOCK_NB) == 0, isLinked(made) { return made }
                close(made)
            } else if errno == EEXIST {
                guard removeIfStale(path) else { throw .alreadyRunning(name) }
            } else {
                throw .system(call: "open", path: path, errorNumber: errno)
            }
        }
    }

    private static func isLinked(_ descriptor: Int32) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_nlink > 0
    }

    /// Brings the file onto the disk and gives it its name. Its connection must be closed.
    func publish() throws(BackupError) {
        guard fsync(descriptor) == 0 else {
            throw .system(call: "fsync", path: temporaryPath, errorNumber: errno)
        }
        if let existing = Self.existing(path) { throw .fileExists(existing) }
        // Not rename(2), which replaces a file that has the name: link(2) fails with EEXIST.
        guard link(temporaryPath, path) == 0 else {
            throw errno == EEXIST ? .fileExists(path) : .system(call: "link", path: path, errorNumber: errno)
        }
        unlink(temporaryPath)
        do { try Self.sync(directory: directory) } catch {
            // It would be gone after a power failure, perhaps.
            unlink(path)
            throw error
        }
    }

    /// Removes the temporary file and what SQLite may have put beside it.
    func discard() { Self.remove(temporaryPath) }

    private static func remove(_ path: String) {
        for ending in BackupName.reservedEndings { unlink(path + ending) }
        unlink(path)
    }

    /// "Calling fsync() does not necessarily ensure that the entry in the directory containing the file has also reached
    /// disk. For that an explicit fsync() on a file descriptor for the directory is also needed." fsync(2)
    private static func sync(directory: String) throws(BackupError) {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(call: "open", path: directory, errorNumber: errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .system(call: "fsync", path: directory, errorNumber: errno) }
    }
}

// MARK: What a killed daemon leaves behind

extension BackupFile {
    /// Removes temporary files nobody is at work on; returns their names.
    static func removeStale(in directory: String) -> [String] {
        guard let stream = opendir(directory) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasPrefix("."), name.hasSuffix(ending) { names.append(name) }
        }
        return names.filter { removeIfStale("\(directory)/\($0)") }
    }

    /// False when somebody has it locked, or it cannot be opened.
    private static func removeIfStale(_ path: String) -> Bool {
        let descriptor = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return errno == ENOENT }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return false }
        remove(path)
        return true
    }
}
