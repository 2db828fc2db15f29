import PostgresWire
import Synchronization
import Testing

@testable import Pool
@testable import Server

/// Query messages of very many statements: they can be stopped between any two, and keep no thread to themselves.
@Suite struct TurnTests {
    private func session(of client: RawClient, _ test: TestServer) throws -> Session {
        try #require(test.server.table.session(processID: client.processID))
    }

    /// Waits until its thread has answered and let go of it; the test owns it then.
    private func own(_ client: RawClient, _ test: TestServer) throws -> Session {
        let announced = try session(of: client, test)
        var owned: Session?
        try test.until {
            owned = test.server.table.own(slot: announced.slot, generation: announced.generation)
            return owned != nil
        }
        return try #require(owned)
    }

    // MARK: Cancels

    /// Between two statements of a message, or of what was received of a pipeline, a cancel is for the next; behind the last it is for
    /// none.
    @Test func aCancelBetweenTwoStatements() throws {
        let test = try TestServer()
        let client = try test.connect()
        try client.query("SELECT 1")
        let session = try own(client, test)
        try session.beginStatement()
        session.finishStatement(isFollowed: true)
        #expect(!session.cancel())
        #expect(throws: WireError.self) { try session.beginStatement() }
        session.endStatement()
        session.running.wasCancelled = false
        // Without a Query message it is a statement of a pipeline.
        try session.beginStatement()
        session.finishStatement()
        #expect(!session.cancel())
        #expect(throws: WireError.self) { try session.beginStatement() }
        session.endPipeline()
        // Its client has sent no more of it.
        try session.beginStatement()
        session.finishStatement()
        session.pauseActivity()
        #expect(!session.cancel() && !session.running.wasCancelled)
        try session.beginStatement()
        session.endStatement()
        #expect(!session.cancel() && !session.running.wasCancelled)
        try session.beginStatement()
        session.endStatement()
        session.disownAndArm()
        #expect(try client.query("SELECT 2").picture == "2 SELECT 1 I")
    }

    /// All that was sent has been answered when it comes, but the session does not wait for its client yet: it is not for what comes next,
    /// however late that is. What has been received behind it is another matter.
    @Test func aCancelBetweenTheReplyAndTheWait() throws {
        let test = try TestServer()
        let client = try test.connect()
        try client.query("SELECT 1")
        let session = try own(client, test)
        try session.beginStatement()
        session.finishStatement()
        #expect(!session.cancel())
        session.pauseActivity()
        try session.beginStatement()
        session.finishStatement()
        session.pauseActivity()
        session.resumeActivity()
        #expect(!session.cancel())
        #expect(throws: WireError.self) { try session.beginStatement() }
        session.endPipeline()
        session.disownAndArm()
        #expect(try client.query("SELECT 2").picture == "2 SELECT 1 I")
    }

    /// Each cancel that was taken for a running statement's is seen by somebody.
    @Test func noCancelIsLostAtTheEndOfAStatement() throws {
        let test = try TestServer()
        let client = try test.connect()
        try client.query("SELECT 1")
        let session = try own(client, test)
        let counts = Counts()
        onThreads(2) { number in
            guard number == 0 else {
                while !counts.isOver.load(ordering: .relaxed) {
                    let (exchanged, _) = session.activity.compareExchange(
                        expected: .running, desired: .cancelled, ordering: .sequentiallyConsistent)
                    if exchanged { counts.taken.add(1, ordering: .relaxed) }
                }
                return
            }
            var round = 0
            // Once at least, on however busy a machine.
            while round < 200_000 || counts.taken.load(ordering: .relaxed) == 0 {
                round += 1
                do { try session.beginStatement() } catch { Issue.record("\(error)") }
                session.endStatement(isFollowed: round % 2 == 0)
                if round % 2 == 0 { session.endStatement() }
                if session.running.wasCancelled { counts.seen.add(1, ordering: .relaxed) }
                session.running.wasCancelled = false
            }
            counts.isOver.store(true, ordering: .relaxed)
        }
        #expect(counts.taken.load(ordering: .relaxed) == counts.seen.load(ordering: .relaxed))
        session.disownAndArm()
        #expect(try client.query("SELECT 2").picture == "2 SELECT 1 I")
    }

    /// Its client does not read, so the session waits between two statements when the cancel comes.
    @Test func aCancelOfAMessageWhoseRepliesAreNotRead() throws {
        let test = try TestServer()
        let client = try test.connect()
        client.sendQuery(String(repeating: "ROLLBACK;", count: 20_000))
        let session = try session(of: client, test)
        // Waiting to write, and let go of.
        try test.until {
            guard let owned = test.server.table.own(slot: session.slot, generation: session.generation) else { return false }
            defer { owned.announceEventAgain() }
            return owned.arming.interest == .writable
        }
        try client.cancel()
        #expect(try client.reply().errors == ["57014"])
    }

