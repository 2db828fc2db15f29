import Glibc
import Logging
import Server

/// What the defaults, the configuration file and the command line come to, in this order.
public struct StartSettings: Sendable {
    public var database: String?
    public var name: String?
    public var socketDirectory: String?
    public var port = 5432
    public var logLevel = LogLevel.info
    /// Its paths and the database's name are filled in last, by `init(file:options:)`.
    public var server = ServerConfiguration(databasePath: "", databaseName: "", socketPath: "")

    /// Nothing but defaults.
    init() {}

    /// An option of the command line that stands for a key.
    public typealias Option = (key: String, value: ConfigurationValue)

    /// - Parameter file: The configuration file's path.
    public init(file: String?, options: [Option]) throws(ConfigurationError) {
        var problems: [String] = []
        if let file {
            do { try ConfigurationFile(path: file).apply(to: &self) } catch { problems += error.lines }
        }
        for option in options {
            guard let key = ConfigurationKey.named(option.key) else { preconditionFailure("no key \(option.key)") }
            do { try key.set("--\(key.option ?? key.name)", option.value, &self) } catch { problems.append(error.description) }
        }
        if problems.isEmpty {
            do { try resolve() } catch { problems.append(error.description) }
        }
        guard problems.isEmpty else { throw ConfigurationError(problems) }
    }

    private mutating func resolve() throws(StartError) {
        guard let database else { throw StartError("which database? Give its path: walpoold app.db") }
        server.databasePath = database
        server.databaseName = if let name { name } else { try Self.stem(database) }
        let directory: String = if let socketDirectory { socketDirectory } else { try Self.defaultDirectory() }
        server.socketPath = "\(directory)/.s.PGSQL.\(port)"
    }

    /// What a database is called when it is given no name.
    private static func stem(_ path: String) throws(StartError) -> String {
        let file = path.split(separator: "/").last.map(String.init) ?? ""
        var stem = file
        if let dot = file.lastIndex(of: "."), dot != file.startIndex { stem = String(file[..<dot]) }
        guard isName(stem) else {
            throw StartError("\"\(stem)\" cannot be the database's name for clients; choose another with --name")
        }
        return stem
    }

    /// Two names are the console's.
    static func isName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } && name != "walpool" && name != "pgbouncer"
    }

    // MARK: The socket's directory

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

/// swift-log's levels.
public typealias LogLevel = Logger.Level
