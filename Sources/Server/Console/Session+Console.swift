import CLinux
import Glibc
import Pool
import PostgresWire
import Scheduling

/// The console: a session without a database behind it, which looks at the daemon and tells it what to do.
extension Session {
    /// The names one connects to. The second is what PgBouncer's users and their tools know.
    static let consoleNames: Set<String> = ["walpool", "pgbouncer"]

    /// The process at the other end, as it was when it connected.
    static func peer(of socket: Int32) -> walpool_peer? {
        var peer = walpool_peer()
        return walpool_peer_credentials(socket, &peer) == 0 ? peer : nil
    }

    /// A statement's text with what is known of it.
    func parsedQuery(_ sql: UnsafeRawBufferPointer) throws(WireError) -> Query {
        // SQLite's limit, looked at before anything else reads a text that may be as long as a message.
        let limit = server.configuration.connection.sqlLengthLimitBytes
        guard sql.count <= limit else {
            throw WireError(
                state: .programLimitExceeded, message: "statement too long",
                detail: "It has \(sql.count) bytes; sql_length_limit_bytes is \(limit).",
                hint: "Values that are parameters, or that come by COPY, are not part of its text.")
        }
        return try isConsole ? Query(console: sql) : server.registry.query(sql)
    }

    func run(_ statement: ConsoleStatement, _ invocation: Invocation) throws(WireError) -> Wait? {
        guard case .show(let topic) = statement else {
            try requireAdmin(for: statement.tag)
            return try command(statement)
        }
        let formats = invocation.formats ?? []
        if invocation.describes { ConsoleTable.describe(topic, formats: formats, to: out) }
        let table = server.consoleTable(topic, for: self)
        table.send(formats: formats, to: out)
        complete("SHOW")
        return nil
    }

    private func command(_ statement: ConsoleStatement) throws(WireError) -> Wait? {
        switch statement {
        case .backup(let name):
            return try runAside("BACKUP") { session throws(WireError) in try session.backUp(to: name) }
        case .checkpoint:
            return try runAside("CHECKPOINT") { session throws(WireError) in try session.awaitCheckpoint() }
        case .pause(let database):
            return try runAside("PAUSE") { session throws(WireError) in try session.pause(database) }
        case .reload:
            return try runAside("RELOAD") { session throws(WireError) in try session.reload() }
        case .kill(let client):
            return try kill(client)
        case .vacuum: requestMaintenance()
        case .resume(let database): try resumeAll(database)
        case .shutdown(let waits):
            // The reply goes out all the same: the stop ends this session only when this thread is done with it.
            try shutDown(whenClientsHaveLeft: waits)
        case .missing(let command): throw command.error
        case .set(let name): throw Self.settingOfDaemon(name)
        case .show: return nil
        }
        complete(statement.tag)
        return nil
    }

    private static func settingOfDaemon(_ name: String) -> WireError {
        WireError(
            state: .cantChangeRuntimeParam, message: "\"\(name)\" cannot be set here",
            hint: "The daemon's settings are those of its configuration file: change it there, then RELOAD. SHOW CONFIG lists "
                + "them.")
    }

    /// Runs a command on a thread of its own. The message is handled again when that has ended, and finds how.
    func runAside(_ tag: StaticString, _ body: @escaping ConsoleThread.Body) throws(WireError) -> Wait? {
        guard let outcome = consoleOutcome else {
            try ConsoleThread.start(self, body)
            return .parked
        }
        consoleOutcome = nil
        try outcome.get()
        complete(tag)
        return nil
    }

    /// News while a command runs. What the socket does not take now goes out with the reply.
    func tell(_ message: String, detail: String? = nil, hint: String? = nil) {
        out.notice(
            WireError(severity: .notice, state: .successfulCompletion, message: message, detail: detail, hint: hint))
        _ = flush()
    }
}
