import Glibc
import Synchronization
import Testing

@testable import Pool
@testable import Scheduling
@testable import Server

@Suite struct ReadingTests {
    /// Sessions that hold every reader there is, each with a portal that has more rows to give.
    private func pinAllReaders(_ test: TestServer, _ count: Int) throws -> [RawClient] {
        try (0..<count).map { _ in
            let client = try test.connect()
            try client.query("BEGIN ISOLATION LEVEL REPEATABLE READ")
            client.send(
                RawClient.parse("SELECT n FROM big ORDER BY n") + RawClient.bind(portal: "p")
                    + RawClient.execute(portal: "p", maxRows: 1) + RawClient.sync)
            #expect(try client.reply().picture == "1 suspended T")
            return client
        }
    }

    ///     P1, P2                  C                   another thread
    ///     hold both readers, idle
    ///                                                 takes a reader away
    ///                             SELECT, waits
    ///     are idle beyond the limit: the thread that looks takes no second reader away for C
    ///                                                 has done so
    ///                             answered
    ///     P1 has lost its snapshot, P2 reads on
    @Test func oneReaderIsTakenAwayForOneWaiter() throws {
        let limit: Int64 = 20
        let test = try TestServer {
            $0.pool.readers = 2
            $0.pool.writerIdleMilliseconds = limit
        }
        let c = try test.connect()
        let pinned = try pinAllReaders(test, 2)
        // Taken as a thread of the server takes it: one that looks just now would clear what is merely stored.
        try test.until { !test.server.isEvictingReader.exchange(true, ordering: .sequentiallyConsistent) }
        c.sendQuery("SELECT count(*) FROM t")
        try test.untilWaitingReaders(1)
        let end = MonotonicClock.now.advanced(byMilliseconds: 5 * limit)
        try test.until { MonotonicClock.now >= end }
        #expect(test.pool.load.waitingReaders == 1)
        test.server.isEvictingReader.store(false, ordering: .sequentiallyConsistent)
        #expect(try c.reply().picture == "0 SELECT 1 I")
        #expect(
            try pinned.map { client in
                client.send(RawClient.execute(portal: "p", maxRows: 1) + RawClient.sync)
                return try client.reply().picture
            } == ["40001 E", "2 suspended T"])
    }

    ///     P1, P2                  C                   W
    ///     hold both readers
    ///                             SELECT, waits
    ///                                                 writes on, transaction after transaction
    ///     P1 commits
    ///                             answered, and sees what W wrote
    ///     P2 goes on reading its old snapshot
    @Test func writersGoOnWhileAllReadersAreHeld() throws {
        let test = try TestServer { $0.pool.readers = 2 }
        let (c, w) = (try test.connect(), try test.connect())
        w.send(RawClient.parse("INSERT INTO t(n) VALUES($1)", name: "i") + RawClient.sync)
        try w.reply()
        let pinned = try pinAllReaders(test, 2)
        c.sendQuery("SELECT count(*) FROM t")
        try test.untilWaitingReaders(1)
        for n in 1...10 {
            w.send(RawClient.bind(["\(n)"], statement: "i") + RawClient.execute() + RawClient.sync)
            #expect(try w.reply().picture == "INSERT 0 1 I")
        }
        #expect(test.pool.load.waitingReaders == 1)
        #expect(try pinned[0].query("COMMIT").picture == "COMMIT I")
        #expect(try c.reply().picture == "10 SELECT 1 I")
        pinned[1].send(RawClient.execute(portal: "p", maxRows: 0) + RawClient.sync)
        #expect(try pinned[1].reply().rows == (2...10).map(String.init))
        #expect(try pinned[1].query("SELECT count(*) FROM t").picture == "0 SELECT 1 T")
    }

    /// B1: what a text means is found by preparing it; a new one must not need a reader for that when it writes.
    @Test(arguments: [
        "INSERT INTO t(n) VALUES(1)", "BEGIN; INSERT INTO t(n) VALUES(1); COMMIT", "BEGIN IMMEDIATE; INSERT INTO t(n) VALUES(1); COMMIT",
        "WITH x AS (SELECT 1 AS one) INSERT INTO t(n) SELECT one FROM x", "CREATE TABLE fresh(x)",
    ])
    func newWriteText(_ sql: String) throws {
        let test = try TestServer { $0.pool.readers = 1 }
        let w = try test.connect([("lock_timeout", "2s")])
        let pinned = try pinAllReaders(test, 1)
        let reply = try w.query(sql)
        #expect(reply.errors == [] && reply.status == "I")
        #expect(try pinned[0].query("COMMIT").picture == "COMMIT I")
    }

    /// B2: X and Y wait to have the same new text prepared, on the connection that is kept for it. X does it; then Y
    /// needs no connection any more, and must not keep the one it is granted.
    ///
    ///     the test                X                   Y                   Z
    ///     holds all connections
    ///                             Parse, waits
    ///                                                 Parse, waits
    ///     gives one back
    ///                             answered            answered
    ///                                                                     Parse, SELECT: answered
    @Test(arguments: [true, false])
    func grantedReaderIsGivenBack(_ onlyToPrepare: Bool) throws {
        let test = try TestServer { $0.pool.readers = 1 }
        let holder = NoSession()
        guard case .granted(let reader) = test.pool.requestReader(holder, deadline: .distantFuture),
            case .granted(let preparing) = test.pool.requestReader(holder, onlyToPrepare: true, deadline: .distantFuture)
        else {
            Issue.record("nobody else is here")
            return
        }
        let clients = try (0..<2).map { _ in try test.connect() }
        for client in clients {
            client.send(RawClient.parse("SELECT id, n FROM t WHERE id = 77") + RawClient.sync)
            // Its statement has begun, and cannot get further than the queue.
            let session = try #require(test.server.table.session(processID: client.processID))
            try test.until { session.activity.load(ordering: .sequentiallyConsistent) == .running }
        }
        for index in onlyToPrepare ? [preparing] : [preparing, reader] {
            if let next = test.pool.releaseReader(index) { test.server.ready.enqueue(next) }
        }
        for client in clients { #expect(try client.reply().picture == "I") }
        if onlyToPrepare, let next = test.pool.releaseReader(reader) { test.server.ready.enqueue(next) }
        let z = try test.connect([("lock_timeout", "2s")])
        #expect(try z.query("SELECT 1 + 1").picture == "2 SELECT 1 I")
        #expect(try z.query("SELECT 1 + 2").picture == "3 SELECT 1 I")
    }

    /// Takes connections from the pool for a test.
    final class NoSession: PoolClient {
        let clientID = -1
        var waitDeadline: Instant { .distantFuture }
        func reasonToStop(now: Instant) -> StopReason? { nil }
        func reasonToStopWaiting(now: Instant) -> StopReason? { nil }
        func willBeLong() {}
    }

    ///     P                       C                   D
    ///     holds the reader
    ///                             SELECT, waits
    ///                                                 SELECT, waits
    ///                             cancel, or its limit
    ///     COMMIT
    ///                                                 answered
    @Test(arguments: [("0", "57014 I"), ("30ms", "55P03 I")])
    func aWaitingReadEnds(_ lockTimeout: String, _ picture: String) throws {
        let test = try TestServer { $0.pool.readers = 1 }
        let (c, d) = (try test.connect([("lock_timeout", lockTimeout)]), try test.connect())
        for client in [c, d] { try client.query("SELECT count(*) FROM t") }
        let pinned = try pinAllReaders(test, 1)
        d.sendQuery("SELECT count(*) FROM t")
        try test.untilWaitingReaders(1)
        c.sendQuery("SELECT count(*) FROM t")
        if lockTimeout == "0" {
            try test.untilWaitingReaders(2)
            try c.cancel()
        }
        #expect(try c.reply().picture == picture)
        try pinned[0].query("COMMIT")
        #expect(try d.reply().picture == "0 SELECT 1 I")
        #expect(try c.query("SELECT 1").picture == "1 SELECT 1 I")
    }

    /// A reader whose client goes, however it holds it, is the next one's.
    @Test func aReaderWhoseClientIsKilled() throws {
        let test = try TestServer { $0.pool.readers = 2 }
        let pinned = try pinAllReaders(test, 2)
        let c = try test.connect()
        c.sendQuery("SELECT 1 + 2")
        try test.untilWaitingReaders(1)
        pinned[1].close()
        #expect(try c.reply().picture == "3 SELECT 1 I")
    }

    // MARK: Isolation

    ///     A                               B
    ///     BEGIN ...; counts 0
    ///                                     INSERT
    ///     counts again: what its level says
    ///     INSERT: done, or 40001
    @Test(arguments: [
        ("BEGIN", "1", "INSERT 0 1 T"),
        ("BEGIN ISOLATION LEVEL READ COMMITTED", "1", "INSERT 0 1 T"),
        ("BEGIN ISOLATION LEVEL REPEATABLE READ", "0", "40001 E"),
        ("BEGIN ISOLATION LEVEL SERIALIZABLE", "0", "40001 E"),
        ("BEGIN DEFERRED", "0", "40001 E"),
        ("BEGIN READ ONLY", "0", "25006 E"),
    ])
    func whatATransactionSees(_ begin: String, _ count: String, _ insert: String) throws {
        let test = try TestServer()
        let (a, b) = (try test.connect(), try test.connect())
        try a.query(begin)
        #expect(try a.query("SELECT count(*) FROM t").picture == "0 SELECT 1 T")
        #expect(try b.query("INSERT INTO t VALUES(1, 1)").picture == "INSERT 0 1 I")
        #expect(try a.query("SELECT count(*) FROM t").picture == "\(count) SELECT 1 T")
        #expect(try a.query("INSERT INTO t VALUES(2, 2)").picture == insert)
        try a.query("ROLLBACK")
        #expect(try a.query("SELECT count(*) FROM t").picture == "1 SELECT 1 I")
        try test.until { test.pool.load.holder == .nobody }
    }

    ///     A                               B
    ///     BEGIN RR; reads
    ///                                     BEGIN RR; reads
    ///     INSERT: promoted
    ///                                     INSERT, waits
    ///     COMMIT [or ROLLBACK]
    ///                                     40001 [or promoted]
    @Test(arguments: [("COMMIT", "40001 E"), ("ROLLBACK", "INSERT 0 1 T")])
    func promotion(_ end: String, _ picture: String) throws {
        let test = try TestServer()
        let (a, b) = (try test.connect(), try test.connect())
        for client in [a, b] {
            try client.query("BEGIN ISOLATION LEVEL REPEATABLE READ")
            #expect(try client.query("SELECT count(*) FROM t").picture == "0 SELECT 1 T")
        }
        #expect(try a.query("INSERT INTO t VALUES(1, 1)").picture == "INSERT 0 1 T")
        #expect(try a.query("SELECT count(*) FROM t").picture == "1 SELECT 1 T")
        b.sendQuery("INSERT INTO t VALUES(2, 2)")
        try test.untilWaitingWriters(1)
        try a.query(end)
        #expect(try b.reply().picture == picture)
        try b.query("COMMIT")
        // Nothing is left behind: the writer and both readers are free.
        try test.until { test.pool.load.holder == .nobody }
        #expect(try b.query("INSERT INTO t VALUES(3, 3)").picture == "INSERT 0 1 I")
    }

    /// Every read after an acknowledged commit sees it, whichever session reads.
    @Test func readsFollowCommits() throws {
        let test = try TestServer { $0.pool.checkpointFrames = 10 }
        let clients = try (0..<4).map { _ in try test.connect() }
        for n in 1...60 {
            #expect(try clients[n % 4].query("INSERT INTO t VALUES(\(n), \(n))").picture == "INSERT 0 1 I")
            #expect(try clients[(n + 1) % 4].query("SELECT count(*) FROM t").picture == "\(n) SELECT 1 I")
        }
    }

    // MARK: A client that does not read

    private static let endlessRows =
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n, 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' FROM c"

    /// It keeps its reader, but no thread: others are served, and after client_write_timeout the reader as well.
    @Test func aClientThatTakesNothing() throws {
        let test = try TestServer { $0.pool.readers = 1 }
        let slow = try test.connect([("client_write_timeout", "100ms")])
        let (w, c) = (try test.connect(), try test.connect())
        slow.sendQuery(Self.endlessRows)
        // Its first rows are here, so it has the reader.
        while let message = try slow.message(), message.type != "D" {}
        #expect(try w.query("BEGIN IMMEDIATE; INSERT INTO t VALUES(1, 1); COMMIT").errors == [])
        #expect(try c.query("SELECT count(*) FROM t").picture == "1 SELECT 1 I")
        #expect(test.server.table.count == 2)
    }

    /// Many clients at once, more than threads and readers, of all kinds: nobody is forgotten.
    @Test func manyClients() throws {
        let test = try TestServer {
            $0.pool.readers = 2
            $0.pool.groupMembers = 4
            $0.pool.checkpointFrames = 30
        }
        let (threads, rounds) = (12, 15)
        let failures = Failures()
        onThreads(threads) { thread in
            do {
                let client = try test.connect()
                for round in 0..<rounds {
                    let id = thread * 1000 + round
                    let write =
                        switch (thread + round) % 4 {
                        case 0: "INSERT INTO t VALUES(\(id), \(id))"
                        case 1: "BEGIN; INSERT INTO t VALUES(\(id), \(id)); COMMIT"
                        case 2: "BEGIN; SELECT 1; INSERT INTO t VALUES(\(id), \(id)); SELECT 2; COMMIT"
                        default: "INSERT INTO t VALUES(\(id), \(id)); DELETE FROM big WHERE n = -1"
                        }
                    if (thread + round) % 5 == 0 {
                        failures.check(try client.query("BEGIN").status == "T", "BEGIN")
                        failures.check(try client.query("INSERT INTO t VALUES(\(id), \(id))").errors == [], "in a block")
                        failures.check(try client.query("COMMIT").picture == "COMMIT I", "COMMIT")
                    } else {
                        let reply = try client.query(write)
                        failures.check(reply.errors == [] && reply.status == "I", reply.picture)
                    }
                    let count = try client.query("SELECT count(*) FROM t WHERE id = \(id)").picture
                    failures.check(count == "1 SELECT 1 I", "\(count) of \(id)")
                }
            } catch { failures.check(false, "\(error)") }
        }
        #expect(failures.all == [])
        #expect(try test.look("SELECT count(*) FROM t") == ["\(threads * rounds)"])
        #expect(try test.look("PRAGMA integrity_check") == ["ok"])
        try test.until { test.pool.load.holder == .nobody && test.pool.load.waitingReaders == 0 }
    }

    final class Failures: Sendable {
        private let list = Mutex<[String]>([])
        func check(_ isTrue: Bool, _ what: String) { if !isTrue { list.withLock { $0.append(what) } } }
        var all: [String] { list.withLock { $0 } }
    }
}
