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

    /// Accepted for the drivers' sake. The values are PostgreSQL's defaults.
    private static let inert: [String: String] = [
        "client_min_messages": "notice", "bytea_output": "hex", "default_transaction_deferrable": "off",
        "standard_conforming_strings": "on", "synchronize_seqscans": "on", "row_security": "on",
        "xmloption": "content", "lc_messages": "C", "lc_monetary": "C", "lc_numeric": "C", "lc_time": "C",
        "check_function_bodies": "on", "default_tablespace": "", "default_table_access_method": "heap",
        "idle_session_timeout": "0", "escape_string_warning": "on", "jit": "off", "geqo": "on", "work_mem": "4MB",
        "default_text_search_config": "pg_catalog.simple", "role": "none", "session_authorization": "default",
        "password_encryption": "scram-sha-256", "tcp_keepalives_idle": "0", "log_statement": "none",
        "session_replication_role": "origin", "quote_all_identifiers": "off",
        "plan_cache_mode": "auto", "enable_seqscan": "on", "constraint_exclusion": "partition",
    ]

    /// Settings nobody can change, and what they say.
    private static let constant: [String: String] = [
        "server_version": ServerVersion.announced, "server_version_num": ServerVersion.number,
        "server_encoding": "UTF8", "integer_datetimes": "on", "max_identifier_length": "63",
        "is_superuser": "off", "in_hot_standby": "off", "block_size": "8192", "lc_collate": "C", "lc_ctype": "C",
        "max_index_keys": "32", "data_checksums": "off",
    ]

    /// Names that go to the client as ParameterStatus when they change.
    static let reported = ["application_name", "client_encoding", "DateStyle", "IntervalStyle", "TimeZone",
        "standard_conforming_strings", "default_transaction_read_only"]
}

// MARK: Reading and writing by name

extension Settings {
    func value(_ name: String) -> String? {
        switch name.lowercased() {
        case "statement_timeout": Self.shown(statementTimeoutMilliseconds)
        case "lock_timeout": Self.shown(lockTimeoutMilliseconds)
        case "idle_in_transaction_session_timeout": Self.shown(idleInTransactionTimeoutMilliseconds)
        case "transaction_timeout": Self.shown(transactionTimeoutMilliseconds)
        case "client_write_timeout": Self.shown(clientWriteTimeoutMilliseconds)
        case "queue_notice": Self.shown(queueNoticeMilliseconds)
        case "default_transaction_isolation": defaultIsolation.name
        case "default_transaction_read_only": defaultReadOnly ? "on" : "off"
        case "result_typing": typing.results.rawValue
        case "untyped_parameters": typing.untypedParameters.rawValue
        case "application_name": applicationName
        case "is_superuser": isSuperuser ? "on" : "off"
        case "in_hot_standby": isOfReader ? "on" : "off"
        case "client_encoding": clientEncoding
        case "datestyle": dateStyle
        case "timezone": timeZone
        case "intervalstyle": intervalStyle
        case "extra_float_digits": extraFloatDigits
        case "search_path": searchPath
        case let other: others[other] ?? Self.constant[other] ?? Self.inert[other]
        }
    }

    var names: [String] {
        ["application_name", "client_encoding", "client_write_timeout", "DateStyle", "default_transaction_isolation",
            "default_transaction_read_only", "extra_float_digits", "idle_in_transaction_session_timeout",
            "IntervalStyle", "lock_timeout", "queue_notice", "result_typing", "search_path", "statement_timeout", "TimeZone",
            "transaction_timeout", "untyped_parameters"]
            + Set(others.keys).union(Self.inert.keys).union(Self.constant.keys).sorted()
    }

