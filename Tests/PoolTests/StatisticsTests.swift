import POSIX
import Testing

@testable import Pool
@testable import SQLite
@testable import Scheduling

@Suite struct StatisticsTests {
    /// Adds up what it is told, by text.
    private final class Observer: StatementObserver {
        let told = Locked<[String: StatementUsage]>([:])
        /// Done when it is told next, and only then.
        let meanwhile = Locked<(@Sendable () -> Void)?>(nil)
        func didUse(_ text: SQLText, _ usage: StatementUsage) {
            told.withLock { $0[String(decoding: text.bytes, as: UTF8.self), default: StatementUsage()] += usage }
            var step: (@Sendable () -> Void)?
            meanwhile.withLock { swap(&step, &$0) }
            step?()
        }
        subscript(_ text: String) -> StatementUsage? { told.withLock { $0[text] } }
    }

    private let observer = Observer()

    private func pool(_ adjust: (inout PoolLimits) -> Void = { _ in }) throws -> TestPool {
        let test = try TestPool(adjust, observer: observer)
        try test.pool.writer.connection.executeInternal("INSERT INTO t VALUES (1, 3), (2, 2), (3, 1)")
        return test
    }

    private func run(_ connection: PooledConnection, _ sql: SQLText, nanoseconds: Int) throws {
        let lease = try connection.statement(for: sql)
        var rows = 0
        while try lease.statement.step() == .row { rows += 1 }
        lease.didRun(nanoseconds: nanoseconds, rows: rows)
        connection.giveBack(lease)
    }

