import PostgresWire

/// The settings of a session: those PostgreSQL's clients set, and a few of our own.
///
/// A value, so that ROLLBACK and a group that is run again restore them by assignment.
struct Settings: Equatable, Sendable {
    /// Milliseconds; 0 is no limit. The names are PostgreSQL's:
    /// https://www.postgresql.org/docs/current/runtime-config-client.html
    var statementTimeoutMilliseconds: Int64 = 0
    var lockTimeoutMilliseconds: Int64 = 0
    var idleInTransactionTimeoutMilliseconds: Int64 = 0
    var transactionTimeoutMilliseconds: Int64 = 0
    var clientWriteTimeoutMilliseconds: Int64 = 60_000
    /// A client that waits for the writer this long is told so.
    var queueNoticeMilliseconds: Int64 = 5_000
    var defaultIsolation = IsolationLevel.readCommitted
    var defaultReadOnly = false
    var typing = Typing()
    var likeEscape = LikePatterns.Escape.none
    /// Of an admin's session.
    var isSuperuser = false
    /// Of a session that may not write, which PostgreSQL's clients know from servers in recovery.
    var isOfReader = false
    var applicationName = ""
    var clientEncoding = "UTF8"
    var dateStyle = "ISO, MDY"
    var timeZone = "UTC"
    var intervalStyle = "postgres"
    var extraFloatDigits = "1"
    /// The schema is main: Doctrine takes the first of these that exists for the one whose tables it names without it.
    var searchPath = "\"$user\", main"
    /// Settings that are accepted and shown and mean nothing here, and names with a dot, which are the clients' own.
    var others: [String: String] = [:]

    /// Those that may be of any length.
    var texts: [String] { [applicationName, clientEncoding, dateStyle, timeZone, intervalStyle, extraFloatDigits, searchPath] }

    /// Names that go to the client as ParameterStatus when they change.
    static let reported = [
        "application_name", "client_encoding", "DateStyle", "IntervalStyle", "TimeZone",
        "standard_conforming_strings", "default_transaction_read_only",
    ]
}

// MARK: Reading and writing by name

extension Settings {
    func value(_ name: String) -> String? {
        let key = name.lowercased()
        return switch Setting.named[key] {
        case .effective(let show, _), .constant(let show): show(self)
        case .alwaysOn: "on"
        case .inert(let value): others[key] ?? value
        case nil: others[key]
        }
    }

    /// In the order of SHOW ALL.
    var names: [String] { Setting.effectiveNames + Set(others.keys).union(Setting.otherNames).sorted() }

    /// Sets one; `values` are the words after TO or `=`.
    mutating func set(_ name: String, _ values: [String]) throws(WireError) {
        let value = values.joined(separator: ", ")
        guard value.utf8.count <= SessionLimits.settingBytes else {
            throw WireError(state: .programLimitExceeded, message: "the value of parameter \"\(name)\" is too long")
        }
        let key = name.lowercased()
        switch Setting.named[key] {
        case .effective(_, let assign): try assign(&self, name, value)
        case .alwaysOn: guard try Self.boolean(name, value) else { throw Self.invalid(name, value) }
        case .constant: throw WireError(state: .cantChangeRuntimeParam, message: "parameter \"\(key)\" cannot be changed")
        case .inert:
            try Self.requireNoEffect(key, value)
            try keep(value, as: key)
        case nil where key.contains("."): try keep(value, as: key)
        case nil: throw Self.unknown(name)
        }
    }

    /// One that means nothing here.
    private mutating func keep(_ value: String, as key: String) throws(WireError) {
        guard others.count < SessionLimits.customSettings || others[key] != nil else {
            throw WireError(state: .programLimitExceeded, message: "too many settings in this session")
        }
        guard key.utf8.count <= SessionLimits.nameBytes else {
            throw WireError(state: .programLimitExceeded, message: "the name of a parameter is too long")
        }
        others[key] = value
    }

    /// Of the inert ones, those that a client which sets them relies on.
    private static func requireNoEffect(_ name: String, _ value: String) throws(WireError) {
        if name == "idle_session_timeout" {
            guard try milliseconds(name, value) != 0 else { return }
            throw WireError(
                state: .featureNotSupported, message: "idle_session_timeout is not available",
                hint: "A session that is idle outside a transaction keeps nobody waiting. idle_in_transaction_session_timeout ends those "
                    + "inside one.")
        }
        // "local" is for triggers what "origin" is.
        guard name == "session_replication_role", !["origin", "local"].contains(value.lowercased()) else { return }
        throw WireError(
            state: .featureNotSupported, message: "session_replication_role \"\(value)\" is not available",
            hint: "Triggers always fire, and foreign keys always hold where foreign_keys of walpoold's configuration is true.")
    }

    mutating func reset(_ name: String, from defaults: Settings) throws(WireError) {
        let key = name.lowercased()
        if others[key] != nil || defaults.others[key] != nil {
            others[key] = defaults.others[key]
            return
        }
        guard let setting = Setting.named[key] else { throw Self.unknown(name) }
        if case .effective(let show, let assign) = setting { try assign(&self, key, show(defaults)) }
    }

    static func unknown(_ name: String) -> WireError {
        WireError(
            state: .undefinedObject, message: "unrecognized configuration parameter \"\(name)\"",
            hint: name.lowercased() == "synchronous_commit" ? "synchronous of walpoold's configuration is for all sessions." : nil)
    }
}
