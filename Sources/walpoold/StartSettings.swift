import CSystemd
import Glibc
import Logging
import SQLite
import Server

/// What the command line and the configuration file come to.
struct StartSettings {
    var server: ServerConfiguration
    var logLevel: Logger.Level

    init(_ command: Walpoold) throws(StartError) {
        let file: ConfigurationFile? = if let path = command.config { try ConfigurationFile(path: path) } else { nil }
        guard let path = command.database ?? file?.database else {
            throw StartError("which database? Give its path: walpoold app.db")
        }
        let port = command.port ?? file?.port ?? 5432
        guard (1...65535).contains(port) else { throw StartError("port must be between 1 and 65535, not \(port)") }
        let given = command.socketDirectory ?? file?.socketDirectory
        let directory: String = if let given { given } else { try Self.defaultDirectory() }
        server = ServerConfiguration(
            databasePath: path, databaseName: try Self.name(command.name ?? file?.name, path),
            socketPath: "\(directory)/.s.PGSQL.\(port)")
        try file?.apply(to: &server)
        if let readers = command.readers { server.pool.readers = readers }
        if let sessions = command.maxSessions { server.maximumSessions = sessions }
        if let synchronous = command.synchronous { try Self.setSynchronous(synchronous, &server) }
        if let mode = command.socketMode ?? file?.socketMode {
            guard let value = mode_t(mode, radix: 8), value <= 0o777 else {
                throw StartError("the socket's mode must be an octal number such as 0660, not \(mode)")
            }
            server.socketMode = value
        }
        // Socket activation: "The first descriptor … is SD_LISTEN_FDS_START", which is 3: sd_listen_fds(3).
        if sd_listen_fds(1) == 1 { server.inheritedSocket = 3 }
        try Self.check(server)
        let level = command.logLevel ?? file?.logLevel ?? "info"
        guard let logLevel = Logger.Level(rawValue: level) else {
            throw StartError("log-level must be debug, info, notice, warning or error, not \(level)")
        }
        self.logLevel = logLevel
    }

    static func setSynchronous(_ value: String, _ server: inout ServerConfiguration) throws(StartError) {
        guard let durability = ServerConfiguration.Durability(rawValue: value.lowercased()) else {
            throw StartError("synchronous must be full, pipelined or normal, not \(value)")
        }
        server.pool.durability = durability
    }

    /// Nothing a user can write may become a trap later.
    private static func check(_ server: ServerConfiguration) throws(StartError) {
        guard (1...1000).contains(server.pool.readers) else {
            throw StartError("readers must be between 1 and 1000, not \(server.pool.readers)")
        }
        guard (1...100_000).contains(server.maximumSessions) else {
            throw StartError("max-sessions must be between 1 and 100000, not \(server.maximumSessions)")
        }
    }

    /// The file's stem, unless a name is given. Two names are the console's.
    private static func name(_ given: String?, _ path: String) throws(StartError) -> String {
        let file = path.split(separator: "/").last.map(String.init) ?? ""
        var stem = file
        if let dot = file.lastIndex(of: "."), dot != file.startIndex { stem = String(file[..<dot]) }
        let name = given ?? stem
        guard !name.isEmpty, name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw StartError("\"\(name)\" cannot be a database's name; choose one with --name")
        }
        guard name != "walpool", name != "pgbouncer" else {
            throw StartError("the name \"\(name)\" is kept for the console; choose another with --name")
        }
        return name
    }

    private static func defaultDirectory() throws(StartError) -> String {
        if let directory = environment("RUNTIME_DIRECTORY") {
            // systemd separates several directories by colons; ours is the first.
            return directory.split(separator: ":").first.map(String.init) ?? directory
        }
        if let base = environment("XDG_RUNTIME_DIR") { return try made("\(base)/walpool") }
        return try made("\(environment("TMPDIR") ?? "/tmp")/walpool-\(getuid())")
    }

    private static func environment(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }

    /// A directory of our own: nobody else may put a socket there for our clients to find.
    private static func made(_ path: String) throws(StartError) -> String {
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw StartError("cannot create \(path): \(String(cString: strerror(errno)))")
        }
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == getuid(),
            status.st_mode & 0o022 == 0
        else { throw StartError("\(path) is not a private directory of this user; choose one with --socket-directory") }
        return path
    }
}
