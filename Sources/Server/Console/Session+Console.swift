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
        isConsole ? try Query(console: sql) : try server.registry.query(sql)
    }

    func run(_ statement: ConsoleStatement, _ invocation: Invocation) throws -> Wait? {
        if case .show = statement {} else { try requireAdmin(for: "a command of the console") }
        switch statement {
        case .show(let topic):
            let formats = invocation.formats ?? []
            if invocation.describes { ConsoleTable.describe(topic, formats: formats, to: out) }
            let table = server.consoleTable(topic)
            table.send(formats: formats, to: out)
            complete("SHOW")
            return nil
        case .backup(let name):
            return try runAside("BACKUP") { session throws(WireError) in try session.backUp(to: name) }
        case .checkpoint:
            return try runAside("CHECKPOINT") { session throws(WireError) in try session.awaitCheckpoint() }
        case .vacuum:
            requestMaintenance()
            complete("VACUUM")
            return nil
        }
    }

    /// Runs a command on a thread of its own. The message is handled again when that has ended, and finds how.
    private func runAside(_ tag: StaticString, _ body: @escaping ConsoleThread.Body) throws(WireError) -> Wait? {
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
