import Scheduling

/// SHOW CONFIG.
extension Server {
    func showConfiguration(_ rows: inout ConsoleTable) {
        let settings = process.withLock { $0 }?.settings() ?? configuration.settingsShown
        for setting in settings {
            rows.append([.text(setting.key), .init(setting.value), .init(setting.defaultValue), .init(setting.isChangeable)])
        }
    }
}

extension ServerConfiguration {
    /// By the names of the configuration file. Nothing of it changes while the server runs.
    var settingsShown: [SettingView] {
        let standard = Self(databasePath: "", databaseName: "", socketPath: "")
        return zip(values, standard.values).map { mine, other in
            SettingView(key: mine.key, value: mine.value, defaultValue: mine.hasDefault ? other.value : nil, isChangeable: false)
        }.sorted { $0.key < $1.key }
    }

    private struct Value {
        var key: String
        var value: String?
        var hasDefault = true

        init(_ key: String, _ value: String?, hasDefault: Bool = true) {
            (self.key, self.value, self.hasDefault) = (key, value, hasDefault)
        }
        init(_ key: String, _ number: Int) { self.init(key, String(number)) }
        init(_ key: String, _ isOn: Bool) { self.init(key, isOn ? "true" : "false") }
        init(_ key: String, milliseconds: Int64) { self.init(key, Settings.shown(milliseconds)) }
    }

    private var values: [Value] {
        let slash = socketPath.lastIndex(of: "/")
        return [
            Value("database", databasePath, hasDefault: false), Value("name", databaseName, hasDefault: false),
            Value("socket_directory", slash.map { String(socketPath[..<$0]) }, hasDefault: false),
            Value("port", socketPath.split(separator: ".").last.map(String.init) ?? "5432"),
            Value("socket_mode", "0" + String(socketMode, radix: 8)), Value("max_sessions", maximumSessions),
            Value("backup_directory", backupDirectory), Value("startup_timeout", milliseconds: startupTimeoutMilliseconds),
            Value("shutdown_timeout", milliseconds: shutdownTimeoutMilliseconds),
        ] + poolValues + connectionValues + sessionValues
    }

    private var poolValues: [Value] {
        [
            Value("readers", pool.readers), Value("synchronous", pool.durability.rawValue),
            Value("writer_idle_limit", milliseconds: pool.writerIdleMilliseconds), Value("group_members", pool.groupMembers),
            Value("group_time_limit", milliseconds: pool.groupMilliseconds),
            Value("checkpoint_frames", pool.checkpointFrames), Value("wal_limit_bytes", pool.walLimitBytes),
            Value("gate_limit", milliseconds: pool.gateMilliseconds),
            Value("vacuum_interval", milliseconds: pool.maintenance.intervalSeconds * 1000),
            Value("vacuum_window", pool.maintenance.window == .any ? "any" : "\(pool.maintenance.window)"),
            Value("vacuum_min_free", pool.maintenance.minimumFreePercent), Value("vacuum_analyze", pool.analyzesAlways),
        ]
    }

    private var connectionValues: [Value] {
        [
            Value("cache_size_kib", connection.cacheSizeKibibytes), Value("mmap_size_bytes", connection.memoryMapBytes),
            Value("length_limit_bytes", connection.lengthLimitBytes),
            Value("sql_length_limit_bytes", connection.sqlLengthLimitBytes),
            Value("foreign_keys", connection.foreignKeys), Value("double_quoted_strings", connection.doubleQuotedStrings),
            Value("trusted_schema", connection.trustedSchema), Value("recursive_triggers", connection.recursiveTriggers),
            Value("secure_delete", connection.secureDelete.rawValue.lowercased()),
        ]
    }

    private var sessionValues: [Value] {
        [
            "statement_timeout", "lock_timeout", "transaction_timeout", "idle_in_transaction_session_timeout",
            "client_write_timeout", "queue_notice", "default_transaction_isolation", "default_transaction_read_only",
            "result_typing",
        ].map { Value($0, sessionDefaults.value($0)) }
    }
}
