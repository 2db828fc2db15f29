import Glibc
import Server
import TOMLKit

/// The configuration file. Unknown keys and wrong types are errors: a setting that is silently not applied is worse.
struct ConfigurationFile {
    private let table: TOMLTable
    private let path: String

    var database: String?
    var socketDirectory: String?
    var port: Int?
    var name: String?
    var logLevel: String?
    var socketMode: String?

    init(path: String) throws(StartError) {
        self.path = path
        let text = try Self.read(path)
        do { table = try TOMLTable(string: text) } catch let error as TOMLParseError {
            throw StartError("\(path):\(error.source.begin.line): \(error.description.split(separator: "\n").first ?? "")")
        } catch {
            throw StartError("\(path): \(error)")
        }
        for key in table.keys where !Self.keys.contains(key) && !Self.sessionKeys.contains(key) {
            throw StartError("\(path): unknown key \"\(key)\"")
        }
        database = try string("database")
        socketDirectory = try string("socket_directory")
        port = try integer("port")
        name = try string("name")
        logLevel = try string("log_level")
        socketMode = try string("socket_mode")
    }

    static let keys: Set<String> = [
        "database", "socket_directory", "socket_mode", "port", "name", "log_level", "readers", "max_sessions", "synchronous",
        "backup_directory", "writer_idle_limit", "group_members", "group_time_limit", "checkpoint_frames",
        "wal_limit_bytes", "gate_limit", "shutdown_timeout",
        "startup_timeout", "cache_size_kib", "mmap_size_bytes", "foreign_keys", "double_quoted_strings",
        "trusted_schema", "recursive_triggers", "secure_delete", "sql_length_limit_bytes", "length_limit_bytes",
        "vacuum_interval", "vacuum_window", "vacuum_min_free", "vacuum_analyze",
    ]
    /// What a session starts with, by the names SET takes.
    static let sessionKeys: Set<String> = [
        "statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "transaction_timeout",
        "client_write_timeout", "queue_notice", "default_transaction_isolation", "default_transaction_read_only", "result_typing",
    ]

    func apply(to server: inout ServerConfiguration) throws(StartError) {
        if let value = try integer("readers") { server.pool.readers = value }
        if let value = try integer("max_sessions") { server.maximumSessions = value }
        if let value = try string("synchronous") { try StartSettings.setSynchronous(value, &server) }
        if let value = try milliseconds("writer_idle_limit") { server.pool.writerIdleMilliseconds = value }
        if let value = try integer("group_members", 1...10_000) { server.pool.groupMembers = value }
        if let value = try milliseconds("group_time_limit") { server.pool.groupMilliseconds = value }
        if let value = try integer("checkpoint_frames", 1...10_000_000) { server.pool.checkpointFrames = value }
        if let value = try integer("wal_limit_bytes", (256 << 10)...(1 << 40)) { server.pool.walLimitBytes = value }
        if let value = try milliseconds("gate_limit") { server.pool.gateMilliseconds = value }
        if let value = try milliseconds("shutdown_timeout") { server.shutdownTimeoutMilliseconds = value }
        if let value = try milliseconds("startup_timeout") { server.startupTimeoutMilliseconds = value }
        if let value = try integer("cache_size_kib", 16...16_000_000) { server.connection.cacheSizeKibibytes = value }
        if let value = try integer("mmap_size_bytes", 0...(1 << 40)) { server.connection.memoryMapBytes = value }
        if let value = try boolean("foreign_keys") { server.connection.foreignKeys = value }
        if let value = try boolean("double_quoted_strings") { server.connection.doubleQuotedStrings = value }
        if let value = try boolean("trusted_schema") { server.connection.trustedSchema = value }
        if let value = try boolean("recursive_triggers") { server.connection.recursiveTriggers = value }
        if let value = try string("secure_delete") {
            guard let mode = ServerConfiguration.SecureDelete(rawValue: value.uppercased()) else {
                throw wrong("secure_delete", "\"off\", \"on\" or \"fast\"")
            }
            server.connection.secureDelete = mode
        }
        if let value = try integer("sql_length_limit_bytes", 1000...(64 << 20)) {
            server.connection.sqlLengthLimitBytes = value
        }
        if let value = try integer("length_limit_bytes", 1000...(64 << 20)) {
            server.connection.lengthLimitBytes = value
        }
        try applyVacuum(&server)
        if let value = try string("backup_directory") {
            guard !value.isEmpty else { throw wrong("backup_directory", "a directory's path") }
            server.backupDirectory = value
        }
        for key in Self.sessionKeys {
            if let value = try text(key) { try server.setDefault(key, value) }
        }
    }

