import Glibc
import POSIX
import Testing

@testable import Pool
@testable import Scheduling
@testable import Server

@Suite struct HeartbeatTests {
    /// Reports as they come.
    final class Reports: Sendable {
        let all = Locked<[ServerReport]>([])
        var last: ServerReport? { all.withLock { $0.last } }
        var count: Int { all.withLock { $0.count } }
        func receive(_ report: ServerReport) { all.withLock { $0.append(report) } }
    }

    private func started(_ reports: Reports) throws -> TestServer {
        try TestServer {
            $0.reports = ServiceReports(
                pingMilliseconds: 20, silenceMilliseconds: 60_000, receive: { reports.receive($0) })
        }
    }

    /// The reader's snapshot keeps the WAL from being emptied before somebody has looked.
    ///
    ///     reader      holder              waiting      reports
    ///                                                  0 sessions
    ///     SELECT
    ///                 BEGIN IMMEDIATE
    ///                                     DELETE
    ///                                                  3 sessions, 1 waits
    ///                 COMMIT
    ///                                                  0 wait, a WAL
    @Test func tellsWhatGoesOn() throws {
        let reports = Reports()
        let test = try started(reports)
        try test.until { reports.last?.sessions == 0 }
        let reader = try test.connect()
        let holder = try test.connect()
        let waiting = try test.connect()
        #expect(try reader.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM t").errors.isEmpty)
        #expect(try holder.query("BEGIN IMMEDIATE").picture == "BEGIN T")
        waiting.sendQuery("INSERT INTO t (n) VALUES (99)")
        try test.until { reports.last?.waitingForWriter == 1 }
        #expect(reports.last?.sessions == 3)
        #expect(try holder.query("COMMIT").picture == "COMMIT I")
        #expect(try waiting.reply().errors.isEmpty)
        try test.until { reports.last.map { $0.waitingForWriter == 0 && $0.walBytes > 0 } == true }
        #expect(reports.all.withLock { $0.allSatisfy { $0.finding == .progress } })
    }

    @Test func goesOnWhileNothingHappensAndEndsWithTheServer() throws {
        let reports = Reports()
        let test = try started(reports)
        try test.until { reports.count >= 5 }
        test.stop()
        let count = reports.count
        // Many times what lies between two of them.
        usleep(200_000)
        #expect(reports.count == count)
        try test.restart()
        try test.until { reports.count > count }
    }

    /// A statement that runs is seen to run: its thread's processor time is what is looked at.
    @Test func aThreadAtWorkIsSeen() throws {
        let test = try started(Reports())
        let client = try test.connect()
        client.sendQuery(
            "BEGIN IMMEDIATE; INSERT INTO big WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c")
        var first: Int64?
        try test.until {
            guard test.pool.work.writer == .active, let thread = test.pool.work.atWriter.thread,
                let used = test.server.crew.watch.processorNanoseconds(ofThread: thread)
            else { return false }
            first = first ?? used
            return used > first ?? used
        }
        #expect(test.server.crew.watch.processorNanoseconds(ofThread: UInt(pthread_self())) == nil)
        try client.cancel()
        #expect(try client.reply().errors == ["57014"])
    }

    /// Sockets from a service manager: each is served, and their files stay.
    @Test func inheritedSockets() throws {
        let test = try TestServer { configuration in
            let directory = configuration.socketPath.dropLast(".s.PGSQL.5432".count)
            configuration.inheritedSockets = try ["a", "stale"].map { name in
                let path = directory + name
                return InheritedSocket(descriptor: try Listener(path: String(path), mode: 0o600).descriptor, path: String(path))
            }
        }
        for socket in test.configuration.inheritedSockets {
            let client = try RawClient(socket.path)
            try client.startUp([("user", "tester"), ("database", "app")])
            #expect(try client.query("SELECT 42").picture == "42 SELECT 1 I")
        }
        #expect(!fileExists(test.configuration.socketPath))
        test.stop()
        for socket in test.configuration.inheritedSockets {
            #expect(fileExists(socket.path))
            unlink(socket.path)
        }
    }

    @Test func aSocketThatIsKeptElsewhereKeepsItsFile() throws {
        let test = try TestServer { $0.leavesSocketFile = true }
        test.stop()
        #expect(fileExists(test.configuration.socketPath))
    }
}
