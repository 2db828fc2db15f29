import ArgumentParser
import Glibc
import Logging
import Server

/// The command line. Its values win over the configuration file's, and those over the defaults.
@main
struct Walpoold: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "walpoold",
        abstract: "Serves one SQLite database to local clients over the PostgreSQL wire protocol.",
        version: "walpoold 0.1")

    @Argument(help: "The database file; created when absent.")
    var database: String?
    @Option(help: "Configuration file in TOML.  (default: none)")
    var config: String?
    @Option(help: "Directory of the socket.  (default: RUNTIME_DIRECTORY, XDG_RUNTIME_DIR/walpool, or one under TMPDIR)")
    var socketDirectory: String?
    @Option(help: "Port: the number in the socket's name.  (default: 5432)")
    var port: Int?
    @Option(help: "The database's name for clients.  (default: the file's name without its extension)")
    var name: String?
    @Option(help: "Read-only connections.  (default: 8)")
    var readers: Int?
    @Option(help: "The most sessions at a time.  (default: 1000)")
    var maxSessions: Int?
    @Option(help: "When a commit waits for the disk: full, pipelined or normal.  (default: full)")
    var synchronous: String?
    @Option(help: "Permissions of the socket, in octal.  (default: 0660)")
    var socketMode: String?
    @Option(help: "Log level: debug, info, notice, warning or error.  (default: info)")
    var logLevel: String?

    /// One clear line on stderr for whatever is wrong, in place of the library's several.
    static func main() {
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch let error as StartError {
            fail(error.description)
        } catch {
            let code = exitCode(for: error)
            // --help and --version come this way too, and succeed.
            guard code.isSuccess else { fail(message(for: error)) }
            print(fullMessage(for: error))
            Glibc.exit(0)
        }
    }

    private static func fail(_ message: String) -> Never {
        let line = message.split(separator: "\n").first.map(String.init) ?? message
        StandardError.write("walpoold: \(line)\n")
        Glibc.exit(1)
    }

    func run() throws {
        let settings = try StartSettings(self)
        LoggingSystem.bootstrap { _ in JournalLogHandler(level: settings.logLevel) }
        try Daemon.run(settings)
    }
}
