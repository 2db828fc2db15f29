import Glibc
import SQLite
import Testing

@testable import Pool
@testable import Scheduling
@testable import Server

@Suite struct WritingTests {
    // MARK: One client

    @Test func simpleQueries() throws {
        let test = try TestServer()
        let client = try test.connect()
        let script: [(String, String)] = [
            ("SELECT 1", "1 SELECT 1 I"),
            ("", "I"),
            ("INSERT INTO t VALUES(1, 10), (2, 20)", "INSERT 0 2 I"),
            ("SELECT id, n FROM t; SELECT count(*) FROM t", "1|10 2|20 2 SELECT 2 SELECT 1 I"),
            ("UPDATE t SET n = n + 1 WHERE id = 1 RETURNING n", "11 UPDATE 1 I"),
            ("INSERT INTO t VALUES(1, 1)", "23505 I"),
            ("INSERT INTO t VALUES(3, 30); INSERT INTO t VALUES(1, 1)", "INSERT 0 1 23505 I"),
            ("SELECT count(*) FROM t", "2 SELECT 1 I"),
            ("BEGIN", "BEGIN T"),
            ("INSERT INTO t VALUES(4, 40)", "INSERT 0 1 T"),
            ("SELECT nonsense", "42703 E"),
            ("SELECT 1", "25P02 E"),
            ("COMMIT", "ROLLBACK I"),
            ("BEGIN; INSERT INTO t VALUES(5, 50); COMMIT; SELECT count(*) FROM t", "3 BEGIN INSERT 0 1 COMMIT SELECT 1 I"),
            ("DELETE FROM t", "DELETE 3 I"),
            ("SELEC 1", "42601 I"),
        ]
        for (sql, picture) in script { #expect(try client.query(sql).picture == picture, "\(sql)") }
    }

    @Test func extendedQueries() throws {
        let test = try TestServer()
        let client = try test.connect()
        client.send(
            RawClient.parse("INSERT INTO t VALUES($1, $2)", name: "i") + RawClient.bind(["1", "10"], statement: "i")
                + RawClient.execute() + RawClient.bind(["2", nil], statement: "i") + RawClient.execute()
                + RawClient.parse("SELECT id, n FROM t ORDER BY id") + RawClient.bind() + RawClient.describePortal()
                + RawClient.execute(maxRows: 1) + RawClient.execute() + RawClient.sync)
        let reply = try client.reply()
        #expect(reply.picture == "1|10 2|NULL INSERT 0 1 INSERT 0 1 SELECT 1 suspended I", "\(reply.texts)")
        // A pipeline is one transaction: the third fails, so the first two are undone, and what follows is skipped.
        client.send(
            RawClient.bind(["3", "3"], statement: "i") + RawClient.execute() + RawClient.bind(["4", "4"], statement: "i")
                + RawClient.execute() + RawClient.bind(["1", "5"], statement: "i") + RawClient.execute()
                + RawClient.bind(["6", "6"], statement: "i") + RawClient.execute() + RawClient.sync)
        #expect(try client.reply().picture == "INSERT 0 1 INSERT 0 1 23505 I")
        #expect(try test.look("SELECT id FROM t") == ["1", "2"])
    }

    // MARK: Groups

    ///     A                       clients 1 ... n
    ///     BEGIN IMMEDIATE
    ///                             1 sends an INSERT, and waits
    ///                             2 sends an INSERT, and waits ...
    ///     COMMIT
    ///                             all are answered, after few commits, in the order in which they came
    @Test(arguments: [(20, 128, 1), (10, 4, 3), (60, 128, 1)])
    func whoWaitsIsCommittedTogether(_ count: Int, _ limit: Int, _ groups: Int) throws {
        let test = try TestServer {
            $0.pool.groupMembers = limit
            $0.pool.groupMilliseconds = 10_000
        }
        let holder = try test.connect()
        let clients = try (1...count).map { _ in try test.connect() }
        #expect(try holder.query("BEGIN IMMEDIATE").picture == "BEGIN T")
        for (index, client) in clients.enumerated() {
            client.sendQuery("INSERT INTO t(n) VALUES(\(index + 1))")
            try test.untilWaitingWriters(index + 1)
        }
        let before = test.commits
        #expect(try holder.query("COMMIT").picture == "COMMIT I")
        for client in clients { #expect(try client.reply().picture == "INSERT 0 1 I") }
        #expect(try test.look("SELECT n FROM t ORDER BY id") == (1...count).map(String.init))
        #expect(test.commits - before == groups)
        // Nobody was answered twice.
        for client in clients { #expect(try client.query("SELECT 1").picture == "1 SELECT 1 I") }
    }

    /// Half of a large group is left to whoever comes first. Here nobody does, and all are answered nevertheless.
    ///
    ///     thread
    ///     answers half, and then the others
    ///     comes to what it had left, and finds nothing to do
    @Test(arguments: [(SessionLimits.sharedAnswers - 1, 1), (SessionLimits.sharedAnswers, 2)] as [(Int, UInt64)])
    func halfOfAGroupIsLeftToOthers(_ count: Int, _ wakeUps: UInt64) throws {
        let test = try SteppedServer { $0.pool.groupMilliseconds = 10_000 }
        let holder = try test.connect()
        let clients = try (1...count).map { _ in try test.connect() }
        holder.sendQuery("BEGIN IMMEDIATE")
        test.handleAll()
        for (index, client) in clients.enumerated() { client.sendQuery("INSERT INTO t(n) VALUES(\(index))") }
        test.handleAll()
        #expect(try holder.reply().picture == "BEGIN T" && test.server.pool.load.waitingWriters == count)
        // Whatever this machine has.
        test.server.crew.hasProcessorForClients.store(true, ordering: .relaxed)
        _ = test.takeWakeUps()
        // A COMMIT would be timed, and after a slow one a group's thread leaves to others what it has.
        holder.sendQuery("ROLLBACK")
        test.handleAll()
        // Nobody watches over threads here, and so the group's turn was announced to all, too.
        #expect(test.takeWakeUps() == wakeUps)
        for client in clients { #expect(try client.reply().picture == "INSERT 0 1 I") }
        #expect(test.server.ready.isEmpty)
        for client in clients { client.sendQuery("SELECT 1") }
        test.handleAll()
        for client in clients { #expect(try client.reply().picture == "1 SELECT 1 I") }
    }

    /// Each member has its own answer and its own effect, whatever becomes of the others.
    ///
    ///     A                       clients 1 ... n
    ///     BEGIN IMMEDIATE
    ///                             each sends its query, and waits
    ///     COMMIT
    ///                             each has its answer
    @Test func membersOfAllKinds() throws {
        let test = try TestServer()
        let queries: [(String, String)] = [
            ("INSERT INTO t VALUES(1, 1)", "INSERT 0 1 I"),
            ("INSERT INTO t VALUES(2, 2) RETURNING id", "2 INSERT 0 1 I"),
            ("INSERT INTO t VALUES(3, 1)", "23505 I"),
            ("INSERT INTO t VALUES(4, 4), (1, 4)", "23505 I"),
            ("INSERT OR FAIL INTO t VALUES(5, 5), (1, 5)", "23505 I"),
            ("INSERT OR ROLLBACK INTO t VALUES(1, 6)", "23505 I"),
            ("INSERT INTO tripwire VALUES(1)", "P0001 I"),
            ("INSERT INTO child VALUES(7)", "23503 I"),
            ("INSERT INTO child VALUES(8); INSERT INTO parent VALUES(8)", "INSERT 0 1 INSERT 0 1 I"),
            ("BEGIN; INSERT INTO t VALUES(9, 9); INSERT INTO child VALUES(9); COMMIT", "BEGIN INSERT 0 1 INSERT 0 1 23503 I"),
            ("BEGIN; INSERT INTO t VALUES(10, 10); COMMIT", "BEGIN INSERT 0 1 COMMIT I"),
            ("BEGIN; INSERT INTO t VALUES(11, 11); ROLLBACK", "BEGIN INSERT 0 1 ROLLBACK I"),
            ("INSERT INTO t VALUES(12, 12); INSERT INTO t VALUES(1, 12)", "INSERT 0 1 23505 I"),
            ("BEGIN; INSERT INTO t VALUES(13, 13); INSERT INTO t VALUES(1, 13); COMMIT", "BEGIN INSERT 0 1 23505 E"),
            ("UPDATE t SET n = n + 100 WHERE id = 2 RETURNING n", "102 UPDATE 1 I"),
            ("INSERT INTO t VALUES(16, 16)", "INSERT 0 1 I"),
        ]
        let holder = try test.connect()
        let clients = try queries.map { _ in try test.connect() }
        // Once around without waiting, so that this also holds outside of groups.
        for (client, (sql, picture)) in zip(clients, queries) { #expect(try client.query(sql).picture == picture, "\(sql)") }
        let alone = try test.look("SELECT * FROM t ORDER BY 1")
        try clients[13].query("ROLLBACK")
        try holder.query("DELETE FROM t; DELETE FROM child; DELETE FROM parent")

        try holder.query("BEGIN IMMEDIATE")
        for (index, (client, (sql, _))) in zip(clients, queries).enumerated() {
            client.sendQuery(sql)
            try test.untilWaitingWriters(index + 1)
        }
        try holder.query("COMMIT")
        for (client, (sql, picture)) in zip(clients, queries) { #expect(try client.reply().picture == picture, "\(sql)") }
        #expect(alone == ["1|1", "2|102", "10|10", "16|16"])
        #expect(try test.look("SELECT * FROM t ORDER BY 1") == alone)
        #expect(try test.look("SELECT p FROM child") == ["8"])
        // And every session is as good as new.
        try clients[13].query("ROLLBACK")
        for client in clients { #expect(try client.query("SELECT 1").picture == "1 SELECT 1 I") }
    }

    /// Transactions and members keep their places.
    ///
    ///     A                   1               2               3               4
    ///     BEGIN IMMEDIATE
    ///                         INSERT, waits
    ///                                         BEGIN; waits for its INSERT
    ///                                                         INSERT, waits
    ///     COMMIT
    ///                         answered
    ///                                         answered; holds the writer
    ///                                         COMMIT
    ///                                                         answered
    @Test func aTransactionKeepsItsPlace() throws {
        let test = try TestServer()
        let clients = try (0...3).map { _ in try test.connect() }
        try clients[0].query("BEGIN IMMEDIATE")
        try clients[2].query("BEGIN")
        for n in 1...3 {
            clients[n].sendQuery("INSERT INTO t(n) VALUES(\(n))")
            try test.untilWaitingWriters(n)
        }
        try clients[0].query("COMMIT")
        #expect(try clients[1].reply().picture == "INSERT 0 1 I")
        #expect(try clients[2].reply().picture == "INSERT 0 1 T")
        #expect(test.pool.load.waitingWriters == 1)
        #expect(try test.look("SELECT n FROM t") == ["1"])
        try clients[2].query("COMMIT")
        #expect(try clients[3].reply().picture == "INSERT 0 1 I")
        #expect(try test.look("SELECT n FROM t ORDER BY id") == ["1", "2", "3"])
    }

    /// The only one, which has been answered.
    private func ownSession(of test: TestServer) throws -> Session {
        let announced = try #require(test.server.table.sessions.first)
        var owned: Session?
        // Its thread is about to let go of it.
        while owned == nil { owned = test.server.table.own(slot: announced.slot, generation: announced.generation) }
        return try #require(owned)
    }

    /// A member that runs again is at the same statement: it has no more time than it had, a cancel that comes in between
    /// is for it, and what its first run said of leaving is undone with that run. It waits for the writer anew.
    @Test func aMemberThatRunsAgain() throws {
        let test = try TestServer()
        let client = try test.connect()
        try client.query("SELECT 1")
        let session = try ownSession(of: test)
        session.state.settings.lockTimeoutMilliseconds = 60_000
        try session.beginStatement()
        session.running.deadline = Instant(nanoseconds: 5)
        session.running.lockDeadline = Instant(nanoseconds: 7)
        session.mark(mayRunAgain: true)
        // Its first run, which ended with FATAL.
        session.endStatement()
        session.running.deadline = .distantFuture
        session.isClosing = true

        session.rewind()
        #expect(!session.cancel())
        try session.beginStatement()

        #expect(session.running.deadline == Instant(nanoseconds: 5))
        #expect(session.running.lockDeadline > Instant(nanoseconds: 7) && session.running.lockDeadline < .distantFuture)
        #expect(session.reasonToStop(now: Instant(nanoseconds: 4)) == .cancelled)
        #expect(!session.isClosing)
        session.endStatement()
        // With its message the cancel ends, too.
        #expect(session.running.wasCancelled)
        session.running.wasCancelled = false
        session.disownAndArm()
        #expect(try client.query("SELECT 2").picture == "2 SELECT 1 I")
    }

    /// What a member remembered for a group whose writer failed does not come back with the error of a later commit, which it makes alone.
    @Test func whatWasRememberedForAnotherGroup() throws {
        let test = try TestServer()
        let client = try test.connect()
        try client.query("SELECT 1")
        let session = try ownSession(of: test)
        session.mark(mayRunAgain: true)
        session.rewind()
        session.state.settings.applicationName = "set since"
        session.member.isSingleStatement = true
        session.mark(mayRunAgain: false)
        #expect(session.member.markedState == nil && session.member.markedPortals.isEmpty)
        session.commitFailed(SQLiteError(extendedCode: 787, message: "FOREIGN KEY constraint failed"))
        #expect(session.state.settings.applicationName == "set since")
        // What its own transaction has set goes back.
        session.writerMode = .group
        try session.change { $0.applicationName = "set in another group" }
        session.keepSettings()
        session.mark(mayRunAgain: false)
        #expect(session.member.settingsBefore == nil)
        session.state.settings.applicationName = "set since"
        try session.change { $0.applicationName = "set in the transaction" }
        session.keepSettings()
        session.writerMode = .none
        session.commitFailed(SQLiteError(extendedCode: 787, message: "FOREIGN KEY constraint failed"))
        #expect(session.state.settings.applicationName == "set since")
        session.close()
    }

    ///     holder              others                              thread
    ///     BEGIN IMMEDIATE
    ///                         INSERT, wait
    ///                                                             (the disk fails)
    ///     ROLLBACK
    ///                                                             commits them, is told that the disk has failed, tells each of them
    ///
    /// A reply that waits for others' may be taken from the thread, and then recovery may end the process before it is sent. For four whose
    /// sync is dear the thread keeps the writer.
    @Test(arguments: [(false, 2), (true, 2), (false, 4), (true, 4)]) func whatFailedIsToldAtOnce(_ fails: Bool, _ count: Int) throws {
        let test = try SteppedServer { $0.pool.durability = .pipelined }
        let sync = try #require(test.server.pool.pipelinedSync)
        if count >= GroupGathering.fewestMembers { sync.meanNanoseconds.store(1_000_000_000, ordering: .relaxed) }
        let holder = try test.connect()
        let others = try (0..<count).map { _ in try test.connect() }
        holder.sendQuery("BEGIN IMMEDIATE")
        test.handleAll()
        for other in others { other.sendQuery("INSERT INTO big(n) VALUES (1)") }
        test.handleAll()
        if fails { sync.close(SQLiteError(extendedCode: 1034, message: "the disk failed")) }
        test.worker.repliesSince = 0
        holder.sendQuery("ROLLBACK")
        test.handleAll()
        #expect((test.worker.repliesSince == 0) == fails)
        for other in others { #expect(try other.reply().picture == (fails ? "08007 I" : "INSERT 0 1 I")) }
    }

    // MARK: Clients that go

    ///     A                       B
    ///     BEGIN IMMEDIATE, INSERT
    ///                             INSERT, waits
    ///     is killed
    ///                             answered; A's row is not there
    @Test(arguments: ["BEGIN IMMEDIATE; INSERT INTO t VALUES(1, 1)", "BEGIN; INSERT INTO t VALUES(1, 1)", "BEGIN IMMEDIATE"])
    func aHolderThatIsKilled(_ sql: String) throws {
        let test = try TestServer()
        let (a, b) = (try test.connect(), try test.connect())
        #expect(try a.query(sql).status == "T")
        b.sendQuery("INSERT INTO t VALUES(2, 2)")
        try test.untilWaitingWriters(1)
        a.close()
        #expect(try b.reply().picture == "INSERT 0 1 I")
        #expect(try test.look("SELECT id FROM t") == ["2"])
        try test.until { test.server.table.count == 1 }
    }

    /// One that is killed while it waits keeps nobody.
    @Test func aWaiterThatIsKilled() throws {
        let test = try TestServer()
        let (a, b, c) = (try test.connect(), try test.connect(), try test.connect())
        try a.query("BEGIN IMMEDIATE")
        b.sendQuery("BEGIN IMMEDIATE")
        try test.untilWaitingWriters(1)
        c.sendQuery("INSERT INTO t VALUES(3, 3)")
        try test.untilWaitingWriters(2)
        b.close()
        try a.query("COMMIT")
        #expect(try c.reply().picture == "INSERT 0 1 I")
        try test.until { test.server.table.count == 2 }
    }

    // MARK: Cancelling

    ///     A                       B               C
    ///     BEGIN IMMEDIATE
    ///                             INSERT, waits
    ///                                             INSERT, waits
    ///                             (wrong keys: nothing)
    ///                             cancel: 57014
    ///     COMMIT
    ///                                             answered
    @Test func aWaiterIsCancelled() throws {
        let test = try TestServer()
        let (a, b, c) = (try test.connect(), try test.connect(), try test.connect())
        try a.query("BEGIN IMMEDIATE")
        b.sendQuery("INSERT INTO t VALUES(1, 1)")
        try test.untilWaitingWriters(1)
        c.sendQuery("INSERT INTO t VALUES(2, 2)")
        try test.untilWaitingWriters(2)
        for wrong in [[], [UInt8](b.key.dropLast()), b.key.map { ~$0 }, b.key + [0]] where wrong != [] {
            try b.cancel(key: wrong)
        }
        #expect(test.pool.load.waitingWriters == 2)
        try b.cancel()
        #expect(try b.reply().picture == "57014 I")
        #expect(test.pool.load.waitingWriters == 1)
        try a.query("COMMIT")
        #expect(try c.reply().picture == "INSERT 0 1 I")
        #expect(try b.query("INSERT INTO t VALUES(3, 3)").picture == "INSERT 0 1 I")
        #expect(try test.look("SELECT id FROM t") == ["2", "3"])
    }

    /// A cancel that comes after the answer is for nobody.
    @Test func aLateCancel() throws {
        let test = try TestServer()
        let (a, b) = (try test.connect(), try test.connect())
        for n in 1...20 {
            #expect(try a.query("INSERT INTO t VALUES(\(n), \(n))").picture == "INSERT 0 1 I")
            try a.cancel()
            // Neither the next statement that runs nor the next that waits.
            #expect(try a.query("SELECT \(n)").picture == "\(n) SELECT 1 I")
        }
        try a.cancel()
        try b.query("BEGIN IMMEDIATE")
        a.sendQuery("INSERT INTO t VALUES(100, 100)")
        try test.untilWaitingWriters(1)
        try b.query("COMMIT")
        #expect(try a.reply().picture == "INSERT 0 1 I")
    }

    private static let endless = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c"

    /// A statement that runs is cancelled, on a reader and on the writer.
    @Test(arguments: [
        ("", endless, "57014 I"), ("BEGIN IMMEDIATE", endless, "57014 E"),
        ("", "INSERT INTO t(n) \(endless)", "57014 I"),
    ])
    func aRunningStatementIsCancelled(_ before: String, _ sql: String, _ picture: String) throws {
        let test = try TestServer()
        let client = try test.connect()
        try client.query(before)
        client.sendQuery(sql)
        try test.until {
            test.server.table.session(processID: client.processID)?.activity.load(ordering: .sequentiallyConsistent) == .running
        }
        try client.cancel()
        #expect(try client.reply().picture == picture)
        try client.query("ROLLBACK")
        #expect(try client.query("INSERT INTO t VALUES(1, 1)").picture == "INSERT 0 1 I")
    }

    // MARK: Limits of time

    ///     A                       B
    ///     BEGIN IMMEDIATE
    ///                             INSERT, waits until its limit: its error
    ///     COMMIT
    ///                             INSERT: done
    @Test(arguments: [
        ("lock_timeout", "INSERT INTO t VALUES(1, 1)", "55P03 I"),
        ("statement_timeout", "INSERT INTO t VALUES(1, 1)", "57014 I"),
        ("lock_timeout", "BEGIN IMMEDIATE", "55P03 I"),
        ("lock_timeout", "BEGIN; INSERT INTO t VALUES(1, 1)", "BEGIN 55P03 E"),
        ("transaction_timeout", "BEGIN; INSERT INTO t VALUES(1, 1)", "BEGIN 25P04 closed"),
    ])
    func aWaitThatIsTooLong(_ setting: String, _ sql: String, _ picture: String) throws {
        let test = try TestServer()
        let (a, b) = (try test.connect(), try test.connect([(setting, "30ms")]))
        try a.query("BEGIN IMMEDIATE")
        #expect(try b.query(sql).picture == picture)
        #expect(test.pool.load.waitingWriters == 0)
        try a.query("COMMIT")
        guard !picture.hasSuffix("closed") else { return }
        try b.query("ROLLBACK")
        #expect(try b.query("INSERT INTO t VALUES(2, 2)").picture == "INSERT 0 1 I")
    }

    @Test func aStatementThatIsTooLong() throws {
        let test = try TestServer()
        let client = try test.connect([("statement_timeout", "20ms")])
        #expect(try client.query(Self.endless).picture == "57014 I")
        #expect(try client.query("SET statement_timeout = 0; SELECT 1").picture == "1 SET SELECT 1 I")
        #expect(try client.query("SET transaction_timeout = 20; BEGIN; \(Self.endless)").picture == "SET BEGIN 25P04 closed")
    }

    /// The connection ends, its transaction with it, and who waited is next.
    @Test(arguments: [
        ("idle_in_transaction_session_timeout", "25P03"), ("transaction_timeout", "25P04"),
    ])
    func anIdleTransaction(_ setting: String, _ state: String) throws {
        let test = try TestServer()
        let (a, b) = (try test.connect([(setting, "30ms")]), try test.connect())
        // It is no limit outside of a transaction.
        #expect(try a.query("SELECT 1").picture == "1 SELECT 1 I")
        a.sendQuery("BEGIN; INSERT INTO t VALUES(1, 1)")
        #expect(try a.replies { $0 == "Z" }.picture == "BEGIN INSERT 0 1 T")
        let end = try a.reply()
        #expect(end.errors == [state] && end.severities == ["FATAL"] && end.status == nil)
        #expect(try b.query("INSERT INTO t VALUES(2, 2)").picture == "INSERT 0 1 I")
        #expect(try test.look("SELECT id FROM t") == ["2"])
    }

    ///     A                       B
    ///     BEGIN IMMEDIATE
    ///     is idle far longer than the limit, and nobody waits
    ///     INSERT: done
    ///                             INSERT, waits
    ///     is told, and closed
    ///                             answered
    @Test func anIdleHolderIsEvictedForAWaiter() throws {
        let test = try TestServer { $0.pool.writerIdleMilliseconds = 20 }
        let (a, b) = (try test.connect(), try test.connect())
        try a.query("BEGIN IMMEDIATE")
        let began = MonotonicClock.now
        while MonotonicClock.now.milliseconds(since: began) < 100 { try b.query("SELECT 1") }
        #expect(try a.query("INSERT INTO t VALUES(1, 1)").picture == "INSERT 0 1 T")
        #expect(try b.query("INSERT INTO t VALUES(2, 2)").picture == "INSERT 0 1 I")
        #expect(try a.reply().picture == "25P03 closed")
        #expect(try test.look("SELECT id FROM t") == ["2"])
    }
}
