import CLinux
import Glibc
import Journal
import POSIX
import Logging
import Pool
import PostgresWire
import SQLite
import Scheduling
import Synchronization

/// The server: one pool, one listening socket, one crew of threads, many sessions.
public final class Server: Sendable {
    /// What it was started with. For what can be changed since then, see `current`.
    public let configuration: ServerConfiguration
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
    /// See Access/.
    let access: Locked<AccessRules>
    let sessionCounts = Locked(SessionCounts())
    let socketFile: String
    let ready = ReadyQueue()
    let stopSignal: Int32
    private let threads = Locked<[Pthread]>([])
    /// No new sessions, and idle ones go.
    let isStopping = Atomic<Bool>(false)
    /// See Server+Accepting.
    let isAcceptingPaused = Atomic<Bool>(false)
    /// See Server+Drain.
    let isDraining = Atomic<Bool>(false)
    /// A thread takes an idle user's reader away: see Server+Deadlines.
    let isEvictingReader = Atomic<Bool>(false)
    /// See Access/Server+Access.
    let metricsConnections = Atomic<Int>(0)
    let hasStoppedAccepting = Atomic<Bool>(false)
    let shutdownRequest = Locked<(@Sendable () -> Void)?>(nil)
    /// See ConsoleThread.
    let consoleThreads = Atomic<Int>(0)
    /// Running statements end now.
    let mustStopStatements = Atomic<Bool>(false)
    /// Of the crew: they have left `Worker.main`.
    let endedThreads = Atomic<Int>(0)

    /// Events that are no session's: slots are far below these numbers.
    enum Event {
        static let timer = UInt64.max
        static let wakeUp = UInt64.max - 1
        static let stop = UInt64.max - 2
        static let metricsListener = UInt64.max - 3
        /// The first of as many as may be: a listening socket each.
        static let firstListener = UInt64.max - 3 - UInt64(mostListeners)
    }
    /// What wakes a thread that shall only look what there is to do.
    static let wakeUpEvent = Poller.Event(token: Event.wakeUp)
    /// More would be a mistake in a unit file.
    public static let mostListeners = 16

    /// Opens the database and its sockets; nobody is served before `start`. The error is one line for the person who started it.
    public init(_ configuration: ServerConfiguration, log: Logger) throws(StartError) {
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
        do {
            pool = try Pool(
                path: configuration.databasePath, settings: configuration.connection, limits: configuration.pool,
                deadlines: deadlines, log: log, observer: metrics.statements, cannotGoOn: { Self.endProcess($0, log) })
        } catch {
            throw StartError(
                "cannot open \(configuration.databasePath): \(ErrorTranslation.startMessage(error, configuration.databasePath))")
        }
        if let directory = configuration.backupDirectory { pool.backups.removeStale(in: directory) }
        metricsListener = try configuration.metrics.address.map { address throws(StartError) in try Listener(loopback: address) }
        if configuration.inheritedSockets.isEmpty {
            listeners = [
                try Listener(
                    path: configuration.socketPath, mode: configuration.socketMode,
                    leavesFile: configuration.leavesSocketFile)
            ]
        } else {
            guard configuration.inheritedSockets.count <= Self.mostListeners else {
                throw StartError("more than \(Self.mostListeners) listening sockets were handed over")
            }
            listeners = configuration.inheritedSockets.map { Listener($0) }
        }
        heartbeat = configuration.reports.map { Heartbeat($0) }
        // With several sockets, the first is the one whose group may write.
        socketFile = listeners[0].path
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
        // One more note, for the thread that stops the server. Where there is one core, one thread polls while another waits for the
        // disk.
        crew = Crew(threads: threadCount + 1, pollers: max(2, cores), quickPollers: cores / 2, processors: cores)
        stopSignal = walpool_eventfd()
    }

    deinit {
        poller.close()
        close(stopSignal)
    }

