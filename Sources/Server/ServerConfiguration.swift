import Glibc
import Pool
import PostgresWire
import SQLite
import Scheduling

/// What the server is started with.
package struct ServerConfiguration: Sendable {
    /// The file that is served. It is made when there is none.
    package var databasePath: String
    /// By which clients connect to it.
    package var databaseName: String
    /// The socket's file, which libpq finds by its name: `.s.PGSQL.` and the port.
    package var socketPath: String
    /// Who may connect at all: the file's permissions.
    package var socketMode: mode_t = 0o660
    /// Listening sockets from the service manager, in place of one that would be made at `socketPath`.
    package var inheritedSockets: [InheritedSocket] = []
    /// The service manager is given the socket to keep, so its file stays when the server stops.
    package var leavesSocketFile = false
    /// Who is told how the server is.
    package var reports: ServiceReports?
    /// The most sessions at a time. Each costs a file descriptor and some 10 KB.
    package var maximumSessions = 1000
    /// How many files the process may open. It bounds the sessions, too: see DescriptorBudget.
    package var descriptorLimit = Int.max
    /// How long a client may take to send its startup message.
    package var startupTimeoutMilliseconds: Int64 = 60_000
    /// How long running statements may go on after SIGTERM.
    package var shutdownTimeoutMilliseconds: Int64 = 10_000
    /// Texts of statements that are remembered, in each of two generations.
    package var rememberedTexts = 2048
    /// Where BACKUP puts its files; without one there are no backups.
    package var backupDirectory: String?
    /// Who may enter; can be replaced while the server runs.
    package var access = AccessRules.default()
    /// What SQLite may take of it.
    package var memory = MemoryLimits()
    /// Readers, queues, groups and the WAL.
    package var pool = PoolLimits()
    /// Where they are served beside the socket.
    package var metrics = MetricsConfiguration()
    /// Of every connection to the database.
    package var connection = ConnectionSettings()
    /// What is logged.
    package var log = LogConfiguration()
    /// What a session starts with, by the names SET takes.
    package private(set) var settings: [(name: String, value: String)] = []
    var sessionDefaults = Settings()

    /// Places for sessions that are made at the start, because `maximumSessions` may be raised later.
    package var sessionRoom: Int { max(maximumSessions, ServerLimits.leastSessionRoom) }

    /// All else is as above.
    package init(databasePath: String, databaseName: String, socketPath: String) {
        self.databasePath = databasePath
        self.databaseName = databaseName
        self.socketPath = socketPath
    }

    /// Sets what a session starts with; the error is for the person who wrote the configuration.
    package mutating func setDefault(_ name: String, _ value: String) throws(StartError) {
        do { try sessionDefaults.set(name, [value]) } catch { throw StartError(error) }
        settings.append((name, value))
    }

    /// What a session starts with, as SHOW gives it.
    package func settingDefault(_ name: String) -> String? { sessionDefaults.value(name) }
}

extension ServerConfiguration {
    /// For those who read a configuration, and do not import Scheduling.
    package typealias Window = MaintenanceWindow

    /// A time as SET takes it: a number of milliseconds, or one with its unit.
    package static func milliseconds(
        _ name: String, _ value: String, upTo longest: Int64 = Int64(Int32.max)
    ) throws(StartError) -> Int64 {
        do { return try Settings.milliseconds(name, value, upTo: longest) } catch { throw StartError(error) }
    }

    /// A time as SHOW gives it.
    package static func shown(milliseconds: Int64) -> String { Settings.shown(milliseconds) }
}

extension StartError {
    /// What a client is told of a value, for the person who wrote it into the configuration: what to write instead with it.
    init(_ error: WireError) {
        self.init(error.hint.map { "\(error.message). \($0)" } ?? error.message)
    }
}