    /// The longest interval: what is due less often than that is better asked for.
    private static let longestVacuumIntervalMilliseconds: Int64 = 366 * 86_400_000

    private func applyVacuum(_ server: inout ServerConfiguration) throws(StartError) {
        if let text = try text("vacuum_interval") {
            let milliseconds = try ServerConfiguration.milliseconds(
                "vacuum_interval", text, upTo: Self.longestVacuumIntervalMilliseconds)
            // Stored times are seconds.
            guard milliseconds == 0 || milliseconds >= 1000 else {
                throw wrong("vacuum_interval", "0 (never) or at least a second, such as \"7d\"")
            }
            server.pool.maintenance.intervalSeconds = milliseconds / 1000
        }
        if let text = try string("vacuum_window") {
            guard let window = ServerConfiguration.Window(text) else {
                throw wrong("vacuum_window", "\"any\", \"daily 02:00-04:00\", or days such as \"Sat,Sun 23:00-05:00\"")
            }
            server.pool.maintenance.window = window
        }
        if let percent = try integer("vacuum_min_free", 0...99) { server.pool.maintenance.minimumFreePercent = percent }
        if let value = try boolean("vacuum_analyze") { server.pool.analyzesAlways = value }
    }

    // MARK: Values

    private func wrong(_ key: String, _ expected: String) -> StartError {
        StartError("\(path): \(key) must be \(expected)")
    }

    private func string(_ key: String) throws(StartError) -> String? {
        guard let value = table[key] else { return nil }
        guard let string = value.string else { throw wrong(key, "a string") }
        return string
    }

    private func integer(_ key: String, _ range: ClosedRange<Int>? = nil) throws(StartError) -> Int? {
        guard let value = table[key] else { return nil }
        guard let number = value.int else { throw wrong(key, "an integer") }
        if let range, !range.contains(number) {
            throw wrong(key, "between \(range.lowerBound) and \(range.upperBound)")
        }
        return number
    }

    private func boolean(_ key: String) throws(StartError) -> Bool? {
        guard let value = table[key] else { return nil }
        guard let bool = value.bool else { throw wrong(key, "true or false") }
        return bool
    }

    /// A setting as SET would take it.
    private func text(_ key: String) throws(StartError) -> String? {
        guard let value = table[key] else { return nil }
        if let string = value.string { return string }
        if let number = value.int { return String(number) }
        if let bool = value.bool { return bool ? "on" : "off" }
        throw wrong(key, "a string, a number or a boolean")
    }

    private func milliseconds(_ key: String) throws(StartError) -> Int64? {
        guard let text = try text(key) else { return nil }
        return try ServerConfiguration.milliseconds(key, text)
    }

    private static func read(_ path: String) throws(StartError) -> String {
        guard let file = fopen(path, "r") else {
            throw StartError("cannot read \(path): \(String(cString: strerror(errno)))")
        }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = fread(&chunk, 1, chunk.count, file)
            guard count > 0 else { break }
            bytes += chunk[..<count]
            // A configuration is a page of text.
            guard bytes.count < 1 << 20 else { throw StartError("\(path) is larger than 1 MiB") }
        }
        guard ferror(file) == 0 else { throw StartError("cannot read \(path): \(String(cString: strerror(errno)))") }
        return String(decoding: bytes, as: UTF8.self)
    }
}
