import CSQLite
import Workload

/// A SQLite file and how its clients open it.
struct SQLiteFile: Sendable {
    enum Synchronous: String, CaseIterable, Sendable { case full, normal }
    enum BeginMode: String, CaseIterable, Sendable { case immediate, deferred }

    let path: String
    let synchronous: Synchronous
    let busyTimeoutMilliseconds: Int32
    /// How a transaction that writes begins. Deferred is what programs do that do not know better: the lock is taken at the
    /// first write, where waiting may be of no use (SQLITE_BUSY_SNAPSHOT).
    let beginMode: BeginMode

    /// For the figures.
    var options: [RunResult.Option] {
        [
            ("synchronous", .string(synchronous.rawValue)), ("begin", .string(beginMode.rawValue)),
            ("busy_timeout_ms", .integer(Int(busyTimeoutMilliseconds))),
        ]
    }

    /// Makes sure that the file is there and in WAL mode, which it stays in.
    func prepare() throws(LoadError) {
        let connection = try SQLiteConnection(self)
        try connection.execute("PRAGMA journal_mode = WAL")
    }
}

/// A failed call.
struct SQLiteFailure: Error {
    let state: String
    let message: String

    init(state: String, message: String) {
        self.state = state
        self.message = message
    }

    init(_ handle: OpaquePointer?, code: Int32) {
        let extended = handle.map(sqlite3_extended_errcode) ?? code
        state = Self.name(of: extended & 0xFF == code & 0xFF ? extended : code)
        message = (handle.map(sqlite3_errmsg) ?? sqlite3_errstr(code)).map { String(cString: $0) } ?? ""
    }

    /// https://www.sqlite.org/rescode.html; those that a load meets, the others by number.
    private static func name(of code: Int32) -> String {
        if code == SQLITE_BUSY | (2 << 8) { return "SQLITE_BUSY_SNAPSHOT" }
        if code == SQLITE_BUSY | (1 << 8) { return "SQLITE_BUSY_RECOVERY" }
        let names: [Int32: String] = [
            SQLITE_ERROR: "ERROR", SQLITE_BUSY: "BUSY", SQLITE_LOCKED: "LOCKED", SQLITE_NOMEM: "NOMEM",
            SQLITE_READONLY: "READONLY", SQLITE_INTERRUPT: "INTERRUPT", SQLITE_IOERR: "IOERR", SQLITE_CORRUPT: "CORRUPT",
            SQLITE_FULL: "FULL", SQLITE_CANTOPEN: "CANTOPEN", SQLITE_PROTOCOL: "PROTOCOL", SQLITE_SCHEMA: "SCHEMA",
            SQLITE_TOOBIG: "TOOBIG", SQLITE_CONSTRAINT: "CONSTRAINT", SQLITE_MISUSE: "MISUSE", SQLITE_NOTADB: "NOTADB",
        ]
        return "SQLITE_\(names[code & 0xFF] ?? String(code))"
    }
}

/// A connection as a program opens it that knows a little of SQLite: a busy timeout, and what it wants of the disk. The
/// pool's own connections have more settings; they are not what is measured here.
///
/// Used by one thread.
final class SQLiteConnection {
    let handle: OpaquePointer

    init(_ file: SQLiteFile) throws(LoadError) {
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(file.path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let opened else {
            let failure = SQLiteFailure(opened, code: code)
            sqlite3_close(opened)
            throw LoadError("cannot open \(file.path): \(failure.message)")
        }
        handle = opened
        sqlite3_busy_timeout(handle, file.busyTimeoutMilliseconds)
        try execute("PRAGMA synchronous = \(file.synchronous.rawValue)")
    }

    /// Statements that are still there would keep the connection open: "zombie", https://www.sqlite.org/c3ref/close.html
    deinit { sqlite3_close_v2(handle) }

    func execute(_ sql: String) throws(LoadError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw LoadError("\(sql): \(SQLiteFailure(handle, code: code).message)") }
    }

    func prepare(_ sql: String) throws(LoadError) -> OpaquePointer {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else {
            throw LoadError("\(Self.abridged(sql)): \(SQLiteFailure(handle, code: code).message)")
        }
        return statement
    }

    /// A thousand rows of VALUES would bury what is said of them.
    private static func abridged(_ sql: String) -> String {
        sql.count > mostShown ? sql.prefix(mostShown) + "…" : sql
    }

    private static let mostShown = 100
}
