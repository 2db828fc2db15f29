import CLinux
import Glibc
import Journal
import Logging
import POSIX
import Pool
import PostgresWire
import SQLite
import Scheduling
import Synchronization

/// The server: one pool, one listening socket, one crew of threads, many sessions.
package final class Server: Sendable {
    /// What it was started with. For what can be changed since then, see `current`.
    package let configuration: ServerConfiguration
    let changeable: Locked<ServerConfiguration>
    let reloading = Reloading()
    let pool: Pool
    let poller: Poller
    let table: SessionTable
    let deadlines: Deadlines
    let crew: Crew
    let threadCount: Int
    let descriptors: DescriptorBudget
    let registry: QueryRegistry
    let catalogs = CatalogConnections()
    let log: Logger
    let eventLog: EventLog
    /// See Logging/Session+LockWait.
    let holderStatement = Locked<HolderStatement?>(nil)
    /// The member of the group that has the writer, if it has been running for long, and its statement.
    let longMember = Locked<(client: ClientID, statement: String?)?>(nil)
    let metrics = Metrics(now: MonotonicClock.now)
    let metricsListener: Listener?
    let emptyQuery: Query
    /// The tables' OIDs of the newest schema that somebody has asked about.
    let oidsOfSchema = Locked<(schema: SchemaVersion, oids: CatalogOIDs)?>(nil)
    let listeners: [Listener]
    let heartbeat: Heartbeat?
    let freeHeap = FreeHeap()
    /// See Access/.
    let access: Locked<AccessRules>
    let accountNames = RememberedNames()
    let groupNames = RememberedNames()
    let sessionCounts = Locked(SessionCounts())
    let socketFile: String
    /// As they were at the start, without those that are known to be gone: see Server+Accepting.
    let watchedSocketFiles: Locked<[SocketFile]>
    let ready = ReadyQueue()
    let stopping = Stopping()
    let threads = Locked<[Pthread]>([])
    /// See Server+Accepting.
    let isAcceptingPaused = Atomic<Bool>(false)
    /// A thread takes an idle user's reader away: see Server+Deadlines.
    let isEvictingReader = Atomic<Bool>(false)
    /// See Access/Server+Access.
    let metricsConnections = Atomic<Int>(0)
    /// See ConsoleThread.
    let consoleThreads = Atomic<Int>(0)

    /// Opens the database and its sockets; nobody is served before `start`. The error is one line for the person who started it.
    package init(_ configuration: ServerConfiguration, log: Logger) throws(StartError) {
        self.configuration = configuration
        let cores = ProcessorTime.usableProcessors
        // Statements can use up the connections, never the threads that receive requests.
        threadCount = PollerCensus.threads(cores: cores, readers: configuration.pool.readers)
        descriptors = try DescriptorBudget.checked(configuration, threads: threadCount)
        var current = configuration
        current.maximumSessions = min(configuration.maximumSessions, descriptors.sessions(configuration.access))
        changeable = Locked(current)
        self.log = log
        eventLog = EventLog(log, configuration.log)
        do { deadlines = try Deadlines() } catch { throw StartError("\(error)") }
        SQLiteLibrary.limitMemory(
            configuration.memory, connections: configuration.pool.readers + PoolLimits.otherConnections,
            cacheKibibytes: configuration.connection.cacheSizeKibibytes)
        // Before the database is opened, which makes one or puts it into WAL mode: a start that fails leaves it as it was. The socket
        // itself comes after that, because whoever can connect may take the daemon for started.
        try Self.requireFreeSocket(configuration)
        metricsListener = try configuration.metrics.address.map { address throws(StartError) in try Listener(loopback: address) }
        pool = try Self.openPool(configuration, deadlines, metrics.statements, ready, log)
        if let directory = configuration.backupDirectory { pool.backups.removeStale(in: directory) }
        listeners = try Self.listeners(configuration)
        heartbeat = configuration.reports.map { Heartbeat($0) }
        // With several sockets, the first is the one whose group may write.
        socketFile = listeners[0].path
        watchedSocketFiles = Locked(listeners.compactMap { SocketFile(at: $0.path) })
        access = Locked(configuration.access)
        do {
            emptyQuery = try Query(UnsafeRawBufferPointer(start: nil, count: 0))
            poller = try Poller()
        } catch {
            throw StartError("\(error)")
        }
        // Those refused for being too many need a place to be told so.
        table = SessionTable(
            capacity: configuration.sessionRoom + configuration.access.placesForRefusals + PlaceLimits.admins + PlaceLimits.metrics)
        registry = QueryRegistry(limit: configuration.rememberedTexts)
        // Where there is one core, one thread polls while another waits for the disk.
        crew = Crew(
            threads: threadCount, pollers: max(2, cores), quickPollers: cores / 2, processors: cores,
            // Whoever has connected to one of these before this process was there has not been refused any.
            socketsMayKeep: SentDescriptors.mayCome || !configuration.inheritedSockets.isEmpty)
    }

    private static func openPool(
        _ configuration: ServerConfiguration, _ deadlines: Deadlines, _ observer: any StatementObserver, _ ready: ReadyQueue,
        _ log: Logger
    ) throws(StartError) -> Pool {
        do {
            return try Pool(
                path: configuration.databasePath, settings: configuration.connection, limits: configuration.pool,
                deadlines: deadlines, log: log, observer: observer, resume: { for next in $0 { ready.enqueue(next) } },
                cannotGoOn: { endProcess($0, log) })
        } catch {
            throw StartError(
                "cannot open \(configuration.databasePath): \(ErrorTranslation.startMessage(error, configuration.databasePath))")
        }
    }

    private static func listeners(_ configuration: ServerConfiguration) throws(StartError) -> [Listener] {
        let inherited = configuration.inheritedSockets
        guard !inherited.isEmpty else {
            return [
                try Listener(path: configuration.socketPath, mode: configuration.socketMode, leavesFile: configuration.leavesSocketFile)
            ]
        }
        return inherited.map { Listener($0) }
    }

    /// Of daemons that start at one moment, more than one may be let pass here: `Listener` is who decides.
    private static func requireFreeSocket(_ configuration: ServerConfiguration) throws(StartError) {
        let inherited = configuration.inheritedSockets
        guard !inherited.isEmpty else { return try Listener.requireFree(configuration.socketPath) }
        guard inherited.count <= ServerLimits.listeners else {
            throw StartError("more than \(ServerLimits.listeners) listening sockets were handed over")
        }
    }

    deinit {
        poller.close()
    }

    /// Starts serving; returns at once.
    package func start() throws(StartError) {
        do {
            try addEvents()
            crew.announceAgain = { [unowned self] in self.announceAgain($0) }
            crew.wakeForWhatIsLeft = { [unowned self] resumptions in
                for resumption in resumptions { self.ready.enqueueUnannounced(resumption) }
                if !self.ready.isEmpty { self.ready.wakeOne() }
            }
            for _ in 0..<threadCount {
                let thread = try Worker(server: self).start(stackBytes: SessionLimits.stackBytes)
                threads.withLock { $0.append(thread) }
            }
        } catch {
            throw StartError("\(error)")
        }
        deadlines.announce(min(pool.nextMaintenanceLook, metrics.periodEnd))
        somethingHappens()
        if let shortage = descriptors.shortage(of: configuration.maximumSessions, configuration.access) {
            log.warning(.outOfDescriptors, "\(shortage)")
        }
    }

    /// The sockets it listens on, for a service manager to keep.
    package var listeningSockets: [Int32] { listeners.map(\.descriptor) }
    /// Where clients connect to: the files of those sockets.
    package var socketPaths: [String] { listeners.map(\.path) }
    /// The metrics' too.
    var allListeners: [Listener] { listeners + [metricsListener].compactMap { $0 } }

    /// The crew has work again.
    func somethingHappens() {
        if let look = heartbeat?.somethingHappens(MonotonicClock.now) { deadlines.announce(look) }
    }

    /// EX_IOERR of sysexits.h: the service manager starts the daemon again, which recovers what is on the disk. Nothing is
    /// closed in order, because closing would write.
    static let ioErrorStatus: Int32 = 74

    private static func endProcess(_ reason: String, _ log: Logger) {
        log.critical(.cannotGoOn, "\(reason): the daemon ends, so that it is started again on what is on the disk")
        _exit(ioErrorStatus)
    }

    // MARK: Cancelling

    /// A cancel request: by process ID and key, or nothing happens. The requester learns nothing either way.
    func cancel(processID: Int32, key: [UInt8]) {
        guard let session = table.session(processID: processID), session.hasCancelKey(key) else { return }
        if session.cancel() { ready.enqueue(.stopped(session, .cancelled)) }
    }
}
