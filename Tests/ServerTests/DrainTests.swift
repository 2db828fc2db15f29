import Glibc
import Synchronization
import Testing

@testable import Pool
@testable import Server

@Suite struct DrainTests {
    final class Requests: Sendable {
        let count = Atomic<Int>(0)
    }

    private func counted(_ test: TestServer) -> Requests {
        let requests = Requests()
        test.server.onShutdown { requests.count.wrappingAdd(1, ordering: .relaxed) }
        return requests
    }

    /// Clients that leave at the same moment on several threads ask for one stop, not before the last of them.
    @Test func onceHoweverManyLeave() throws {
        let test = try TestServer()
        let requests = counted(test)
        let clients = try (0..<40).map { _ in try test.connect() }
        let last = try test.connect()
        test.server.drain()
        #expect(!fileExists(test.configuration.socketPath))
        #expect(throws: RawClient.Gone.self) { try RawClient(test.configuration.socketPath) }
        nonisolated(unsafe) let leaving = clients  // Each thread closes its own.
        onThreads(8) { thread in
            for index in stride(from: thread, to: leaving.count, by: 8) { leaving[index].close() }
        }
        try test.until { test.server.table.count == 1 }
        #expect(requests.count.load(ordering: .relaxed) == 0)
        #expect(try last.query("SELECT 1").picture == "1 SELECT 1 I")
        last.close()
        try test.until { requests.count.load(ordering: .relaxed) > 0 }
        test.stop()
        #expect(requests.count.load(ordering: .relaxed) == 1)
    }

    /// Who has connected before the drain and is about to say who it is becomes a client like the others.
    @Test func whoIsJustConnectingIsWaitedFor() throws {
        let test = try TestServer()
        let requests = counted(test)
        let connecting = try RawClient(test.configuration.socketPath)
        try test.until { test.server.table.count == 1 }
        test.server.drain()
        try connecting.startUp([("user", "tester"), ("database", "app")])
        #expect(try connecting.query("SELECT 1").picture == "1 SELECT 1 I")
        // However long it stays from now on.
        test.server.lookAtDrain(now: .distantFuture)
        #expect(requests.count.load(ordering: .relaxed) == 0)
        connecting.close()
        try test.until { requests.count.load(ordering: .relaxed) > 0 }
        test.stop()
        #expect(requests.count.load(ordering: .relaxed) == 1)
    }

    /// One that says nothing is not waited for for long, and does not begin between that and the stop.
    @Test func whoSaysNothingKeepsNobody() throws {
        let test = try TestServer()
        let requests = counted(test)
        let silent = try RawClient(test.configuration.socketPath)
        try test.until { test.server.table.count == 1 }
        test.server.drain()
        #expect(requests.count.load(ordering: .relaxed) == 0)
        // By the timer.
        try test.until { requests.count.load(ordering: .relaxed) > 0 }
        #expect(try silent.startUp([("user", "tester"), ("database", "app")]).errors == ["57P03"])
        test.stop()
        #expect(requests.count.load(ordering: .relaxed) == 1)
    }

    /// Clients that come while a drain begins are in the table and served until they leave, or were never accepted.
    @Test func nobodyStartsBesideTheStop() throws {
        for _ in 0..<30 {
            let test = try TestServer()
            let requests = counted(test)
            let (path, served) = (test.configuration.socketPath, Requests())
            onThreads(4) { thread in
                if thread == 0 {
                    while served.count.load(ordering: .relaxed) == 0 { sched_yield() }
                    test.server.drain()
                    while requests.count.load(ordering: .sequentiallyConsistent) == 0 { sched_yield() }
                    return test.stop()
                }
                for _ in 0..<20 {
                    guard let client = try? RawClient(path) else { return }
                    // Told by the kernel, where nobody has accepted it, and never ended in the middle.
                    guard let reply = try? client.startUp([("user", "u"), ("database", "app")]), reply.status != nil else { continue }
                    #expect((try? client.query("SELECT 1").picture) == "1 SELECT 1 I")
                    #expect(requests.count.load(ordering: .sequentiallyConsistent) == 0)
                    served.count.add(1, ordering: .relaxed)
                    client.close()
                }
            }
            #expect(requests.count.load(ordering: .relaxed) == 1)
        }
    }

    @Test func atOnceWhenNobodyIsThere() throws {
        let test = try TestServer()
        let requests = counted(test)
        test.server.drain()
        #expect(requests.count.load(ordering: .relaxed) == 1)
    }

    /// A server that nobody told how to stop says so, and goes on.
    @Test func withoutAProcess() throws {
        let test = try TestServer()
        let admin = try RawClient(test.configuration.socketPath)
        try admin.startUp([("user", "tester"), ("database", "walpool")])
        #expect(try admin.query("SHUTDOWN").errors == ["0A000"])
        #expect(try admin.query("RELOAD").errors == ["F0000"])
        #expect(try test.connect().query("SELECT 1").picture == "1 SELECT 1 I")
    }
}

@Suite struct PauseRaceTests {
    /// Blocks begin on several threads while pauses come and go. Whenever one is complete no client has begun, and none has
    /// a connection. The daemon's own jobs may have: they pass.
    @Test func nobodyBeginsUnseen() throws {
        final class Findings: Sendable {
            let all = Mutex<Set<String>>([])
            let isOver = Atomic<Bool>(false)
        }
        let test = try TestServer()
        let findings = Findings()
        let path = test.configuration.socketPath
        @Sendable func fails(_ finding: String) { _ = findings.all.withLock { $0.insert(finding) } }
        onThreads(4) { thread in
            if thread == 0 {
                defer { findings.isOver.store(true, ordering: .sequentiallyConsistent) }
                for round in 1...300 {
                    guard test.pool.beginPause(by: -100 - round) else { return fails("somebody else has paused") }
                    while true {
                        let nobodyPasses = test.server.table.sessions.allSatisfy {
                            !$0.blockPassesPause.load(ordering: .sequentiallyConsistent)
                        }
                        guard let result = test.pool.completePause(by: -100 - round, nobodyPasses: nobodyPasses)
                        else { return fails("somebody else has ended the pause") }
                        for resumption in result.resumptions { test.server.ready.enqueue(resumption) }
                        if result.isComplete { break }
                        sched_yield()
                    }
                    for _ in 0..<20 {
                        switch test.pool.view.holder {
                        case .nobody, .job: break
                        case let holder: fails("\(holder) has the writer")
                        }
                        for session in test.server.table.sessions {
                            if session.blockPassesPause.load(ordering: .sequentiallyConsistent), session.announcedStatus == .inTransaction {
                                fails("a block has begun")
                            }
                            if session.hasReader.load(ordering: .sequentiallyConsistent) { fails("a client has a reader") }
                        }
                    }
                    for resumption in test.pool.endPause() ?? [] { test.server.ready.enqueue(resumption) }
                }
            } else {
                guard let client = try? RawClient(path), (try? client.startUp([("user", "u"), ("database", "app")])) != nil
                else { return fails("a client is not let in") }
                var number = thread << 32
                while !findings.isOver.load(ordering: .sequentiallyConsistent) {
                    number += 1
                    for sql in ["BEGIN", "SELECT count(*) FROM parent", "INSERT INTO parent VALUES (\(number))", "COMMIT"] {
                        do {
                            let reply = try client.query(sql)
                            if !reply.errors.isEmpty { fails("\(sql): \(reply.picture)") }
                        } catch {
                            fails("\(sql): \(error)")
                        }
                    }
                }
            }
        }
        #expect(findings.all.withLock { $0 } == [])
    }
}
