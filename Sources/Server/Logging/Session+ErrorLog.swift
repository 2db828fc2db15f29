import Journal
import Logging
import Pool
import PostgresWire

/// Errors and ends of sessions, in the log.
extension Session {
    /// A client is told of an error. Called before the message it is about has been passed over.
    func noteError(_ error: WireError) {
        measureFailed(error.state)
        let code = error.state.code
        let configuration = eventLog.configuration
        guard let (kind, level) = Self.importance(of: error, code, configuration.clientErrors),
            eventLog.log.logLevel <= level, admitsLine(kind)
        else { return }
        let statement = statementAtHand
        var metadata = identity
        metadata["sqlstate"] = "\(code)"
        let shown = Self.shownMessage(
            of: error, code, showsParameters: configuration.parameters, isAboutText: state.query != nil && !isCopyingIn)
        metadata["error"] = "\(shown)"
        // Which message it was, and how long.
        if kind == .sessionEvicted, error.state == .protocolViolation, let detail = error.detail { metadata["detail"] = "\(detail)" }
        // Of one that was idle: what it ran last, if that was on the writer.
        if let text = statement?.text ?? server.holderStatementText(clientID) { metadata["sql"] = "\(text)" }
        if let parameters = loggedParameters(of: statement?.portal) { metadata["parameters"] = "\(parameters)" }
        if let rule = access.refusedBy { metadata["rule"] = "\(rule)" }
        let message: Logger.Message =
            switch kind {
            case .accessDenied: "not let in"
            case .sessionEvicted: "a session was ended"
            default: error.severity == .fatal ? "a session ended with an error" : "a statement failed"
            }
        eventLog.log.log(level: level, kind, message, metadata: metadata)
    }

    private static func importance(
        of error: WireError, _ code: String, _ wanted: LogConfiguration.ClientErrors
    ) -> (EventKind, Logger.Level)? {
        // Invalid authorization: https://www.postgresql.org/docs/current/errcodes-appendix.html
        if code.hasPrefix("28") { return (.accessDenied, .warning) }
        if error.state == .idleInTransactionSessionTimeout || code == "25P04", error.severity == .fatal {
            return (.sessionEvicted, .notice)
        }
        // A message may be too large, and libpq says no more than that the server has closed the connection. Of a kind whose lines are
        // counted apart from errors of the daemon's side.
        if error.severity == .fatal, error.state == .protocolViolation { return (.sessionEvicted, .notice) }
        // All sessions are told that the daemon stops, which has its own line.
        guard wanted != .none, error.state != .adminShutdown else { return nil }
        if code.hasPrefix("XX") || code.hasPrefix("58") || error.state == .transactionResolutionUnknown {
            return (.clientError, .error)
        }
        if code.hasPrefix("53") { return (.clientError, .warning) }
        return wanted == .all ? (.clientError, .info) : nil
    }

    /// A message about a value ("invalid input syntax for type integer: …") quotes it, and it may be a parameter's, or a row's that COPY
    /// brought. Where in SQLite's own messages it stands nobody knows.
    ///
    /// - Parameter isAboutText: the statement's values are all in its text, which is logged in any case.
    private static func shownMessage(of error: WireError, _ code: String, showsParameters: Bool, isAboutText: Bool) -> String {
        guard !showsParameters else { return error.message }
        if error.mayQuoteParameters { return notLogged }
        guard !isAboutText, code.hasPrefix("22"), let quote = error.message.firstIndex(of: "\"") else { return error.message }
        return error.message[..<quote] + notLogged
    }

    private static let notLogged = "(not logged: log_parameters is off)"

    // MARK: Coming and going

    func noteConnected() {
        let level: Logger.Level = eventLog.configuration.connections ? .info : .debug
        guard eventLog.log.logLevel <= level, admitsLine(.connected) else { return }
        eventLog.log.log(
            level: level, .connected, "connected",
            metadata: identity.merging(["database": isConsole ? "\(Server.consoleName)" : "\(server.configuration.databaseName)"]) { $1 })
    }

    /// Only of those that were let in; the others were noted as refused.
    func noteDisconnected() {
        guard introduction != nil else { return }
        let level: Logger.Level = eventLog.configuration.disconnections ? .info : .debug
        guard eventLog.log.logLevel <= level, admitsLine(.disconnected) else { return }
        var metadata = identity
        metadata["duration"] = .stringConvertible(
            LoggedDuration(nanoseconds: MonotonicClock.now.nanoseconds - connected.nanoseconds))
        eventLog.log.log(level: level, .disconnected, "disconnected", metadata: metadata)
    }

    /// It was ended because its client does not take what it asked for.
    func noteUnreadReply() {
        guard admitsLine(.sessionEvicted) else { return }
        eventLog.log.notice(
            .sessionEvicted, "a session was ended: its client did not take its reply", metadata: identity)
    }

    /// Drivers ask PostgreSQL's catalogs unprompted. A person who wonders what does not work finds it here.
    func noteCatalogQuery(_ sql: UnsafeRawBufferPointer) {
        guard admitsLine(.catalogQuery) else { return }
        eventLog.log.info(
            .catalogQuery, "catalog query",
            metadata: identity.merging(["sql": "\(StatementAtHand(sql: sql).text)"]) { $1 })
    }
}
