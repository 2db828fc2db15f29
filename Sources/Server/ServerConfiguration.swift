import Glibc
import Pool
import PostgresWire
import SQLite
import Scheduling

/// What the server is started with.
public struct ServerConfiguration: Sendable {
    /// The file that is served. It is made when there is none.
    public var databasePath: String
    /// By which clients connect to it.
    public var databaseName: String
    /// The socket's file, which libpq finds by its name: `.s.PGSQL.` and the port.
    public var socketPath: String
    public var socketMode: mode_t = 0o660
    /// Listening sockets from the service manager, in place of one that would be made at `socketPath`.
    public var inheritedSockets: [InheritedSocket] = []
    /// The service manager is given the socket to keep, so its file stays when the server stops.
    public var leavesSocketFile = false
    /// Who is told how the server is.
    public var reports: ServiceReports?
    /// The most sessions at a time. Each costs a file descriptor and some 10 KB.
    public var maximumSessions = 1000
    /// How many files the process may open. It bounds the sessions, too: see DescriptorBudget.
    public var descriptorLimit = Int.max
    /// How long a client may take to send its startup message.
    public var startupTimeoutMilliseconds: Int64 = 60_000
    /// How long running statements may go on after SIGTERM.
    public var shutdownTimeoutMilliseconds: Int64 = 10_000
    /// Texts of statements that are remembered, in each of two generations.
    public var rememberedTexts = 2048
    /// Where BACKUP puts its files; without one there are no backups.
    public var backupDirectory: String?
    /// Who may enter; can be replaced while the server runs.
    public var access = AccessRules.default()
    public var memory = MemoryLimits()
    public var pool = PoolLimits()
    public var metrics = MetricsConfiguration()
    public var connection = ConnectionSettings()
    public var log = LogConfiguration()
    /// What a session starts with, by the names SET takes.
    public private(set) var settings: [(name: String, value: String)] = []
    var sessionDefaults = Settings()

    /// Places for sessions that are made at the start, because `maximumSessions` may be raised later.
    public var sessionRoom: Int { max(maximumSessions, ServerLimits.leastSessionRoom) }

    /// All else is as above.
    public init(databasePath: String, databaseName: String, socketPath: String) {
        self.databasePath = databasePath
        self.databaseName = databaseName
        self.socketPath = socketPath
    }

    /// Sets what a session starts with; the error is for the person who wrote the configuration.
    public mutating func setDefault(_ name: String, _ value: String) throws(StartError) {
        do { try sessionDefaults.set(name, [value]) } catch { throw StartError(error) }
        settings.append((name, value))
    }

    /// What a session starts with, as SHOW gives it.
    public func settingDefault(_ name: String) -> String? { sessionDefaults.value(name) }
}

extension ServerConfiguration {
    /// For those who read a configuration, and import neither SQLite nor Pool nor Scheduling.
    public typealias SecureDelete = ConnectionSettings.SecureDelete
    public typealias Durability = PoolLimits.Durability
    public typealias Window = MaintenanceWindow

    /// A time as SET takes it: a number of milliseconds, or one with its unit.
    public static func milliseconds(
        _ name: String, _ value: String, upTo longest: Int64 = Int64(Int32.max)
    ) throws(StartError) -> Int64 {
        do { return try Settings.milliseconds(name, value, upTo: longest) } catch { throw StartError(error) }
    }

    /// A time as SHOW gives it.
    public static func shown(milliseconds: Int64) -> String { Settings.shown(milliseconds) }
}

extension StartError {
    /// What a client is told of a value, for the person who wrote it into the configuration: what to write instead with it.
    init(_ error: WireError) {
        self.init(error.hint.map { "\(error.message). \($0)" } ?? error.message)
    }
}