    @Test func idleConnectionsTellWhenAsked() throws {
        let test = try pool()
        let sql = text("SELECT id FROM t ORDER BY v + 0")
        let client = test.member()
        guard case .granted(let index) = test.pool.requestReader(client, deadline: .distantFuture) else { return #expect(Bool(false)) }
        let reader = try test.pool.reader(at: index)
        try run(reader, sql, nanoseconds: 5)
        try run(reader, sql, nanoseconds: 7)
        // It is in use: it tells when it comes back, not before.
        #expect(test.pool.collect().isEmpty)
        #expect(observer["SELECT id FROM t ORDER BY v + 0"] == nil)
        #expect(test.pool.releaseReader(index) == nil)
        let usage = try #require(observer["SELECT id FROM t ORDER BY v + 0"])
        #expect((usage.calls, usage.rows, usage.nanoseconds, usage.longestNanoseconds) == (2, 6, 12, 7))
        #expect((usage.sorts, usage.fullScanSteps > 0) == (2, true))
        // Nothing is told twice, and nothing is lost.
        #expect(test.pool.collect().isEmpty)
        #expect(observer["SELECT id FROM t ORDER BY v + 0"] == usage)
        let readers = test.pool.statistics.readerConnections
        #expect((readers.statementHits, readers.statementMisses) == (1, 1))
        #expect(readers.pageHits > 0 && test.pool.statistics.pageCacheBytes > 0)
    }

    @Test func theWriterTellsWhenItIsReleased() throws {
        let test = try pool()
        let sql = text("UPDATE t SET v = v + 10")
        guard case .granted = test.pool.requestWriter(test.member(), .transaction, deadline: .distantFuture)
        else { return #expect(Bool(false)) }
        try run(test.pool.writer, sql, nanoseconds: 1)
        #expect(test.pool.collect().isEmpty && observer["UPDATE t SET v = v + 10"] == nil)
        #expect(test.pool.releaseWriter() == nil)
        #expect(observer["UPDATE t SET v = v + 10"]?.calls == 1)
        #expect(test.pool.statistics.writerConnection.statementMisses == 1)
        #expect(test.pool.load.holder == .nobody)
    }

    @Test func whatLeavesTheCacheTells() throws {
        let test = try pool { $0.statementsPerConnection = 2 }
        let writer = test.pool.writer
        for number in 0..<4 { try run(writer, text("SELECT \(number)"), nanoseconds: number) }
        #expect(observer["SELECT 0"]?.calls == 1 && observer["SELECT 1"]?.longestNanoseconds == 1)
        #expect(observer["SELECT 2"] == nil && observer["SELECT 3"] == nil)
        writer.forgetStatements()
        #expect(observer["SELECT 2"]?.calls == 1 && observer["SELECT 3"]?.calls == 1)
    }

    /// A second copy of a text is not kept; what it did is.
    @Test func aSecondCopyTells() throws {
        let test = try pool()
        let sql = text("SELECT v FROM t")
        let first = try test.pool.writer.statement(for: sql)
        try run(test.pool.writer, sql, nanoseconds: 9)
        #expect(observer["SELECT v FROM t"]?.nanoseconds == 9)
        test.pool.writer.giveBack(first)
    }

    /// What was prepared and never run is nobody's statement.
    @Test func whatDidNotRunIsNotTold() throws {
        let test = try pool()
        test.pool.writer.giveBack(try test.pool.writer.statement(for: text("SELECT 4")))
        _ = test.pool.collect()
        #expect(observer["SELECT 4"] == nil)
    }

    ///     collect                         client
    ///     takes the only reader
    ///                                     asks for a reader: waits
    ///     is told what it did
    ///                                     has the reader
    @Test func whoComesMeanwhileIsServed() throws {
        let test = try pool { $0.readers = 1 }
        try test.reading { try run($0, text("SELECT v FROM t"), nanoseconds: 1) }
        let client = test.member()
        observer.meanwhile.withLock {
            $0 = { [pool = test.pool] in #expect(pool.requestReader(client, deadline: .distantFuture).picture == "parked") }
        }
        #expect(test.pool.collect().map(\.picture) == ["\(client.clientID)@0"])
        #expect(test.pool.releaseReader(0) == nil)
    }

    @Test func commitsAreTimed() throws {
        let test = try pool()
        let before = test.pool.statistics.commits.count
        _ = test.run([test.member("INSERT INTO t VALUES (10, 10)")])
        #expect(test.pool.statistics.commits.count == before + 1 && test.pool.statistics.commits.sum > 0)
    }

    /// An outsider's checkpoints copy nothing that came after the oldest snapshot, and nobody else would end an idle reader's: of
    /// two readers that were used once the colder one is not used again for as long as one is enough.
    @Test func idleConnectionsGiveUpOldSnapshots() throws {
        let test = try pool()
        let indexes = try (0..<2).map { _ in try #require(test.pool.requestReader(test.member(), deadline: .distantFuture).value) }
        for index in indexes { try test.pool.reader(at: index).refreshSnapshot(epoch: test.pool.leaseEpoch) }
        for index in indexes { #expect(test.pool.releaseReader(index) == nil) }
        let outsider = try Outsider(test.path)
        for value in 10..<20 { #expect(outsider.run("INSERT INTO t VALUES (\(value), \(value))") == "[]") }
        #expect(test.pool.collect().isEmpty)
        let frames = test.walFrames
        #expect(outsider.run("PRAGMA wal_checkpoint") == "[(0, \(frames), \(frames))]")
        // One that is of now is kept.
        #expect(
            try test.reading { reader in
                try reader.refreshSnapshot(epoch: test.pool.leaseEpoch)
                return reader.isNewest
            })
        #expect(test.pool.collect().isEmpty)
        #expect(try test.reading { $0.isNewest })
    }

    /// Only the writer's release looks at the WAL's length, and where only outsiders write nobody has the writer.
    @Test func aWALThatOthersHaveMadeLong() throws {
        let test = try pool { $0.checkpointFrames = 20 }
        let outsider = try Outsider(test.path)
        #expect(outsider.run("PRAGMA wal_autocheckpoint = 0") == "[(0,)]")
        for value in 10..<40 { #expect(outsider.run("INSERT INTO t VALUES (\(value), \(value))") == "[]") }
        let next = test.pool.collect()
        #expect(next.map(\.picture) == ["checkpoint"])
        #expect(test.pool.run(.checkpoint).isEmpty)
        #expect(test.pool.releaseWriter() == nil)
        #expect(test.pool.writer.framesToCheckpoint == 0)
    }
}
