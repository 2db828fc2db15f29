import ArgumentParser
import Glibc
import POSIX
import Workload

/// The command line.
@main
struct WalpoolLoad: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "walpool-load",
        abstract: "Runs a workload against a PostgreSQL server, walpoold, or a SQLite file, and measures it.")

    @Argument(help: "The workload, a TOML file: bench/workloads holds some.", completion: .file(extensions: ["toml"]))
    var file: String

    @Option(help: ArgumentHelp("The directory of the server's Unix socket.", valueName: "directory"))
    var host: String?
    @Option(help: "The port in the socket's name; without it, 5432.")
    var port: Int?
    @Option(help: ArgumentHelp("The database to connect to.", valueName: "name"))
    var database: String?
    @Option(help: ArgumentHelp("As whom to connect; without it, who runs this.", valueName: "name"))
    var user: String?
    @Option(help: ArgumentHelp("A SQLite file, which a process of its own opens for each client.", valueName: "file"))
    var direct: String?
    @Option(help: ArgumentHelp("A SQLite file, which each client opens in a thread of this process.", valueName: "file"))
    var inProcess: String?

    @Option(help: ArgumentHelp("How many clients: a number for the first class, or CLASS=N,...", valueName: "n"))
    var clients: String?
    @Option(help: "How long to measure.")
    var seconds = 10.0
    @Option(help: ArgumentHelp("How long to run before that.", valueName: "seconds"))
    var warmUp = 1.0
    @Option(help: ArgumentHelp("Transactions to start in each second, a number for the first class, or CLASS=R,...", valueName: "r"))
    var rate: String?
    @Option(help: "The same seed draws the same values, but for those of sequence(), which goes on from the time of day.")
    var seed: UInt64 = 1
    @Option(help: "Threads of this program for --host.")
    var threads: Int?
    @Option(name: .customLong("set"), help: ArgumentHelp("Another value for a variable.", valueName: "variable=value"))
    var variables: [String] = []
    @Option(
        help: ArgumentHelp(
            "How statements travel: \(words(ClientClass.Messages.self)); of all classes, or CLASS=WORD,...", valueName: "word"))
    var messages: String?
    @Option(name: .customLong("protocol"), help: "What they are: \(words(QueryProtocol.self)). Without it, prepared.")
    var queryProtocol: String?
    @Option(help: "How often a transaction is tried again after 40001 or 40P01; without it, never.")
    var retries: Int?

    @Option(help: ArgumentHelp("Of SQLite: full or normal; without it, full.", valueName: "mode"))
    var synchronous: String?
    @Option(help: ArgumentHelp("Of SQLite, in milliseconds; without it, 5000.", valueName: "ms"))
    var busyTimeout: Int?
    @Option(
        name: .customLong("begin"),
        help: ArgumentHelp("How SQLite begins to write: immediate, as without it, or deferred.", valueName: "mode"))
    var beginMode: String?

    @Option(help: ArgumentHelp("Where the figures go as JSON; - is standard output.", valueName: "file"))
    var json: String?
    @Option(help: ArgumentHelp("Where HdrHistogram's interval log goes.", valueName: "file"))
    var hdrLog: String?
    @Option(help: ArgumentHelp("Between two lines that tell how far the run is.", valueName: "seconds"))
    var progress = 0.0
    @Flag(help: "No table.")
    var quiet = false
    /// Of a process that --direct starts.
    @Option(help: .hidden)
    var child: String?

    static func main() {
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch let error as LoadError {
            fail(error.description, status: error.exitStatus)
        } catch {
            let code = exitCode(for: error)
            // --help comes this way too, and succeeds.
            guard code.isSuccess else { fail(message(for: error), status: LoadError.usageStatus) }
            Swift.print(fullMessage(for: error))
            Glibc.exit(0)
        }
    }

    private static func fail(_ message: String, status: Int32) -> Never {
        StandardError.write("walpool-load: \(message)\n")
        Glibc.exit(status)
    }

    func run() throws(LoadError) {
        let settings = try runSettings()
        if let child { return try runChild(child, settings) }
        let outputs = try Outputs(json: json, intervalLog: hdrLog, hasTable: !quiet)
        let outcome = try outcome(settings)
        let failures = outputs.write(outcome.result) + [outcome.failure].compactMap { $0 }
        guard failures.isEmpty else { throw LoadError(failures.map(\.description).joined(separator: "; ")) }
    }

    private func outcome(_ settings: RunSettings) throws(LoadError) -> RunOutcome {
        switch (host, direct, inProcess) {
        case (let host?, nil, nil):
            try requireNone(of: optionsOfFiles, with: "--host")
            return try hostRun(settings, host: host).run()
        case (nil, let path?, nil):
            try requireNone(of: optionsOfServers, with: "--direct")
            guard InputFile.isRegular(file) else {
                throw .usage("with --direct the workload is a file, which each client reads: \(file) is none")
            }
            return try DirectRun(settings: settings, file: sqliteFile(path)).run()
        case (nil, nil, let path?):
            try requireNone(of: optionsOfServers, with: "--in-process")
            return try InProcessRun(settings: settings, file: sqliteFile(path)).run()
        default: throw LoadError.usage("name one target: --host, --direct or --in-process")
        }
    }
}
