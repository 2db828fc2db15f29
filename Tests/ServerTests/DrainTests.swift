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
    /// Blocks begin on several threads while pauses come and go. Whenever one is complete nobody has begun, and nobody has
    /// a connection.
    @Test func nobodyBeginsUnseen() throws {
        final class Counts: Sendable {
            let failures = Atomic<Int>(0)
            let isOver = Atomic<Bool>(false)
        }
        let test = try TestServer()
        let counts = Counts()
        let path = test.configuration.socketPath
        @Sendable func fails() { counts.failures.wrappingAdd(1, ordering: .relaxed) }
        onThreads(4) { thread in
            if thread == 0 {
                defer { counts.isOver.store(true, ordering: .sequentiallyConsistent) }
                for round in 1...300 {
                    guard test.pool.beginPause(by: -100 - round) else { return fails() }
                    while true {
                        let nobodyPasses = test.server.table.sessions.allSatisfy {
                            !$0.blockPassesPause.load(ordering: .sequentiallyConsistent)
                        }
                        let result = test.pool.completePause(by: -100 - round, nobodyPasses: nobodyPasses)
                        if result?.isComplete == true { break }
                        sched_yield()
                    }
                    for _ in 0..<20 {
                        let view = test.pool.view
                        let passes = test.server.table.sessions.contains {
                            $0.blockPassesPause.load(ordering: .sequentiallyConsistent)
                                && $0.announcedStatus == .inTransaction
                        }
                        if passes || view.holder != .nobody || !view.readerUsers.isEmpty { fails() }
                    }
                    for resumption in test.pool.endPause() ?? [] { test.server.ready.enqueue(resumption) }
                }
            } else {
                guard let client = try? RawClient(path), (try? client.startUp([("user", "u"), ("database", "app")])) != nil
                else { return fails() }
                var number = thread << 32
                while !counts.isOver.load(ordering: .sequentiallyConsistent) {
                    number += 1
                    for sql in ["BEGIN", "SELECT count(*) FROM parent", "INSERT INTO parent VALUES (\(number))", "COMMIT"] {
                        if (try? client.query(sql))?.errors.isEmpty != true { fails() }
                    }
                }
            }
        }
        #expect(counts.failures.load(ordering: .relaxed) == 0)
    }
}
