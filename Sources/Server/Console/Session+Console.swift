import PostgresWire

/// The console: a session without a database behind it, which looks at the daemon and tells it what to do.
extension Session {
    /// The names one connects to. The second is what PgBouncer's users and their tools know.
    static let consoleNames: Set<String> = ["walpool", "pgbouncer"]

    func run(_ statement: ConsoleStatement, _ invocation: Invocation) throws(WireError) -> Wait? {
        guard case .show(let topic) = statement else {
            try requireAdmin(for: statement.tag)
            return try command(statement)
        }
        let formats = invocation.formats ?? []
        if invocation.describes { ConsoleTable.describe(topic, formats: formats, to: out) }
        let table = server.consoleTable(topic, for: self)
        table.send(formats: formats, to: out)
        // With a thousand sessions some have as many lines.
        turn.addLongStep()
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
