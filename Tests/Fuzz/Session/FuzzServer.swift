import Glibc
import Logging

@testable import Pool
@testable import SQLite
@testable import Scheduling
@testable import Server

/// A whole server without a thread of its own: the caller is its crew of one.
///
/// Listener, epoll, timer, sessions, pool and SQLite are the daemon's, on a file in memory (/dev/shm): an SQLite database
/// named ":memory:" is private to one connection and has no WAL, so there could be neither readers nor leases. What is
/// replaced is only who waits for the next event, so that an input does the same on each run.
final class FuzzServer {
    let server: Server
    let worker: Worker
    private var now = MonotonicClock.now
    private let directory: String
    var socketPath: String { directory + "/s" }
    var databasePath: String { directory + "/app.db" }

    init(directory: String, choice: UInt8) {
        self.directory = directory
        var configuration = ServerConfiguration(
            databasePath: directory + "/app.db", databaseName: "app", socketPath: directory + "/s")
        Self.adjust(&configuration, choice)
        configuration.backupDirectory = directory
        do {
            server = try Server(configuration, log: Logger(label: "fuzz") { _ in StrictLog() })
            try server.addEvents()
        } catch {
            fatalError("the server does not start: \(error)")
        }
        worker = Worker(server: server)
        require(server.crew.joinOrStandBy(), "the crew takes its first thread")
    }

    /// Limits so small that an input can meet them.
    private static func adjust(_ configuration: inout ServerConfiguration, _ choice: UInt8) {
        configuration.maximumSessions = 5
        configuration.rememberedTexts = choice & 4 == 0 ? 2048 : 4
        configuration.shutdownTimeoutMilliseconds = 0
        configuration.connection.lengthLimitBytes = 1 << 15
        configuration.connection.sqlLengthLimitBytes = 1 << 16
        configuration.pool.readers = choice & 8 == 0 ? 3 : 1
        configuration.pool.groupMembers = 2
        configuration.pool.statementsPerConnection = choice & 4 == 0 ? 256 : 2
        configuration.pool.durability = [.full, .pipelined, .normal, .full][Int(choice & 3)]
        configuration.pool.checkpointFrames = choice & 16 == 0 ? 4_000 : 4
        configuration.pool.walLimitBytes = choice & 16 == 0 ? 64 << 20 : 128 << 10
        configuration.pool.truncateMilliseconds = 5
        configuration.pool.gateMilliseconds = 5
        configuration.pool.gateGraceMilliseconds = 20
        do { try configuration.setDefault("statement_timeout", "100ms") } catch { fatalError("\(error)") }
    }

    /// Handles one event, if there is one.
    func handleEvent() -> Bool {
        if let pending = worker.takePending() {
            require(worker.handle(pending, &now), "nobody has stopped the crew")
            return true
        }
        var waiting = pollfd(fd: server.poller.descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, 0) == 1 else { return false }
        var word: UInt64 = 0
        let count = withUnsafeMutablePointer(to: &word) { word in
            server.poller.waitForEvents(
                UnsafeMutableBufferPointer(start: word, count: 1), until: MonotonicClock.now.advanced(byMilliseconds: 1000))
        }
        guard count == 1 else { return false }
        require(worker.handle(Poller.Event(word: word), &now), "nobody has stopped the crew")
        return true
    }

    func timePasses(milliseconds: Int64) {
        server.lookAtDeadlines(worker, now: MonotonicClock.now.advanced(byMilliseconds: milliseconds))
        worker.runResumptions()
        worker.sendReplies()
    }

    /// Whether this session waits in a queue of the pool, for something that somebody has.
    func isQueued(_ processID: Int32) -> Bool {
        // PAUSE waits for transactions to end, and those that had not begun for RESUME.
        if server.pool.isPausingNow { return true }
        let view = server.pool.view
        let id = Int(processID)
        if view.writerQueue.contains(where: { $0.client == id }) {
            require(view.holder != .nobody, "nobody waits for a writer that is free")
            return true
        }
        if view.readerQueue.contains(where: { $0.client == id }) {
            require(view.readersInUse == view.readersLimit, "nobody waits for a reader that is free")
            return true
        }
        return false
    }

    /// What RESUME does.
    func endPause() {
        for resumption in server.pool.endPause() ?? [] { server.ready.enqueue(resumption) }
    }

    /// SHUTDOWN WAIT_FOR_CLIENTS lets nobody in any more.
    var isDraining: Bool { server.stopping.hasStoppedAccepting.load(ordering: .relaxed) }

    /// Nothing is left of sessions that have ended.
    func checkNothingIsHeld() {
        let view = server.pool.view
        require(view.holder == .nobody, "nobody has the writer: \(view.holder)")
        require(view.writerQueue.isEmpty && view.readerQueue.isEmpty, "nobody waits")
        require(view.readersInUse == 0, "nobody has a reader")
        require(server.pool.writer.connection.isAutocommit, "no transaction is open on the writer")
    }

    /// Stops, and checks the file.
    func stop() {
        server.stop()
        require(server.table.count == 0, "nothing runs on after a stop")
        do {
            let connection = try Connection(path: databasePath, mode: .readOnly, settings: ConnectionSettings())
            let finding = try connection.firstText("PRAGMA integrity_check") ?? ""
            require(finding == "ok", "the database is whole: \(finding)")
        } catch {
            require(false, "the database can be opened: \(error)")
        }
    }
}

/// What the server reports as an error is one: the file, the disk and the memory here are in order.
private struct StrictLog: LogHandler {
    var logLevel = Logger.Level.warning
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        // That a backup ended without a copy is an error to its owner, and a client may have wanted it so.
        let state = event.metadata?["sqlstate"]?.description
        let isExpected =
            event.level < .error || event.message.description.hasPrefix("backup") || state == "58P02"
        require(isExpected, "the server reports no error: \(event.message) \(event.metadata ?? [:])")
    }
}

extension Worker {
    /// What the thread has in hand comes next, and replies leave when there is nothing, as in `Worker.main`.
    fileprivate func takePending() -> Poller.Event? {
        if let event = batch.take() { return event }
        sendReplies()
        handOverIfAny()
        return batch.take()
    }
}