    /// Sets one; `values` are the words after TO or `=`.
    mutating func set(_ name: String, _ values: [String]) throws(WireError) {
        let value = values.joined(separator: ", ")
        guard value.utf8.count <= SessionLimits.settingBytes else {
            throw WireError(state: .programLimitExceeded, message: "the value of parameter \"\(name)\" is too long")
        }
        switch name.lowercased() {
        case "statement_timeout": statementTimeoutMilliseconds = try Self.milliseconds(name, value)
        case "lock_timeout": lockTimeoutMilliseconds = try Self.milliseconds(name, value)
        case "idle_in_transaction_session_timeout":
            idleInTransactionTimeoutMilliseconds = try Self.milliseconds(name, value)
        case "transaction_timeout": transactionTimeoutMilliseconds = try Self.milliseconds(name, value)
        case "client_write_timeout": clientWriteTimeoutMilliseconds = try Self.milliseconds(name, value)
        case "queue_notice": queueNoticeMilliseconds = try Self.milliseconds(name, value)
        case "default_transaction_isolation":
            guard let level = IsolationLevel(name: value) else { throw Self.invalid(name, value) }
            defaultIsolation = level
        case "default_transaction_read_only": defaultReadOnly = try Self.boolean(name, value)
        case "result_typing":
            guard let results = Typing.Results(rawValue: value.lowercased()) else { throw Self.invalid(name, value) }
            typing.results = results
        case "untyped_parameters":
            guard let untyped = Typing.UntypedParameters(rawValue: value.lowercased()) else {
                throw Self.invalid(name, value)
            }
            typing.untypedParameters = untyped
        case "application_name": applicationName = String(value.prefix(63))
        case "client_encoding":
            let canonical = value.uppercased().filter { $0.isLetter || $0.isNumber }
            guard ["UTF8", "UNICODE", "SQLASCII", "AUTO"].contains(canonical) else {
                throw WireError(
                    state: .invalidParameterValue, message: "client_encoding \"\(value)\" is not supported",
                    hint: "The database and the wire are UTF8.")
            }
            clientEncoding = canonical == "SQLASCII" ? "SQL_ASCII" : "UTF8"
        case "datestyle":
            guard value.uppercased().hasPrefix("ISO") else { throw Self.invalid(name, value) }
            dateStyle = "ISO, MDY"
        case "timezone": timeZone = value
        case "intervalstyle": intervalStyle = value
        case "extra_float_digits": extraFloatDigits = value
        case "search_path": searchPath = value
        case "standard_conforming_strings":
            guard try Self.boolean(name, value) else { throw Self.invalid(name, value) }
        case let other where other.contains(".") || Self.inert[other] != nil:
            try Self.requireNoEffect(other, value)
            guard others.count < SessionLimits.customSettings || others[other] != nil else {
                throw WireError(state: .programLimitExceeded, message: "too many settings in this session")
            }
            guard other.utf8.count <= SessionLimits.nameBytes else {
                throw WireError(state: .programLimitExceeded, message: "the name of a parameter is too long")
            }
            others[other] = value
        case let other where Self.constant[other] != nil:
            throw WireError(state: .cantChangeRuntimeParam, message: "parameter \"\(other)\" cannot be changed")
        default:
            throw Self.unknown(name)
        }
    }

    /// Of the inert ones, those that somebody who sets them relies on.
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
        guard let value = defaults.value(key) else { throw Self.unknown(name) }
        if Self.constant[key] != nil || Self.inert[key] != nil { return }
        try set(key, [value])
    }

    static func unknown(_ name: String) -> WireError {
        WireError(
            state: .undefinedObject, message: "unrecognized configuration parameter \"\(name)\"",
            hint: name.lowercased() == "synchronous_commit" ? "synchronous of walpoold's configuration is for all sessions." : nil)
    }

    private static func invalid(_ name: String, _ value: String) -> WireError {
        WireError(
            state: .invalidParameterValue, message: "invalid value for parameter \"\(name)\": \"\(value)\"")
    }

    private static func noTime(_ name: String, _ value: String) -> WireError {
        var error = invalid(name, value)
        error.hint = "Valid units for this parameter are \"us\", \"ms\", \"s\", \"min\", \"h\", and \"d\"."
        return error
    }

    static func boolean(_ name: String, _ value: String) throws(WireError) -> Bool {
        switch value.lowercased() {
        case "on", "true", "yes", "1", "t", "y": return true
        case "off", "false", "no", "0", "f", "n": return false
        default: throw invalid(name, value)
        }
    }

    /// A time as PostgreSQL takes it: a number of milliseconds, or one with us, ms, s, min, h or d.
    static func milliseconds(
        _ name: String, _ value: String, upTo longest: Int64 = Int64(Int32.max)
    ) throws(WireError) -> Int64 {
        let text = value.filter { $0 != " " }
        let digits = text.prefix { $0.isNumber || $0 == "." || $0 == "-" }
        guard let number = Double(digits), number.isFinite else { throw noTime(name, value) }
        let factor: Double
        switch text.dropFirst(digits.count).lowercased() {
        case "", "ms": factor = 1
        case "us": factor = 0.001
        case "s": factor = 1000
        case "min": factor = 60_000
        case "h": factor = 3_600_000
        case "d": factor = 86_400_000
        default: throw noTime(name, value)
        }
        let milliseconds = (number * factor).rounded()
        guard milliseconds >= 0, milliseconds <= Double(longest) else {
            throw WireError(
                state: .invalidParameterValue,
                message: "\(value) is outside the valid range for parameter \"\(name)\" (0 ms .. \(longest) ms)")
        }
        return Int64(milliseconds)
    }

    /// A time as SHOW gives it: in the largest unit that divides it.
    static func shown(_ milliseconds: Int64) -> String {
        if milliseconds == 0 { return "0" }
        for (factor, unit) in [(86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s")] as [(Int64, String)]
        where milliseconds % factor == 0 { return "\(milliseconds / factor)\(unit)" }
        return "\(milliseconds)ms"
    }
}

extension IsolationLevel {
    var name: String {
        switch self {
        case .readUncommitted: "read uncommitted"
        case .readCommitted: "read committed"
        case .repeatableRead: "repeatable read"
        case .serializable: "serializable"
        }
    }

    init?(name: String) {
        switch name.lowercased() {
        case "read uncommitted": self = .readUncommitted
        case "read committed": self = .readCommitted
        case "repeatable read": self = .repeatableRead
        case "serializable": self = .serializable
        default: return nil
        }
    }
}
