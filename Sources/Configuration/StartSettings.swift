import Glibc
import Logging
import Pool
import Server

/// What the defaults, the configuration file and the command line come to, in this order.
package struct StartSettings: Sendable {
    /// The file's path, as given. What is not given is nil, here and below.
    package var database: String?
    /// What clients call the database.
    package var name: String?
    package var socketDirectory: String?
    /// The number in the socket's name: nothing listens on TCP.
    package var port = 5432
    /// Lines of lower levels are not written.
    package var logLevel = LogLevel.info
    /// The socket's directory is to be made, and to be this user's alone.
    private(set) var mustMakeSocketDirectory = false
    /// Nothing names a database and nothing needs to: the service manager will. Only when settings are checked without it.
    package private(set) var databaseOfService: String?
    /// The keys that the file or the command line has.
    package internal(set) var given: Set<String> = []
    /// Its paths and the database's name are filled in last, by `init(file:options:)`.
    package var server = ServerConfiguration(databasePath: "", databaseName: "", socketPath: "")

    /// Nothing but defaults.
    init() {}

    /// An option of the command line that stands for a key.
    package typealias Option = (key: String, value: ConfigurationValue)

    /// - Parameters:
    ///   - file: The configuration file's path.
    ///   - isForService: they are only checked, and may be those of a service that has a STATE_DIRECTORY.
    ///   - again: the daemon runs, by what the file said before.
    package init(
        file: String?, options: [Option], isForService: Bool = false, again: Bool = false
    ) throws(ConfigurationError) {
        var problems: [String] = []
        if let file {
            do { try ConfigurationFile(path: file, again: again).apply(to: &self) } catch { problems += error.lines }
        }
        for option in options {
            guard let key = ConfigurationKey.named(option.key) else { preconditionFailure("no key \(option.key)") }
            // The database is an argument and has no option.
            do { try key.set(key.option.map { "--\($0)" } ?? key.name, option.value, &self) } catch { problems.append(error.description) }
            given.insert(key.name)
        }
        if problems.isEmpty {
            do { try resolve(file, isForService) } catch { problems.append(error.description) }
        }
        guard problems.isEmpty else { throw ConfigurationError(problems) }
    }

    /// The configuration file that is to be read, if there is one. A database on the command line is served as the command
    /// line says: the system's file is another's.
    package static func file(
        given: String?, database: String?, exists: (String) -> Bool = { access($0, F_OK) == 0 || errno == EACCES }
    ) -> String? {
        if let given { return given }
        let path = ConfigurationFile.standardPath
        return database == nil && exists(path) ? path : nil
    }

    private mutating func resolve(_ file: String?, _ isForService: Bool) throws(StartError) {
        if isForService, file != nil, database == nil, Self.stateDirectory == nil {
            databaseOfService = database(in: Self.stateDirectoryVariable, file: file)
        }
        guard let database = database ?? databaseInStateDirectory(file: file) ?? databaseOfService else {
            throw StartError(
                "which database? Give its path: walpoold app.db (or name it in \(file ?? ConfigurationFile.standardPath))")
        }
        if let ending = BackupName.reservedEndings.first(where: { database.hasSuffix($0) }) {
            throw StartError("\(database) cannot be a database: SQLite gives files that end in \(ending) a meaning of its own")
        }
        // SQLite drops the slash, and what is made beside the file (its -maintenance) would be sought in it.
        guard !database.hasSuffix("/") else { throw StartError("\(database) cannot be a database: it is a directory's name") }
        // "If the filename is ":memory:", then a private, temporary in-memory database is created for the connection"
        // (https://www.sqlite.org/c3ref/open.html).
        guard database != ":memory:" else {
            throw StartError(
                "\":memory:\" cannot be served: it is SQLite's name of a database that no other process sees; a file of that name is ./:memory:"
            )
        }
        server.databasePath = database
        server.databaseName = if let name { name } else { try Self.stem(database) }
        let directory: String
        if let socketDirectory {
            directory = socketDirectory
        } else {
            (directory, mustMakeSocketDirectory) = Self.defaultDirectory()
        }
        server.socketPath = "\(directory)/.s.PGSQL.\(port)"
    }

    /// What a database is called when it is given no name.
    private static func stem(_ path: String) throws(StartError) -> String {
        let file = path.split(separator: "/").last.map(String.init) ?? ""
        var stem = file
        if let dot = file.lastIndex(of: "."), dot != file.startIndex { stem = String(file[..<dot]) }
        guard isName(stem) else {
            throw StartError(
                "\"\(stem)\" cannot be the database's name for clients; choose another with --name, or name in the configuration file")
        }
        return stem
    }

    /// Two names are the console's.
    static func isName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } && name != "walpool" && name != "pgbouncer"
    }

    private static func defaultDirectory() -> (path: String, mustMake: Bool) {
        if let directory = environment("RUNTIME_DIRECTORY") {
            // systemd separates several directories by colons; ours is the first.
            return (directory.split(separator: ":").first.map(String.init) ?? directory, false)
        }
        if let base = environment("XDG_RUNTIME_DIR") { return ("\(base)/walpool", true) }
        return ("\(environment("TMPDIR") ?? "/tmp")/walpool-\(getuid())", true)
    }

    private static func environment(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}

/// swift-log's levels.
package typealias LogLevel = Logger.Level
