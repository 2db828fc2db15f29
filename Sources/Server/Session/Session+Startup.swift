import PostgresWire

/// From the first byte to the first ReadyForQuery.
/// https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-START-UP
extension Session {
    /// Handles one startup packet; returns nil when it has been taken and the next may be looked at.
    func startUp(refused: [UInt8]) throws(WireError) -> Wait? {
        if isHTTPOnly { return beginHTTP() }
        switch FrameDecoder.nextStartup(in: input.bytes, at: state.inputPosition) {
        case .incomplete:
            return .input
        case .sslRequest(let next):
            try refuse(UInt8(ascii: "S"), refused, next)
        case .gssEncryptionRequest(let next):
            try refuse(UInt8(ascii: "G"), refused, next)
        case .cancel(let processID, let key, _):
            server.cancel(processID: processID, key: key)
            return .closed
        case .startup(let message, let next):
            state.inputPosition = next
            try begin(message)
        case .http:
            return beginHTTP()
        case .invalid(let error):
            throw error
        }
        return nil
    }

    /// Encryption is for networks; here is a Unix socket. Each kind may be asked for once: alternating requests
    /// without end were CVE-2026-6479.
    private func refuse(_ kind: UInt8, _ refused: [UInt8], _ next: Int) throws(WireError) {
        guard !refused.contains(kind) else {
            throw WireError(
                severity: .fatal, state: .protocolViolation, message: "encryption was already refused")
        }
        out.append(UInt8(ascii: "N"))
        state.inputPosition = next
        phase = .startup(refusedEncryption: refused + [kind])
    }

    private func begin(_ message: StartupMessage) throws(WireError) {
        guard let user = message.user else {
            throw WireError(
                severity: .fatal, state: .invalidAuthorizationSpecification,
                message: "no PostgreSQL user name specified in startup packet")
        }
        userName = user
        try authorize()
        try admit(database: message.database ?? user, replication: message["replication"])
        try takeSettings(message)
        if message.needsNegotiation {
            out.negotiateProtocolVersion(
                newestMinor: Int32(message.effectiveMinor), unsupported: message.unsupportedProtocolOptions)
        }
        // "minimum 4 bytes, maximum 256" from 3.2 on, and exactly 4 before:
        // https://www.postgresql.org/docs/current/protocol-message-formats.html (BackendKeyData)
        let keyLength = message.effectiveMinor >= 2 ? 32 : 4
        cancelKeyLength.store(keyLength, ordering: .sequentiallyConsistent)
        try requireService()
        lookAtSchema()
        out.authenticationOk()
        for (name, value) in statusAtStart { out.parameterStatus(name, value) }
        out.backendKeyData(processID: processID, key: Array(cancelKey[..<keyLength]))
        out.readyForQuery(.idle)
        marks.awaited = out.end
        phase = .ready
        disarmDeadline()
        noteConnected()
        // A drain has counted it among the clients until now.
        if isConsole { server.sessionEnded() }
    }

    /// Another process may have changed it while nobody ran anything here: who comes afterwards is told of the new tables.
    private func lookAtSchema() {
        guard !isConsole, let next = pool.lookAtSchema(clientID) else { return }
        enqueue(next)
    }

    private func admit(database: String, replication: String?) throws(WireError) {
        if let replication, !["false", "off", "no", "0"].contains(replication) {
            throw WireError(
                severity: .fatal, state: .featureNotSupported, message: "replication connections are not supported")
        }
        if Self.consoleNames.contains(database) {
            isConsole = true
            countAsLooking()
            // Whatever max_sessions says: an admin who comes to see why there are so many must get in.
            if role != .admin { try requireRoom() }
        } else {
            try admit(toDatabase: database)
        }
    }

    /// It is told so instead of being let in and ended at once. A drain looks for those who have started after it has said that it stops.
    private func requireService() throws(WireError) {
        guard server.isAboutToStop else { return }
        // It has not started after all.
        cancelKeyLength.store(0, ordering: .releasing)
        throw WireError(severity: .fatal, state: .cannotConnectNow, message: "the database system is shutting down")
    }

    private func admit(toDatabase database: String) throws(WireError) {
        guard database == server.configuration.databaseName else {
            var error = WireError.noDatabase(database, served: server.configuration.databaseName)
            error.severity = .fatal
            throw error
        }
        try requireRoom()
    }

    private func requireRoom() throws(WireError) {
        let maximum = server.current { $0.maximumSessions }
        // This one is among them. Those that have not started are nobody's yet.
        guard server.sessionCounts.withLock({ $0.sessions }) <= maximum else { throw Self.tooManySessions(maximum) }
    }

    static func tooManySessions(_ maximum: Int) -> WireError {
        WireError(
            severity: .fatal, state: .tooManyConnections, message: "sorry, too many clients already",
            hint: "max_sessions is \(maximum).")
    }

    private func takeSettings(_ message: StartupMessage) throws(WireError) {
        for (name, value) in try message.optionSettings() { try takeSetting(name, value) }
        for (name, value) in message.parameters
        where !["user", "database", "options", "replication"].contains(name) && !name.hasPrefix("_pq_.") {
            try takeSetting(name, value)
        }
        try RefusedTools.check(applicationName: defaults.applicationName)
        state.settings = defaults
    }

    private func takeSetting(_ name: String, _ value: String) throws(WireError) {
        do {
            if try isOfUser(name.lowercased(), [value]) { return }
            try defaults.set(name, [value])
            try access.limits.check(defaults)
        } catch {
            var fatal = error
            fatal.severity = .fatal
            throw fatal
        }
    }

    private var statusAtStart: [(String, String)] {
        [
            ("server_version", ServerVersion.announced), ("server_encoding", "UTF8"),
            ("client_encoding", state.settings.clientEncoding), ("DateStyle", state.settings.dateStyle),
            ("IntervalStyle", state.settings.intervalStyle), ("TimeZone", state.settings.timeZone),
            ("integer_datetimes", "on"), ("standard_conforming_strings", "on"),
            ("application_name", state.settings.applicationName), ("session_authorization", userName),
            ("is_superuser", state.settings.isSuperuser ? "on" : "off"),
            ("in_hot_standby", state.settings.isOfReader ? "on" : "off"),
            ("default_transaction_read_only", state.settings.defaultReadOnly ? "on" : "off"),
        ]
    }

    /// Compared in constant time, so that its bytes cannot be guessed one by one.
    func hasCancelKey(_ key: [UInt8]) -> Bool {
        guard !key.isEmpty, key.count == cancelKeyLength.load(ordering: .acquiring) else { return false }
        var difference: UInt8 = 0
        for index in key.indices { difference |= key[index] ^ cancelKey[index] }
        return difference == 0
    }
}
