import Configuration
import Glibc
import Journal
import Logging
import POSIX
import SQLite
import Server

/// From start to exit.
enum Daemon {
    static func run(
        _ settings: StartSettings, file: String?, options: [StartSettings.Option], _ writer: LogWriter
    ) throws(StartError) {
        try settings.makeSocketDirectory()
        placeTemporaryFiles(beside: settings.server.databasePath)
        guard SQLiteLibrary.configure() else { throw StartError("SQLite refused its settings") }
        sayOfIndexFaults(settings.server.databasePath)
        // Before any thread starts, so that all inherit the mask and only this one hears of signals.
        let signals = Signals()
        try writer.start()
        let log = Logger(label: "walpoold")
        var settings = settings
        settings.server.descriptorLimit = raiseDescriptorLimit()
        let notifications = ServiceNotifications(databaseName: settings.server.databaseName, log: log)
        let server = try start(settings, notifications, log) { server, socket in
            let running = RunningConfiguration(settings, file: file, options: options, server: server, socket: socket)
            server.onReload { reload(running, notifications, log) }
            // To the process, where every thread but this one has the signal blocked: as if an administrator had sent it.
            server.onShutdown { kill(getpid(), SIGTERM) }
        }
        log.notice(
            .started,
            """
            \(settings.server.databasePath) is "\(settings.server.databaseName)" at \(server.socketPaths.joined(separator: " and ")), \
            SQLite \(SQLiteLibrary.version), \(settings.server.pool.readers) readers
            """)
        if let doubt = settings.doubtOfDatabase() { log.warning(.started, "\(doubt)") }
        if let problem = settings.problemOfBackups() { log.warning(.started, "\(problem): BACKUP would fail") }
        if SQLiteLibrary.hasWALResetBug {
            log.notice(
                .started,
                """
                SQLite \(SQLiteLibrary.version) has the WAL-reset bug: let no other process write to or checkpoint this file \
                (https://www.sqlite.org/wal.html#walresetbug)
                """)
        }
        notifications.ready(serving(server))
        let signal = serve(until: signals, server, log)
        notifications.stopping()
        // Of the console's SHUTDOWN there is a line that says who gave it.
        log.notice(.stopping, "stopping", metadata: signal.isOwn ? [:] : ["signal": "\(signal.name)"])
        TimeoutExtension.during(notifications) { server.stop(atOnceWhen: { signals.takeStop() }) }
        log.notice(.stopped, "stopped")
    }

    /// No call has failed when the -shm cannot be touched, so there is no error to report.
    private static func sayOfIndexFaults(_ path: String) {
        IndexFault.say(
            LogDestination.current.criticalPrefix
                + LogText.plain(
                    """
                    a page of \(path)-shm cannot be touched, or one of the program, which ends the daemon (SIGBUS): the file system is full \
                    and copies what is written (Btrfs, or blocks shared with a copy or a snapshot), the file was cut off, or the disk has failed
                    """) + "\n")
    }

    /// Around every reload, whether a signal or the console asked for it.
    private static func reload(
        _ running: RunningConfiguration, _ notifications: ServiceNotifications, _ log: Logger
    ) -> ReloadOutcome {
        notifications.reloading()
        let outcome = running.reload()
        switch outcome {
        case .applied(let changes, let needRestart, let doubts):
            log.notice(
                .reloaded, "configuration read again",
                metadata: ["changes": "\(changes.count)", "need_restart": "\(needRestart.count)"])
            for line in changes { log.notice(.reloaded, "configuration: \(line)") }
            for line in needRestart { log.warning(.reloaded, "configuration: needs a restart: \(line)") }
            for line in doubts { log.warning(.reloaded, "configuration: \(line)") }
            notifications.reloaded(serving(running.server))
        case .refused(let problems):
            log.error(.reloaded, "configuration not read again: nothing has changed", metadata: ["problems": "\(problems.count)"])
            for line in problems { log.error(.reloaded, "\(line)") }
            notifications.reloaded(
                "the new configuration is refused, see the log; \(serving(running.server)) as before", isRefused: true)
        }
        return outcome
    }

    private static func serving(_ server: Server) -> String {
        "serving \(server.configuration.databaseName) at \(server.socketPaths.joined(separator: " and "))"
    }

    /// Opens the database and serves it, on the sockets the service manager has if it has any.
    ///
    /// - Parameter prepare: what has to be there before anybody can connect and ask for it; it is told of the socket that the
    ///   service manager made, if it did.
    private static func start(
        _ settings: StartSettings, _ notifications: ServiceNotifications, _ log: Logger,
        _ prepare: (Server, SocketInForce?) -> Void
    ) throws(StartError) -> Server {
        do throws(StartError) {
            var configuration = settings.server
            let received = try ServiceSockets(
                path: configuration.socketPath, mode: configuration.socketMode, forget: notifications.forgetKeptSocket)
            // Before the database is opened, which would make one that is then not served.
            if received.sockets.isEmpty, let problem = settings.problemOfSocket() {
                throw StartError(problem, isOfConfiguration: settings.problemOfSocketPath != nil)
            }
            configuration.inheritedSockets = received.sockets
            // One that is kept is our own: it has the path that is configured, and was given the mode. Of several the first is shown.
            let socket = received.areKept ? nil : received.sockets.first.map { SocketInForce(path: $0.path) }
            for line in socket?.notApplied(settings) ?? [] { log.warning(.started, "configuration: \(line)") }
            configuration.leavesSocketFile = notifications.isWanted
            configuration.reports = notifications.reports
            let server = try TimeoutExtension.during(notifications) { () throws(StartError) in
                let server = try Server(configuration, log: log)
                prepare(server, socket)
                try server.start()
                return server
            }
            // A socket unit keeps its own, and what is kept already stays.
            if received.sockets.isEmpty { notifications.keep(server.listeningSockets) }
            return server
        } catch {
            notifications.cannotStart(error.description)
            throw error
        }
    }

    /// SQLite's temporary files, VACUUM's copy above all, lie beside the database: there is room for it, or it is known
    /// that there is none, and /tmp may be memory. "The folder named by environment variable SQLITE_TMPDIR" comes first
    /// (https://www.sqlite.org/tempfiles.html#temporary_file_storage_locations) and is read when SQLite starts.
    private static func placeTemporaryFiles(beside database: String) {
        if let chosen = getenv("SQLITE_TMPDIR"), chosen.pointee != 0 { return }
        // Where the file is, not where a symbolic link to it is; a file that is yet to be made has only a directory.
        let file = Directory.resolved(database) ?? database
        if let directory = Directory.resolved(Directory.of(file)) { setenv("SQLITE_TMPDIR", directory, 1) }
    }

    /// Each session takes a descriptor, and the usual soft limit is 1024. Returns the limit that there is now.
    private static func raiseDescriptorLimit() -> Int {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &limit) == 0 else { return .max }
        let before = limit.rlim_cur
        limit.rlim_cur = limit.rlim_max
        if setrlimit(resource, &limit) != 0 { limit.rlim_cur = before }
        return Int(clamping: limit.rlim_cur)
    }

    /// Returns the signal that asks it to stop.
    private static func serve(until signals: Signals, _ server: Server, _ log: Logger) -> Signals.Received {
        while true {
            let signal = signals.next()
            if signal.isToReload {
                _ = server.reload()
            } else if signal.isOfPgBouncer {
                log.notice(
                    .paused, "a signal that means nothing here: the console has PAUSE and RESUME",
                    metadata: ["signal": "\(signal.name)"])
            } else {
                return signal
            }
        }
    }
}
