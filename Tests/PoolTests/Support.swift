import Foundation
import Logging
import POSIX
import Testing

@testable import Pool
@testable import SQLite
@testable import Scheduling

/// A directory of its own for each test, with a pool over one database.
final class TestPool {
    let directory: String
    let pool: Pool
    let observer = RecordingObserver()
    let ends = RecordingEnds()
    /// Who got a reader in the middle of a job.
    let resumed = Locked<[Resumption]>([])
    private var nextClient = 0

    static let schema = """
        CREATE TABLE t(id INTEGER PRIMARY KEY, v UNIQUE);
        CREATE TABLE parent(id INTEGER PRIMARY KEY);
        CREATE TABLE child(p REFERENCES parent(id) DEFERRABLE INITIALLY DEFERRED);
        CREATE TABLE tripwire(x);
        CREATE TRIGGER trip BEFORE INSERT ON tripwire BEGIN SELECT RAISE(ROLLBACK, 'tripped'); END;
        """

    init(
        _ adjust: (inout PoolLimits) -> Void = { _ in }, observer statementObserver: (any StatementObserver)? = nil,
        log: Logger = quietLog
    ) throws {
        directory = NSTemporaryDirectory() + "/walpool-pool-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        var limits = PoolLimits()
        adjust(&limits)
        pool = try Pool(
            path: directory + "/test.db", settings: ConnectionSettings(), limits: limits, deadlines: observer,
            log: log, observer: statementObserver, resume: { [resumed] next in resumed.withLock { $0 += next } },
            cannotGoOn: { [ends] in ends.add($0) })
        try pool.writer.connection.executeInternal(Self.schema)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    var path: String { pool.path }

    /// A client with a number of its own, counted from 1, that runs these statements as a group's member.
    func member(_ statements: String...) -> FakeMember {
        nextClient += 1
        return FakeMember(nextClient, statements)
    }

    /// Runs members as one group, outside of the queue.
    func run(_ members: [FakeMember], limitMilliseconds: Int64 = 60_000) -> GroupCommit.Result {
        GroupCommit(writer: pool.writer, limitMilliseconds: limitMilliseconds).run(members)
    }

    /// What another connection sees, opened for this one look.
    func lookFromOutside(_ sql: String) throws -> [[String]] {
        try Connection(path: path, mode: .readOnly, settings: ConnectionSettings()).rows(sql)
    }

    /// How many commits there have been: the change counter of the WAL index header, its third 32-bit word.
    var commits: Int {
        guard let header = pool.writer.walIndex?.copyHeader() else { return -1 }
        return Int(UInt32(truncatingIfNeeded: header.words.1))
    }

    var walFrames: Int { pool.writer.walIndex?.frames ?? -1 }

    /// Checks a reader out, lets `body` use it, and gives it back.
    func reading<Result>(_ body: (Reader) throws -> Result) throws -> Result {
        let index = try #require(pool.requestReader(member(), deadline: .distantFuture).value)
        defer { _ = pool.releaseReader(index) }
        return try body(try pool.reader(at: index))
    }
}

let quietLog = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

/// Does something at each line of the log.
struct WatchingLog: LogHandler {
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]
    let onLine: @Sendable (String) -> Void

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { onLine(event.message.description) }
}

/// Remembers which deadlines were announced.
final class RecordingObserver: DeadlineObserver, @unchecked Sendable {
    private let lock = NSLock()
    private var list: [Instant] = []
    /// Done when the next one is announced, and only then.
    private var step: (() -> Void)?
    func atNextAnnouncement(_ body: @escaping () -> Void) { lock.withLock { step = body } }

    func announce(_ deadline: Instant) {
        let step = lock.withLock {
            list.append(deadline)
            defer { self.step = nil }
            return self.step
        }
        step?()
    }

    var announced: [Instant] { lock.withLock { list } }
}

/// Remembers why the process would have been ended.
final class RecordingEnds: @unchecked Sendable {
    private let lock = NSLock()
    private var list: [String] = []
    func add(_ reason: String) { lock.withLock { list.append(reason) } }
    var reasons: [String] { lock.withLock { list } }
}

extension Writer {
    /// Frames in the WAL that no checkpoint has copied yet.
    var framesToCheckpoint: Int { walFrames.all - walFrames.copied }
}

/// A session without a client: runs SQL on the writer as a member of a group, and remembers what became of it.
///
/// `@unchecked Sendable`: whoever has the grant has the member, as with a session.
final class FakeMember: GroupMember, @unchecked Sendable {
    let clientID: ClientID
    private let statements: [String]
    private(set) var runs = 0
    private(set) var rewinds = 0
    private(set) var rows: [[String]] = []
    /// A statement's own error.
    private(set) var error: SQLiteError?
    private(set) var commitError: SQLiteError?
    private(set) var refusal: (reason: StopReason?, error: SQLiteError)?
    private(set) var isLong = false
    private(set) var leavesNothing = false
    /// Its statement runs. Until then it is prepared, which is stopped by another error, where the machine is slow enough for the
    /// question to come.
    private(set) var isPrepared = false
    var waitDeadline = Instant.distantFuture
    /// Asked while a statement runs, and while it waits; each with the number of times it was asked before.
    var whileRunning: (Int) -> StopReason? = { _ in nil }
    var whileWaiting: (Int) -> StopReason? = { _ in nil }
    var snapshotBegan: Instant?
    private(set) var mayRunAgain = true
    private var runQuestions = 0
    private var waitQuestions = 0
    var onRun: () -> Void = {}
    var onRefusal: () -> Void = {}

