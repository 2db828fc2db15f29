import GRDB
import Workload

/// A SQLite file, opened as GRDB's documentation says for a program of many threads: one DatabasePool.
/// https://swiftpackageindex.com/groue/GRDB.swift/v7.10.0/documentation/grdb/databasepool
struct PoolFile: Sendable {
    enum Synchronous: String, Sendable { case full, normal }

    let path: String
    let synchronous: Synchronous
    let busyTimeoutMilliseconds: Int
    /// nil is the library's own default.
    let readers: Int?

    /// For the figures.
    var options: [RunResult.Option] {
        [
            ("synchronous", .string(synchronous.rawValue)), ("busy_timeout_ms", .integer(busyTimeoutMilliseconds)),
            ("readers", readers.map { .integer($0) } ?? .null),
        ]
    }

    func open() throws(LoadError) -> DatabasePool {
        var configuration = Configuration()
        configuration.busyMode = .timeout(Double(busyTimeoutMilliseconds) / 1000)
        if let readers { configuration.maximumReaderCount = readers }
        do {
            let pool = try DatabasePool(path: path, configuration: configuration)
            // The pool sets NORMAL when it has put the file in WAL mode, after anything its configuration may do.
            if synchronous == .full { try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") } }
            return pool
        } catch {
            throw LoadError("cannot open \(path): \(error)")
        }
    }
}
