import Glibc
import Logging
import Pool
import SQLite
import Scheduling

/// A pool over a file of its own, which is gone with it.
final class ScratchDatabase {
    static let rows = 1_000

    let pool: Pool
    private let directory: String
    private let client = Inserter(1_000, nil)

    /// Throws what the system, the pool or SQLite does, for `main`, as `reading` does.
    init() throws {
        var template = Array("/tmp/walpool-micro-XXXXXX".utf8CString)
        guard let path = mkdtemp(&template) else { throw SystemFailure(call: "mkdtemp", code: errno) }
        directory = String(cString: path)
        // A checkpoint would come at one operation or another; here it never does. Nor can the pool lose the file; if it
        // did, there would be nothing to measure.
        var limits = PoolLimits()
        limits.checkpointFrames = .max
        limits.walLimitBytes = .max
        pool = try Pool(
            path: directory + "/micro.db", settings: ConnectionSettings(), limits: limits, deadlines: NoDeadlines(),
            log: Logger(label: "micro") { _ in SwiftLogNoOpLogHandler() }, resume: { _ in }, cannotGoOn: { WalpoolMicro.giveUp($0) })
        try pool.writer.connection.executeInternal(
            """
            CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price INTEGER NOT NULL);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(Self.rows))
            INSERT INTO item SELECT i, 'item ' || i, i * 7 FROM n;
            """)
    }

    deinit {
        for name in ["micro.db", "micro.db-wal", "micro.db-shm", "micro.db-maintenance"] { unlink(directory + "/" + name) }
        rmdir(directory)
    }

    /// With a reader, checked out as a session does it.
    @inline(__always)
    func reading<Result>(_ body: (Reader) throws -> Result) throws -> Result {
        guard case .granted(let index) = pool.requestReader(client, deadline: .distantFuture) else {
            throw SystemFailure(call: "requestReader", code: EBUSY)
        }
        defer { _ = pool.releaseReader(index) }
        return try body(try pool.reader(at: index))
    }
}

struct SystemFailure: Error {
    let call: StaticString
    let code: Int32
}

private final class NoDeadlines: DeadlineObserver {
    func announce(_ deadline: Instant) {}
}

/// A session without a client: as a member of a group it runs one insert.
///
/// What fails ends the program: no figure may come of work that was not done, and the protocol has no way to say so. Nobody's
/// data is here.
final class Inserter: GroupMember {
    let clientID: ClientID
    private let sql: SQLText?

    init(_ clientID: ClientID, _ sql: SQLText?) {
        self.clientID = clientID
        self.sql = sql
    }

    var waitDeadline: Instant { .distantFuture }
    func mark(mayRunAgain: Bool) {}
    func rewind() {}

    func runTransaction(on writer: Writer) {
        guard let sql else { return }
        do {
            let lease = try writer.statement(for: sql)
            writer.beginRun(self)
            try lease.statement.bind(Int64(clientID), at: 1)
            _ = try lease.statement.step()
            writer.endRun()
            writer.giveBack(lease)
        } catch { WalpoolMicro.giveUp(error.message) }
    }

    func commitFailed(_ error: SQLiteError) { WalpoolMicro.giveUp(error.message) }
    func couldNotBegin(_ reason: StopReason?, _ error: SQLiteError) { WalpoolMicro.giveUp(error.message) }
    func reasonToStop(now: Instant) -> StopReason? { nil }
    func reasonToStopWaiting(now: Instant) -> StopReason? { nil }
    func willBeLong() {}
}