    /// Starts serving; returns at once.
    public func start() throws(StartError) {
        do {
            try addEvents()
            crew.announceAgain = { [unowned self] in self.announceAgain($0) }
            crew.wakeForWhatIsLeft = { [unowned self] in
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
    public var listeningSockets: [Int32] { listeners.map(\.descriptor) }
    /// Where clients connect to: the files of those sockets.
    public var socketPaths: [String] { listeners.map(\.path) }
    /// The metrics' too.
    var allListeners: [Listener] { listeners + [metricsListener].compactMap { $0 } }

    /// The crew has work again.
    func somethingHappens() {
        if let look = heartbeat?.somethingHappens(MonotonicClock.now) { deadlines.announce(look) }
    }

    /// Everything but the sessions that a thread of the crew may hear of.
    func addEvents() throws(SystemError) {
        for (index, listener) in listeners.enumerated() {
            try poller.add(listener.descriptor, .readable, token: Event.firstListener + UInt64(index))
        }
        if let metricsListener {
            try poller.add(metricsListener.descriptor, .readable, token: Event.metricsListener)
        }
        try poller.add(deadlines.descriptor, .readable, token: Event.timer)
        try poller.addEdgeTriggered(ready.wakeUp, token: Event.wakeUp)
        try poller.addLevelTriggered(stopSignal, token: Event.stop)
    }

    /// EX_IOERR of sysexits.h: the service manager starts the daemon again, which recovers what is on the disk. Nothing is
    /// closed in order, because closing would write.
    static let ioErrorStatus: Int32 = 74

    private static func endProcess(_ reason: String, _ log: Logger) {
        log.critical(.cannotGoOn, "\(reason): the daemon ends, so that it is started again on what is on the disk")
        _exit(ioErrorStatus)
    }

    /// Ends the crew. A thread that is still at work for longer than its statement's end is waited for: it holds a
    /// connection. False: one has gone on beyond the limit.
    func stopThreads(withinMilliseconds milliseconds: Int64) -> Bool {
        crew.stop()
        var one: UInt64 = 1
        _ = write(stopSignal, &one, 8)
        let threads = threads.withLock { $0 }
        let end = MonotonicClock.now.advanced(byMilliseconds: milliseconds)
        while endedThreads.load(ordering: .sequentiallyConsistent) < threads.count {
            guard MonotonicClock.now < end else { return false }
            pauseForSessions()
        }
        for thread in threads { thread.join() }
        return true
    }

    // MARK: Events

    /// Handles one event; false when the thread shall end.
    func handle(_ event: Poller.Event, _ worker: Worker) -> Bool {
        if event.isOwned {
            table.session(ownedBy: event).takeUp(worker)
            return true
        }
        let token = event.token
        guard token < Event.firstListener else { return handleOwn(token, worker) }
        if let session = table.ownAtEvent(event) {
            session.socketIsReady(worker, isHungUp: event.isHungUp)
        }
        return true
    }

    private func handleOwn(_ token: Poller.Token, _ worker: Worker) -> Bool {
        switch token {
        case Event.timer: timerFired(worker)
        case Event.wakeUp: break
        case Event.stop: return false
        case Event.metricsListener: if let metricsListener { accept(from: metricsListener, token, worker) }
        default: accept(from: listeners[Int(token - Event.firstListener)], token, worker)
        }
        return true
    }

    /// A thread was told of this event and does not come to it: another one is told.
    func announceAgain(_ event: Poller.Event) {
        if event.isOwned { return ready.enqueue(.owned(table.session(ownedBy: event))) }
        switch event.token {
        case Event.timer: try? poller.arm(deadlines.descriptor, .readable, token: Event.timer)
        case Event.wakeUp: ready.wakeOne()
        // Everybody is told for as long as it is so.
        case Event.stop: break
        case Event.metricsListener: if let metricsListener { arm(metricsListener, Event.metricsListener) }
        case Event.firstListener...: arm(listeners[Int(event.token - Event.firstListener)], event.token)
        default:
            // When another thread owns it, that one is told by this.
            table.ownAtEvent(event)?.announceEventAgain()
        }
    }

    // MARK: Cancelling

    /// A cancel request: by process ID and key, or nothing happens. The requester learns nothing either way.
    func cancel(processID: Int32, key: [UInt8]) {
        guard let session = table.session(processID: processID), session.hasCancelKey(key) else { return }
        if session.cancel() { ready.enqueue(.stopped(session, .cancelled)) }
    }
}
