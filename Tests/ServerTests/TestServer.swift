import Glibc
import Logging
import POSIX
import Testing

@testable import Pool
@testable import SQLite
@testable import Scheduling
@testable import Server

/// A running server of its own for each test, in a directory of its own.
///
/// `@unchecked Sendable`: threads of a test only connect and look.
final class TestServer: @unchecked Sendable {
    let directory: String
    let configuration: ServerConfiguration
    private(set) var server: Server
    private var isStopped = false

    static let schema = """
        CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER UNIQUE);
        CREATE TABLE parent(id INTEGER PRIMARY KEY);
        CREATE TABLE child(p INTEGER REFERENCES parent(id) DEFERRABLE INITIALLY DEFERRED);
        CREATE TABLE tripwire(x INTEGER);
        CREATE TRIGGER trip BEFORE INSERT ON tripwire BEGIN SELECT RAISE(ROLLBACK, 'tripped'); END;
        CREATE TABLE big(n INTEGER);
        INSERT INTO big SELECT value FROM json_each('[1,2,3,4,5,6,7,8,9,10]');
        """

    init(schema: String = schema, _ adjust: (inout ServerConfiguration) throws -> Void = { _ in }) throws {
        // Short, because a socket's path may have 107 bytes only.
        var template = Array("/tmp/walpool-XXXXXX".utf8CString)
        directory = try #require(mkdtemp(&template).map { String(cString: $0) })
        var configuration = ServerConfiguration(
            databasePath: directory + "/app.db", databaseName: "app", socketPath: directory + "/.s.PGSQL.5432")
        configuration.shutdownTimeoutMilliseconds = 100
        try adjust(&configuration)
        self.configuration = configuration
        do {
            let connection = try Connection(
                path: configuration.databasePath, mode: .readWrite, settings: ConnectionSettings())
            try connection.executeInternal("PRAGMA journal_mode = WAL;" + schema)
        }
        server = try Self.started(configuration)
    }

    private static func started(_ configuration: ServerConfiguration) throws -> Server {
        let server = try Server(configuration, log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try server.start()
        return server
    }

    deinit {
        stop()
        for name in Directory.names(in: directory) ?? [] { unlink(directory + "/" + name) }
        rmdir(directory)
    }

    func stop() {
        if !isStopped { server.stop() }
        isStopped = true
    }

    func restart() throws {
        stop()
        server = try Self.started(configuration)
        isStopped = false
    }

    var pool: Pool { server.pool }

    /// A client that has started up.
    func connect(_ settings: [(String, String)] = []) throws -> RawClient {
        let client = try RawClient(configuration.socketPath)
        try client.startUp([("user", "tester"), ("database", "app")] + settings)
        return client
    }

    /// What a connection of its own sees in the file.
    func look(_ sql: String) throws -> [String] {
        let connection = try Connection(path: configuration.databasePath, mode: .readOnly, settings: ConnectionSettings())
        var sql = sql
        let statement = try #require(try sql.withUTF8 { try connection.prepare(UnsafeRawBufferPointer($0)).statement })
        var rows: [String] = []
        while try statement.step() == .row {
            rows.append(
                (0..<statement.columnCount).map { String(decoding: statement.text($0), as: UTF8.self) }
                    .joined(separator: "|"))
        }
        return rows
    }

    /// How many commits there have been: the change counter of the WAL index header, its third 32-bit word.
    var commits: Int { Int(UInt32(truncatingIfNeeded: pool.writer.walIndex?.copyHeader().words.1 ?? 0)) }

    /// Waits until so many sessions wait for the writer: the step that the next one of an interleaving follows.
    func untilWaitingWriters(_ count: Int) throws { try until { self.pool.load.waitingWriters == count } }
    func untilWaitingReaders(_ count: Int) throws { try until { self.pool.load.waitingReaders == count } }

    func until(_ condition: () -> Bool) throws {
        let limit = MonotonicClock.now.advanced(byMilliseconds: RawClient.hangSeconds * 1000)
        while !condition() {
            if MonotonicClock.now >= limit { throw RawClient.Hangs() }
            sched_yield()
        }
    }
}

func fileExists(_ path: String) -> Bool { access(path, F_OK) == 0 }

func fileSize(_ path: String) -> Int? {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : nil
}

/// Runs `body` on so many threads at once, with their numbers; returns when all are done.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    final class Start {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    let threads = (0..<count).map { number in
        var thread = pthread_t()
        let context = Unmanaged.passRetained(Start { body(number) }).toOpaque()
        pthread_create(
            &thread, nil,
            { context in
                Unmanaged<Start>.fromOpaque(context!).takeRetainedValue().body()
                return nil
            }, context)
        return thread
    }
    for thread in threads { pthread_join(thread, nil) }
}
