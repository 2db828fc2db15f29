import CLinux
import Glibc
import POSIX
import Server

/// What the settings need of this machine.
extension StartSettings {
    /// The directory of the socket, made unless it is there. It is our own: nobody else may put a socket there for our
    /// clients to find.
    package func makeSocketDirectory() throws(StartError) {
        guard mustMakeSocketDirectory else { return }
        let path = Directory.of(server.socketPath)
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw StartError("cannot create \(path): \(Self.errorText)")
        }
        if let problem = Self.problemOfOwnDirectory(path) { throw StartError(problem) }
    }

    /// What would keep the daemon from starting, or a part of it from working. Nothing is opened or made: another daemon may
    /// be serving this very database.
    ///
    /// - Parameter hasSocket: the service manager has made the socket.
    package func problems(hasSocket: Bool) -> [String] {
        [problemOfDatabase(), hasSocket ? nil : problemOfSocket(), problemOfBackups()].compactMap { $0 }
    }

    /// What would go wrong, and that only when another machine or another program comes along; nil: nothing is known to.
    package func doubtOfDatabase() -> String? { doubtOfFileSystem() ?? doubtOfLinks() }

    /// A file's -wal is called after the name by which it is opened, so by another name there is another one:
    /// https://www.sqlite.org/howtocorrupt.html, "Multiple links to the same file".
    private func doubtOfLinks() -> String? {
        if walpool_is_mounted(server.databasePath) != 0 {
            return
                "\(server.databasePath) is mounted as a file: who opens it by its other path uses another -wal, and damages it; mount its directory"
        }
        var status = stat()
        guard stat(server.databasePath, &status) == 0, status.st_nlink > 1 else { return nil }
        return
            "\(server.databasePath) has \(status.st_nlink) names (hard links): who opens it by another one uses another -wal, and damages it"
    }

    private func doubtOfFileSystem() -> String? {
        // Of the file itself, where a symbolic link leads; one that is yet to be made will be where its directory is.
        let type = walpool_file_system(server.databasePath)
        guard let name = NetworkFileSystem.name(type == 0 ? walpool_file_system(Directory.of(server.databasePath)) : type)
        else { return nil }
        // https://www.sqlite.org/wal.html
        return "\(server.databasePath) is on \(name): \"WAL does not work over a network filesystem\", so no other machine may open it"
    }

    private func problemOfDatabase() -> String? {
        // The service manager makes its directory.
        if databaseOfService != nil { return nil }
        let path = server.databasePath
        let directory = Directory.of(path)
        var status = stat()
        guard stat(path, &status) == 0 else {
            guard errno == ENOENT else { return "database: cannot open \(path): \(Self.errorText)" }
            return Self.problemOfDirectory("database", directory)
        }
        guard status.st_mode & S_IFMT == S_IFREG else { return "database: \(path) is not a file" }
        guard faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0 else { return "database: cannot write to \(path): \(Self.errorText)" }
        guard Self.isDatabase(path) else { return "database: \(path) is not an SQLite database" }
        // The -wal is made beside it.
        return Self.problemOfDirectory("database", directory)
    }

    /// "Every valid SQLite database file begins with the following 16 bytes" (https://www.sqlite.org/fileformat2.html), and
    /// an empty file is an empty database.
    private static func isDatabase(_ path: String) -> Bool {
        guard let file = fopen(path, "r") else { return false }
        defer { fclose(file) }
        var header = [UInt8](repeating: 0, count: 16)
        let count = fread(&header, 1, header.count, file)
        return count == 0 || header == Array("SQLite format 3\0".utf8)
    }

    /// What would keep the socket from being made.
    package func problemOfSocket() -> String? {
        if let problem = problemOfSocketPath { return problem }
        let path = server.socketPath
        let directory = Directory.of(path)
        var status = stat()
        guard mustMakeSocketDirectory else { return Self.problemOfDirectory("socket_directory", directory) }
        // It is made when it is needed.
        guard lstat(directory, &status) == 0 else { return nil }
        return Self.problemOfOwnDirectory(directory)
    }

    /// What is wrong with it on any machine.
    package var problemOfSocketPath: String? {
        let (path, limit) = (server.socketPath, UnixSocketAddress.pathLimit)
        return path.utf8.count <= limit ? nil : "the socket's path is too long (\(limit) bytes are the limit): \(path)"
    }

    /// What would make BACKUP fail. The daemon starts all the same: a disk that is away at the moment must not keep clients out.
    package func problemOfBackups() -> String? {
        server.backupDirectory.flatMap { Self.problemOfDirectory("backup_directory", $0) }
    }

    // MARK: Directories

    private static func problemOfDirectory(_ key: String, _ path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0 else { return "\(key): \(path): \(errorText)" }
        guard status.st_mode & S_IFMT == S_IFDIR else { return "\(key): \(path) is not a directory" }
        // By what the process may do now: access(2) would forget the capabilities that a service was given.
        return faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) == 0 ? nil : "\(key): cannot write into \(path): \(errorText)"
    }

    private static func problemOfOwnDirectory(_ path: String) -> String? {
        var status = stat()
        let isPrivate =
            lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == getuid()
            && status.st_mode & 0o022 == 0
        return isPrivate ? nil : "\(path) is not a private directory of this user; choose one with --socket-directory"
    }

    private static var errorText: String { String(cString: strerror(errno)) }
}
