import ArgumentParser
import Foundation
import POSIX
import Workload

/// The command line: walpool-load's, as far as it means anything here.
@main
struct GRDBLoad: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grdb-load",
        abstract: "Runs a workload on a GRDB DatabasePool, in one process, and measures it as walpool-load does.")

    @Argument(help: "The workload, a TOML file: bench/workloads holds some.", completion: .file(extensions: ["toml"]))
    var file: String
    @Option(help: ArgumentHelp("The SQLite file.", valueName: "file"))
    var database: String

    @Option(help: ArgumentHelp("How many clients: a number for the first class, or CLASS=N,...", valueName: "n"))
    var clients: String?
    @Option(help: "How long to measure.")
    var seconds = 10.0
    @Option(help: ArgumentHelp("How long to run before that.", valueName: "seconds"))
    var warmUp = 1.0
    @Option(help: ArgumentHelp("Transactions to start in each second: a number for the first class, or CLASS=R,...", valueName: "r"))
    var rate: String?
    @Option(help: "The same seed draws the same values, but for those of sequence(), which goes on from the time of day.")
    var seed: UInt64 = 1
    @Option(name: .customLong("set"), help: ArgumentHelp("Another value for a variable of the workload.", valueName: "variable=value"))
    var variables: [String] = []
    @Option(help: ArgumentHelp("Of SQLite: full or normal.", valueName: "mode"))
    var synchronous = "full"
    @Option(help: ArgumentHelp("Of SQLite, in milliseconds.", valueName: "ms"))
    var busyTimeout = 5000
    @Option(help: "Connections that read; without it, as many as GRDB has by itself.")
    var readers: Int?

    @Option(help: ArgumentHelp("Where the figures go as JSON; - is standard output.", valueName: "file"))
    var json: String?
    @Option(help: ArgumentHelp("Where HdrHistogram's interval log goes.", valueName: "file"))
    var hdrLog: String?
    @Option(help: ArgumentHelp("Between two lines that tell how far the run is.", valueName: "seconds"))
    var progress = 0.0
    @Flag(help: "No table.")
    var quiet = false

    static func main() {
        do {
            let command = try parse()
            try command.runWorkload()
        } catch let error as LoadError {
            fail(error.description, status: 1)
        } catch let error as UsageError {
            fail(error.description, status: 2)
        } catch {
            let code = exitCode(for: error)
            // --help comes this way too, and succeeds.
            guard code.isSuccess else { fail(message(for: error), status: 2) }
            Swift.print(fullMessage(for: error))
            Glibc.exit(0)
        }
    }

    private static func fail(_ message: String, status: Int32) -> Never {
        StandardError.write("grdb-load: \(message)\n")
        Glibc.exit(status)
    }

    private func runWorkload() throws {
        guard let synchronous = PoolFile.Synchronous(rawValue: synchronous) else { throw UsageError("--synchronous is full or normal") }
        guard busyTimeout >= 0 else { throw UsageError("--busy-timeout is a number of milliseconds") }
        if let readers, readers < 1 { throw UsageError("--readers is at least 1") }
        guard FileManager.default.fileExists(atPath: database) else { throw LoadError("\(database) is not there") }
        let settings = try runSettings()
        let outputs = try Outputs(json: json, intervalLog: hdrLog, hasTable: !quiet)
        let pool = PoolFile(path: database, synchronous: synchronous, busyTimeoutMilliseconds: busyTimeout, readers: readers)
        let outcome = try PoolRun(settings: settings, file: pool).run()
        let failures = outputs.write(outcome.result) + [outcome.failure].compactMap { $0 }
        guard failures.isEmpty else { throw LoadError(failures.map(\.description).joined(separator: "; ")) }
    }
}

/// The command line is wrong.
struct UsageError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
