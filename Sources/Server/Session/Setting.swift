import PostgresWire

/// What SET and SHOW do with a name.
enum Setting: Sendable {
    /// It means something here.
    case effective(show: Show, assign: Assign)
    /// A switch that cannot be turned off; to turn it on does nothing.
    case alwaysOn
    /// Nobody can change it.
    case constant(Show)
    /// Accepted for the drivers' sake, and shown as it was set. The value is PostgreSQL's default.
    case inert(String)

    typealias Show = @Sendable (Settings) -> String
    /// The name is as the client wrote it, for errors.
    typealias Assign = @Sendable (inout Settings, _ name: String, _ value: String) throws(WireError) -> Void
}

// MARK: All there are. Names with a dot are the clients' own.

extension Setting {
    /// By name in small letters.
    static let named: [String: Setting] = {
        var all: [String: Setting] = ["standard_conforming_strings": .alwaysOn]
        for (name, setting) in effective { all[name.lowercased()] = setting }
        for (name, value) in inert { all[name] = .inert(value) }
        for (name, value) in constants { all[name] = .constant { _ in value } }
        all["is_superuser"] = .constant { $0.isSuperuser ? "on" : "off" }
        all["in_hot_standby"] = .constant { $0.isOfReader ? "on" : "off" }
        return all
    }()

    /// As PostgreSQL spells them, in the order of SHOW ALL.
    static let effectiveNames = effective.map(\.name)
    /// A client that asked for `timezone` reads the column TimeZone.
    static func spelled(_ name: String) -> String { effectiveNames.first { $0.lowercased() == name.lowercased() } ?? name }
    static let otherNames = Swift.Set(named.keys).subtracting(effectiveNames.map { $0.lowercased() })

    private static let effective: [(name: String, setting: Setting)] = [
        (
            "application_name",
            .effective(
                show: { $0.applicationName },
                assign: { $0.applicationName = String($2.unicodeScalars.prefix(SessionLimits.applicationNameScalars)) })
        ),
        ("client_encoding", .effective(show: { $0.clientEncoding }, assign: setClientEncoding)),
        ("client_write_timeout", time(\.clientWriteTimeoutMilliseconds)),
        ("DateStyle", .effective(show: { $0.dateStyle }, assign: setDateStyle)),
        ("default_transaction_isolation", .effective(show: { $0.defaultIsolation.name }, assign: setDefaultIsolation)),
        ("default_transaction_read_only", .effective(show: { $0.defaultReadOnly ? "on" : "off" }, assign: setDefaultReadOnly)),
        ("extra_float_digits", text(\.extraFloatDigits)),
        ("idle_in_transaction_session_timeout", time(\.idleInTransactionTimeoutMilliseconds)),
        ("IntervalStyle", text(\.intervalStyle)),
        ("like_escape", word(\.likeEscape)),
        ("lock_timeout", time(\.lockTimeoutMilliseconds)),
        ("queue_notice", time(\.queueNoticeMilliseconds)),
        ("result_typing", word(\.typing.results)),
        ("search_path", text(\.searchPath)),
        ("statement_timeout", time(\.statementTimeoutMilliseconds)),
        ("TimeZone", .effective(show: { $0.timeZone }, assign: { $0.timeZone = canonicalTimeZone($2) })),
        ("transaction_timeout", time(\.transactionTimeoutMilliseconds)),
        ("untyped_parameters", word(\.typing.untypedParameters)),
    ]

    private static let inert: [String: String] = [
        "client_min_messages": "notice", "bytea_output": "hex", "default_transaction_deferrable": "off",
        "transaction_deferrable": "off",
        "synchronize_seqscans": "on", "row_security": "on",
        "xmloption": "content", "lc_messages": "C", "lc_monetary": "C", "lc_numeric": "C", "lc_time": "C",
        "check_function_bodies": "on", "default_tablespace": "", "default_table_access_method": "heap",
        "idle_session_timeout": "0", "escape_string_warning": "on", "jit": "off", "geqo": "on", "work_mem": "4MB",
        "default_text_search_config": "pg_catalog.simple", "role": "none", "session_authorization": "default",
        "password_encryption": "scram-sha-256", "tcp_keepalives_idle": "0", "log_statement": "none",
        "session_replication_role": "origin", "quote_all_identifiers": "off",
        "plan_cache_mode": "auto", "enable_seqscan": "on", "constraint_exclusion": "partition",
    ]

    private static let constants: [String: String] = [
        "server_version": ServerVersion.announced, "server_version_num": ServerVersion.number,
        "server_encoding": "UTF8", "integer_datetimes": "on", "max_identifier_length": "63",
        "block_size": "8192", "lc_collate": "C", "lc_ctype": "C", "max_index_keys": "32", "data_checksums": "off",
    ]
}

// MARK: Kinds of values

extension Setting {
    private static func time(_ path: any WritableKeyPath<Settings, Int64> & Sendable) -> Setting {
        .effective(show: { Settings.shown($0[keyPath: path]) }) { settings, name, value throws(WireError) in
            settings[keyPath: path] = try Settings.milliseconds(name, value)
        }
    }

    private static func text(_ path: any WritableKeyPath<Settings, String> & Sendable) -> Setting {
        .effective(show: { $0[keyPath: path] }, assign: { settings, _, value in settings[keyPath: path] = value })
    }

    /// One of the words that a type has cases for.
    private static func word<Word: RawRepresentable<String> & Sendable>(
        _ path: any WritableKeyPath<Settings, Word> & Sendable
    ) -> Setting {
        .effective(show: { $0[keyPath: path].rawValue }) { settings, name, value throws(WireError) in
            guard let word = Word(rawValue: value.lowercased()) else { throw Settings.invalid(name, value) }
            settings[keyPath: path] = word
        }
    }

    @Sendable
    private static func setClientEncoding(_ settings: inout Settings, _ name: String, _ value: String) throws(WireError) {
        let canonical = value.uppercased().filter { $0.isLetter || $0.isNumber }
        guard ["UTF8", "UNICODE", "SQLASCII", "AUTO"].contains(canonical) else {
            throw WireError(
                state: .invalidParameterValue, message: "client_encoding \"\(value)\" is not supported",
                hint: "The database and the wire are UTF8.")
        }
        settings.clientEncoding = canonical == "SQLASCII" ? "SQL_ASCII" : "UTF8"
    }

    @Sendable
    private static func setDateStyle(_ settings: inout Settings, _ name: String, _ value: String) throws(WireError) {
        guard value.uppercased().hasPrefix("ISO") else { throw Settings.invalid(name, value) }
        settings.dateStyle = "ISO, MDY"
    }

    /// As PostgreSQL has it, to whom letters are alike here, where drivers look the name up among files. What has no such name may be one
    /// of the client's own.
    private static func canonicalTimeZone(_ name: String) -> String {
        ["UTC", "GMT"].first { $0 == name.uppercased() } ?? name
    }

    @Sendable
    private static func setDefaultIsolation(_ settings: inout Settings, _ name: String, _ value: String) throws(WireError) {
        guard let level = IsolationLevel(name: value) else { throw Settings.invalid(name, value) }
        settings.defaultIsolation = level
    }

    @Sendable
    private static func setDefaultReadOnly(_ settings: inout Settings, _ name: String, _ value: String) throws(WireError) {
        settings.defaultReadOnly = try Settings.boolean(name, value)
    }
}
