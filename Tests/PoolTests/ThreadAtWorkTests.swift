import Glibc
import Testing

@testable import Pool
@testable import Scheduling

@Suite struct ThreadAtWorkTests {
    @Test func whoIsAtTheWriter() throws {
        let test = try TestPool()
        let pool = test.pool
        let client = test.member()
        let own = UInt(pthread_self())
        #expect(pool.work.picture(own) == "resting nobody")
        _ = pool.requestWriter(client, .transaction, deadline: .distantFuture)
        #expect(pool.work.picture(own) == "active nobody")
        try pool.writer.begin(client)
        #expect(pool.work.picture(own) == "active this thread")
        pool.holderBecameIdle(client)
        #expect(pool.work.picture(own) == "resting nobody")
        pool.holderBecameActive(client)
        #expect(pool.work.picture(own) == "active this thread")
        pool.writer.rollback()
        let changes = pool.work.atWriter.changes
        #expect(pool.releaseWriter() == nil)
        #expect(pool.work.picture(own) == "resting nobody")
        #expect(pool.work.atWriter.changes != changes)
    }

    /// Between a grant and a beginning nobody is at it, whoever was before.
    @Test func aGrantIsNotABeginning() throws {
        let test = try TestPool()
        let pool = test.pool
        let clients = (1...2).map { _ in test.member() }
        let own = UInt(pthread_self())
        _ = pool.requestWriter(clients[0], .transaction, deadline: .distantFuture)
        try pool.writer.begin(clients[0])
        _ = pool.requestWriter(clients[1], .transaction, deadline: .distantFuture)
        pool.writer.rollback()
        #expect(pool.releaseWriter()?.picture != nil)
        #expect(pool.work.picture(own) == "active nobody")
        _ = pool.releaseWriter()
    }

    @Test func jobs() throws {
        let test = try TestPool()
        let pool = test.pool
        #expect(pool.requestCheckpoint() != nil)
        #expect(pool.work.writer == .job)
        _ = pool.run(.checkpoint)
        #expect(pool.work.picture(UInt(pthread_self())) == "job this thread")
        _ = pool.releaseWriter()
        #expect(pool.work.writer == .resting)
    }
}

extension Pool.Work {
    fileprivate func picture(_ own: UInt) -> String {
        "\(writer) \(atWriter.thread.map { $0 == own ? "this thread" : "another" } ?? "nobody")"
    }
}
