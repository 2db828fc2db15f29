import ArgumentParser
import CSystemd
import Configuration
import Glibc
import Logging
import POSIX
import Server

/// The command line. Its values win over the configuration file's, and those over the defaults.
@main
struct Walpoold: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "walpoold",
        abstract: "Serves one SQLite database to local clients over the PostgreSQL wire protocol.",
        version: "walpoold \(version)")

    static let version = ServerVersion.walpool

    @Argument(help: .key("database"))
    var database: String?
    @Option(help: .option("config"))
    var config: String?
    @Flag(help: .option("check-config"))
    var checkConfig = false
    /// For the build: `example`, `walpoold.8` or `walpoold.toml.5`.
    @Option(help: .hidden)
    var print: String?
    @Option(help: .key("socket_directory"))
    var socketDirectory: String?
    @Option(help: .key("port"))
    var port: Int?
    @Option(help: .key("name"))
    var name: String?
    @Option(help: .key("readers"))
    var readers: Int?
    @Option(help: .key("max_sessions"))
    var maxSessions: Int?
    @Option(help: .key("synchronous"))
    var synchronous: String?
    @Option(help: .key("socket_mode"))
    var socketMode: String?
    @Option(help: .key("log_level"))
    var logLevel: String?

    /// The options that stand for keys of the configuration file.
    private var options: [StartSettings.Option] {
        let texts = [
            ("database", database), ("socket_directory", socketDirectory), ("name", name), ("synchronous", synchronous),
            ("socket_mode", socketMode), ("log_level", logLevel),
        ]
        let numbers = [("port", port), ("readers", readers), ("max_sessions", maxSessions)]
        return texts.compactMap { key, text in text.map { (key, .string($0)) } }
            + numbers.compactMap { key, number in number.map { (key, .integer($0)) } }
    }

    /// One clear line on stderr for each thing that is wrong, in place of the library's several.
    static func main() {
        StandardStreams.openClosed()
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch let error as ConfigurationError {
            for line in error.lines.dropLast() { say(line) }
            fail(error.lines.last ?? "", status: ExitStatus.configuration)
        } catch let error as StartError {
            fail(error.description, status: error.isOfConfiguration ? ExitStatus.configuration : ExitStatus.cannotStart)
        } catch {
            let code = exitCode(for: error)
            // --help and --version come this way too, and succeed.
            // What is wrong in a unit's ExecStart= is so the next time, too.
            guard code.isSuccess else { fail(message(for: error), status: ExitStatus.configuration) }
            answer(fullMessage(for: error) + "\n")
            Glibc.exit(0)
        }
    }

    /// What was asked for, on standard output. Whoever writes it into a file must not take half of it for all.
    private static func answer(_ text: String) {
        guard let number = StandardOutput.write(text) else { return }
        fail("cannot write to standard output: \(String(cString: strerror(number)))", status: ExitStatus.cannotStart)
    }

    private static func fail(_ message: String, status: Int32) -> Never {
        say(message)
        Glibc.exit(status)
    }

    private static func say(_ message: String) {
        StandardError.write(
            "\(LogDestination.current.errorPrefix)walpoold: \(message.split(separator: "\n").first.map(String.init) ?? message)\n")
    }

    /// Throws a `ConfigurationError` or a `StartError`: `main` gives either its own words and status.
    func run() throws {
        if let print { return try Self.printText(print) }
        let file = StartSettings.file(given: config, database: database)
        let settings = try StartSettings(file: file, options: options, isForService: checkConfig)
        if checkConfig {
            let problems = settings.problems(hasSocket: sd_listen_fds(0) > 0)
            guard problems.isEmpty else { throw ConfigurationError(problems) }
            let database = settings.databaseOfService.map { "database: none named; as a service it is \($0)\n" } ?? ""
            return Self.answer(database + "ok\n")
        }
        LogThreshold.level = settings.logLevel
        let writer = LogWriter()
        // What was said must be read before why the program failed.
        defer { writer.drain(withinMilliseconds: LogWriter.lastDrainMilliseconds) }
        LoggingSystem.bootstrap { _ in JournalLogHandler(writer: writer) }
        try Daemon.run(settings, file: file, options: options, writer)
    }

    private static func printText(_ name: String) throws(StartError) {
        switch name {
        case "example": answer(ConfigurationExample.text)
        case "walpoold.8": answer(ManualPage.daemon(version: Self.version))
        case "walpoold.toml.5": answer(ManualPage.file(version: Self.version))
        default: throw StartError("there is no text \"\(name)\"")
        }
    }
}

extension ArgumentHelp {
    /// What the configuration file's key of that name is for.
    fileprivate static func key(_ name: String) -> ArgumentHelp {
        guard let key = ConfigurationKey.named(name) else { preconditionFailure("no key \(name)") }
        return ArgumentHelp("\(key.helpText).")
    }

    fileprivate static func option(_ name: String) -> ArgumentHelp {
        guard let option = CommandOption.named(name) else { preconditionFailure("no option \(name)") }
        return ArgumentHelp("\(option.summary).")
    }
}

private enum ExitStatus {
    /// EX_CONFIG of sysexits(3head). The units name it: what is wrong in the configuration is so the next time, too, and the
    /// service manager need not try again.
    static let configuration: Int32 = 78
    /// What may be otherwise the next time.
    static let cannotStart: Int32 = 1
}
