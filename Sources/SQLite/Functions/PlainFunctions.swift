import CSQLite
import Glibc
import POSIX

/// Functions that users of PostgreSQL reach for and that SQLite lacks, on every connection.
///
/// None takes the place of one that SQLite has.
enum PlainFunctions {
    /// With so many arguments greatest() is a function by itself each time, so that a program tells how many a call has. Who asks for the
    /// greatest of more writes 42P18's `::type`.
    private static let shownExtremes = 2...16

    static func register(on connection: Connection) {
        TextFunctions.register(on: connection)
        DateFunctions.register(on: connection)
        StatisticalAggregates.register(on: connection)
        registerSession(on: connection)
        registerOthers(on: connection)
        GenerateSeries.register(on: connection.handle)
        Unnest.register(on: connection)
    }

    private static func registerSession(on connection: Connection) {
        // A function of a connection is called by its statements alone, and the connection owns its callbacks: to retain either here
        // would be a cycle.
        let facts: () -> SessionFacts? = { [unowned(unsafe) callbacks = connection.callbacks] in callbacks.sessionFacts?() }
        for name: StaticString in ["current_user", "session_user", "current_role"] {
            connection.register(name, 0, .volatile) { $0.answer(facts()?.userName) }
        }
        for name: StaticString in ["current_database", "current_catalog"] {
            connection.register(name, 0, .volatile) { $0.answer(facts()?.databaseName) }
        }
        connection.register("current_schema", 0, .volatile) { $0.answer("main") }
        connection.register("version", 0, .volatile) { $0.answer(facts()?.version) }
        connection.register("pg_backend_pid", 0, .volatile) { $0.answer(Int64(facts()?.processID ?? 0)) }
        connection.register("set_config", 3, .direct) { call in
            guard !call.isNull(0) else { return call.fail("NULL is no name of a setting") }
            let isLocal = call.storageClass(2) == .text ? call.text(2) : call.integer(2) != 0 ? "true" : "false"
            guard let value = facts()?.set(call.text(0), call.isNull(1) ? "" : call.text(1), isLocal) else {
                return call.fail("the setting was refused")
            }
            call.answer(value)
        }
        for count in [1, 2] {
            connection.register("current_setting", count, .volatile) { call in
                if count == 2, call.isNull(1) { return call.answerNull() }
                if let value = facts()?.setting(call.text(0)) { return call.answer(value) }
                if count == 2, isTrue(call, 1) { return call.answerNull() }
                call.fail("unrecognized configuration parameter \"\(call.quoted(0))\"")
            }
        }
    }

    /// PostgreSQL's booleans may come as one of their words.
    private static func isTrue(_ call: FunctionCall, _ argument: Int) -> Bool {
        guard call.storageClass(argument) == .text else { return call.integer(argument) != 0 }
        return ["t", "true", "y", "yes", "on", "1"].contains(call.text(argument).lowercased())
    }

    private static func registerOthers(on connection: Connection) {
        connection.register("gen_random_uuid", 0, .volatile) { $0.answer(randomUUID()) }
        for count in [-1] + Array(shownExtremes) {
            connection.register("greatest", count, .deterministic) { extreme($0, wanted: 1) }
        }
        connection.register("least", -1, .deterministic) { extreme($0, wanted: -1) }
        // The connection owns this closure, so the closure must not own the connection.
        connection.register("pg_sleep", 1, .direct) { [unowned(unsafe) connection] in sleep($0, connection) }
        // Newer versions of SQLite have it themselves.
        if SQLiteLibrary.versionNumber < 3_044_000 {
            connection.register(aggregate: "string_agg", 2, StringAggregate.self)
        }
    }

    private static func randomUUID() -> String {
        var bytes = [UInt8](repeating: 0, count: 16)
        sqlite3_randomness(16, &bytes)
        // Version 4, variant 1: https://www.rfc-editor.org/rfc/rfc9562#section-5.4
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        var text = ""
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text += "-" }
            text += (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return text
    }

    /// As PostgreSQL's, these pass over NULL; SQLite's max(a, b) does not.
    private static func extreme(_ call: FunctionCall, wanted: Int) {
        var best = -1
        for index in 0..<call.count where !call.isNull(index) {
            if best < 0 || compare(call, index, best) == wanted { best = index }
        }
        if best < 0 { call.answerNull() } else { call.answer(argument: best) }
    }

    /// SQLite's order: numbers, text by its bytes, blobs. https://www.sqlite.org/datatype3.html#sort_order
    private static func compare(_ call: FunctionCall, _ left: Int, _ right: Int) -> Int {
        let (leftClass, rightClass) = (call.storageClass(left), call.storageClass(right))
        let rank = { (kind: StorageClass) in kind == .text ? 1 : kind == .blob ? 2 : 0 }
        if rank(leftClass) != rank(rightClass) { return rank(leftClass) < rank(rightClass) ? -1 : 1 }
        if leftClass == .integer && rightClass == .integer {
            let (a, b) = (call.integer(left), call.integer(right))
            return a == b ? 0 : a < b ? -1 : 1
        }
        if rank(leftClass) == 0 {
            let (a, b) = (call.double(left), call.double(right))
            return a == b ? 0 : a < b ? -1 : 1
        }
        let (a, b) = (call.bytes(left), call.bytes(right))
        let shared = min(a.count, b.count)
        let order = shared > 0 ? Int(memcmp(a.baseAddress!, b.baseAddress!, shared)) : 0
        return order == 0 ? (a.count - b.count).signum() : order.signum()
    }

    /// Sleeps in short pieces, between which it asks what the progress handler of a working statement asks: a cancel, a
    /// timeout, a client that is gone and a stop of the daemon end it, and another thread takes this one's place.
    private static func sleep(_ call: FunctionCall, _ connection: Connection) {
        guard !call.isNull(0) else { return call.answerNull() }
        let seconds = call.double(0)
        if let limit = connection.sleepLimitMilliseconds, seconds * 1000 > Double(limit) {
            return call.fail(
                "pg_sleep(\(seconds)) would keep the writer from everybody else: \(limit) ms are the most here")
        }
        let end = SystemClock.nanoseconds(CLOCK_MONOTONIC) + Int64(min(max(seconds, 0), 1e9) * 1e9)
        while true {
            if connection.callbacks.onProgress?() == true { return call.fail(code: SQLITE_INTERRUPT) }
            let left = end - SystemClock.nanoseconds(CLOCK_MONOTONIC)
            if left <= 0 { break }
            var pause = timespec(tv_sec: 0, tv_nsec: Int(min(left, 2_000_000)))
            nanosleep(&pause, nil)
        }
        call.answer("")
    }
}