    init(_ clientID: ClientID, _ statements: [String]) {
        self.clientID = clientID
        self.statements = statements
    }

    var succeeded: Bool { runs > 0 && error == nil && commitError == nil && refusal == nil }

    func waitsWithSnapshot(fromBefore moment: Instant) -> Bool { snapshotBegan.map { $0 < moment } ?? false }
    func mark(mayRunAgain: Bool) { self.mayRunAgain = mayRunAgain }
    func rewind() {
        if !mayRunAgain { Issue.record("it runs again, and has remembered nothing for that") }
        rewinds += 1
        error = nil
        rows = []
    }

    func runTransaction(on writer: Writer) {
        runs += 1
        leavesNothing = false
        onRun()
        do {
            if statements.count > 1 { try writer.beginMemberSavepoint() }
            for sql in statements {
                // As a session does.
                if sql.hasPrefix("DROP") { writer.endSnapshot() }
                isPrepared = false
                rows += try writer.rows(sql, self) { isPrepared = true }
            }
            if statements.count > 1 { try writer.releaseMemberSavepoint() }
        } catch let error as SQLiteError {
            self.error = error
            guard !writer.connection.isAutocommit else { return }
            if statements.count > 1 { try? writer.rollbackMemberSavepoint() }
            leavesNothing = true
        } catch {}
    }

    func commitFailed(_ error: SQLiteError) { commitError = error }
    func couldNotBegin(_ reason: StopReason?, _ error: SQLiteError) {
        refusal = (reason, error)
        onRefusal()
    }

    func reasonToStop(now: Instant) -> StopReason? {
        runQuestions += 1
        return whileRunning(runQuestions - 1)
    }
    func reasonToStopWaiting(now: Instant) -> StopReason? {
        waitQuestions += 1
        return whileWaiting(waitQuestions - 1)
    }
    func willBeLong() { isLong = true }
}

extension PooledConnection {
    /// Runs one statement out of the cache as `owner`'s; its rows, each value as text.
    @discardableResult
    func rows(_ sql: String, _ owner: any StatementOwner, whenPrepared: () -> Void = {}) throws -> [[String]] {
        let lease = try statement(for: text(sql), owner)
        defer { giveBack(lease) }
        whenPrepared()
        beginRun(owner)
        defer { endRun() }
        var rows: [[String]] = []
        while try lease.statement.step() == .row { rows.append(lease.statement.row) }
        return rows
    }
}

/// A statement's text with a number of its own.
func text(_ sql: String) -> SQLText {
    var sql = sql
    return sql.withUTF8 { SQLText(copying: UnsafeRawBufferPointer($0)) }
}

extension Statement {
    var row: [String] {
        (0..<columnCount).map {
            storageClass($0) == .null ? "NULL" : String(decoding: text($0), as: UTF8.self)
        }
    }
}

extension Connection {
    @discardableResult
    func rows(_ sql: String) throws -> [[String]] {
        var sql = sql
        let statement = try sql.withUTF8 { try prepare(UnsafeRawBufferPointer($0)).statement }
        guard let statement else { return [] }
        var rows: [[String]] = []
        while try statement.step() == .row { rows.append(statement.row) }
        return rows
    }
}

extension Pool.Request {
    var value: Granted? {
        if case .granted(let value) = self { return value }
        return nil
    }

    /// Drawn: "granted", "parked", or why it was stopped.
    var picture: String {
        switch self {
        case .granted: "granted"
        case .parked: "parked"
        case .stopped(let reason): "\(reason)"
        }
    }
}

extension Resumption {
    /// Drawn: "1+2" is a group, "t3" a transaction, "4@0" a reader.
    var picture: String {
        switch self {
        case .reader(let client, let index): "\(client.clientID)@\(index)"
        case .transaction(let client): "t\(client.clientID)"
        case .group(let clients): clients.map { "\($0.clientID)" }.joined(separator: "+")
        case .job(let job): "\(job)"
        case .committed(let group): "committed " + group.take().map { "\($0.clientID)" }.joined(separator: "+")
        case .unsynced: "unsynced"
        case .answered(let client): "answered \(client.clientID)"
        case .owned(let client): "owned \(client.clientID)"
        case .stopped(let client, let reason): "\(client.clientID) \(reason)"
        }
    }
}

/// The number after `ms` milliseconds of a clock that began with the machine.
func ms(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

/// Another process with the same database open. It runs one statement at a time and answers each, so no test sleeps.
final class Outsider: @unchecked Sendable {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    private static let program = """
        import sqlite3, sys
        connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=0)
        for line in sys.stdin:
            try:
                print(connection.execute(line).fetchall(), flush=True)
            except Exception as error:
                print(error, flush=True)
        """

    init(_ path: String) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", Self.program, path]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    var number: Int32 { process.processIdentifier }

    /// Its answer: the rows as Python prints them, or the words of an error.
    @discardableResult
    func run(_ sql: String) -> String {
        input.fileHandleForWriting.write(Data((sql + "\n").utf8))
        var answer = Data()
        while answer.last != UInt8(ascii: "\n") {
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { return "the outsider is gone" }
            answer += more
        }
        return String(decoding: answer.dropLast(), as: UTF8.self)
    }

    deinit {
        input.fileHandleForWriting.closeFile()
        process.waitUntilExit()
    }
}