    // MARK: Turns

    /// None of its statements asks anybody whether it shall stop.
    @Test(arguments: ["SET a.b = 1;", "ROLLBACK;", "SHOW a.b;"])
    func whoIsKilledStopsBetweenStatements(_ statement: String) throws {
        let test = try TestServer()
        let client = try test.connect()
        try client.query("SET a.b = 1")
        try session(of: client, test).isKilled.store(true, ordering: .relaxed)
        // One that is short enough to be read before the clock is looked at.
        let reply = try client.query(String(repeating: statement, count: SessionTurn.stepsBetweenLooks - 2))
        #expect(reply.errors == ["57P01"])
        #expect(reply.tags.count <= 1)
    }

    /// What takes as long as many others counts as many.
    @Test func whoIsKilledStopsBetweenLongStatements() throws {
        let test = try TestServer()
        let console = try RawClient(test.configuration.socketPath)
        try console.startUp([("user", "tester"), ("database", "walpool")])
        try session(of: console, test).isKilled.store(true, ordering: .relaxed)
        let shown = try console.query(String(repeating: "SHOW LISTS;", count: 1_000))
        #expect(shown.errors == ["57P01"] && shown.tags.count <= 1)
    }

    @Test func whoIsKilledStopsBetweenLongMessages() throws {
        let test = try TestServer()
        let client = try test.connect()
        try session(of: client, test).isKilled.store(true, ordering: .relaxed)
        let text = "SET a.b = '\(String(repeating: "x", count: 20_000))'"
        client.send(Array(repeatElement(RawClient.message("Q", RawClient.string(text)), count: 20).joined()))
        var (count, reply) = (0, try client.reply())
        while reply.status != nil { (count, reply) = (count + 1, try client.reply()) }
        #expect(count <= 1 && reply.errors == ["57P01"])
    }

    /// Before any of its statements has run.
    @Test func whoIsKilledStopsWhileItIsRead() throws {
        let test = try TestServer()
        let client = try test.connect()
        try session(of: client, test).isKilled.store(true, ordering: .relaxed)
        // Of which the last is an error.
        let reply = try client.query(String(repeating: "SET a.b = 1;", count: 1_000) + "SELEC 1")
        #expect(reply.errors == ["57P01"] && reply.tags.isEmpty)
    }

    /// So does a pipeline that has been received at once.
    @Test func whoIsKilledStopsBetweenMessages() throws {
        let test = try TestServer()
        let client = try test.connect()
        try session(of: client, test).isKilled.store(true, ordering: .relaxed)
        client.send(Array(repeatElement(RawClient.message("Q", RawClient.string("ROLLBACK")), count: 500).joined()))
        var (count, reply) = (0, try client.reply())
        while reply.status != nil { (count, reply) = (count + 1, try client.reply()) }
        #expect(count < 2 * SessionTurn.stepsBetweenLooks && reply.errors == ["57P01"])
    }

    /// As many such messages as there are threads, each of which its client reads: somebody else is answered before any is over.
    @Test func othersHaveTheirTurn() throws {
        let test = try TestServer { $0.pool.readers = 1 }
        let count = test.server.threadCount
        let clients = try (0..<count).map { _ in try test.connect() }
        let sessions = try clients.map { try session(of: $0, test) }
        // Each thread uses a client of its own.
        let shared = SendableBox((clients: clients, bystander: try test.connect()))
        let isUnderWay: @Sendable () -> Bool = { sessions.allSatisfy { $0.activity.load(ordering: .relaxed) != .none } }
        let counts = Counts()
        // Of some seconds at least, had they not been cancelled.
        let message = String(repeating: "SET a.b=1;", count: 200_000)
        onThreads(count + 1) { number in
            do {
                guard number == count else {
                    let reply = try shared.value.clients[number].query(message)
                    if reply.errors == ["57014"] { counts.cancelled.add(1, ordering: .relaxed) }
                    return
                }
                try test.until(isUnderWay)
                let reply = try shared.value.bystander.query("SHOW lock_timeout")
                #expect(reply.tags == ["SHOW"])
                #expect(isUnderWay())
                for client in shared.value.clients { try client.cancel() }
            } catch { Issue.record("\(number): \(error)") }
        }
        #expect(counts.cancelled.load(ordering: .relaxed) == count)
    }

    private final class Counts: Sendable {
        let taken = Atomic(0)
        let seen = Atomic(0)
        let cancelled = Atomic(0)
        let isOver = Atomic(false)
    }

    /// What only one thread of the test uses at a time.
    private struct SendableBox<Value>: @unchecked Sendable {
        let value: Value
        init(_ value: Value) { self.value = value }
    }
}
