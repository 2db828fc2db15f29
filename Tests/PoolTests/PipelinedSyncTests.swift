import Foundation
import Testing

@testable import Pool
@testable import SQLite

/// Commits that are answered by whoever syncs.
@Suite struct PipelinedSyncTests {
    private func members(_ synced: PipelinedSync.Synced) -> [Int] {
        synced.durable.map { $0.clientID }
    }

    @Test func oneSyncForAllWhoHaveCommitted() throws {
        let test = try TestPool { $0.durability = .pipelined }
        let sync = try #require(test.pool.pipelinedSync)
        let first = test.member(), second = test.member(), third = test.member()
        // The first has to see to it; the others leave it to whoever does.
        #expect(sync.answerWhenDurable(sync.didCommit(hasWritten: true), [first]))
        #expect(!sync.answerWhenDurable(sync.didCommit(hasWritten: true), [second, third]))
        let synced = sync.syncUnanswered()
        #expect(members(synced) == [1, 2, 3] && synced.failed.isEmpty && synced.error == nil && !synced.goesOn)
        // And the next one has to again.
        #expect(sync.answerWhenDurable(sync.didCommit(hasWritten: true), [first]))
        #expect(members(sync.syncUnanswered()) == [1])
    }

    /// A sync that others waited for by themselves serves these, too.
    @Test func whatIsOnTheDiskAlreadyNeedsNoSync() throws {
        let test = try TestPool { $0.durability = .pipelined }
        let sync = try #require(test.pool.pipelinedSync)
        let commit = sync.didCommit(hasWritten: true)
        #expect(sync.answerWhenDurable(commit, [test.member()]))
        #expect(try sync.waitUntilDurable(commit, patienceNanoseconds: .max))
        let before = test.pool.work.atSync.changes
        #expect(members(sync.syncUnanswered()) == [1])
        #expect(test.pool.work.atSync.changes == before)
    }

    /// A transaction that has changed nothing, and a group that was undone, wait for what was committed before them and for no sync.
    @Test func nothingWrittenIsNothingToSync() throws {
        let test = try TestPool { $0.durability = .pipelined }
        let numbers = try [
            "INSERT INTO t VALUES(1, 1)", "UPDATE t SET v = 2 WHERE 0", "INSERT INTO t VALUES(2, 1)", "INSERT INTO t VALUES(3, 3)",
        ]
        .map { sql in
            _ = test.run([test.member(sql)])
            return try #require(test.pool.commitToSync()).number
        }
        #expect(numbers.map { $0 - numbers[0] } == [0, 0, 0, 1])
    }

    /// A thread may be late to say that its commit waits: a sync has served it, and a later commit is waiting already.
    @Test func inWhateverOrderTheyAreSaid() throws {
        let test = try TestPool { $0.durability = .pipelined }
        let sync = try #require(test.pool.pipelinedSync)
        let early = sync.didCommit(hasWritten: true)
        #expect(try sync.waitUntilDurable(early, patienceNanoseconds: .max))
        let later = sync.didCommit(hasWritten: true)
        #expect(sync.answerWhenDurable(later, [test.member()]))
        #expect(!sync.answerWhenDurable(early, [test.member()]))
        // The early one is on the disk: it does not wait for the other's sync.
        let before = test.pool.work.atSync.changes
        let served = sync.syncUnanswered()
        #expect(members(served) == [2] && served.goesOn && test.pool.work.atSync.changes == before)
        let late = sync.syncUnanswered()
        #expect(members(late) == [1] && !late.goesOn && test.pool.work.atSync.changes != before)
    }

    /// Another thread's sync goes on: who is on the disk is answered, and who keeps the writer waits for it only so long.
    @Test(.timeLimit(.minutes(1))) func besideAnothersSync() throws {
        let test = try TestPool { $0.durability = .pipelined }
        let sync = try #require(test.pool.pipelinedSync)
        let first = sync.didCommit(hasWritten: true)
        #expect(sync.answerWhenDurable(first, [test.member()]))
        try sync.exclusively { () throws(SQLiteError) in
            let second = sync.didCommit(hasWritten: true)
            #expect(!sync.answerWhenDurable(second, [test.member()]))
            let synced = sync.syncUnanswered()
            #expect(members(synced) == [1] && synced.goesOn)
            let isLate = try sync.waitUntilDurable(second, patienceNanoseconds: 0)
            let isThere = try sync.waitUntilDurable(first, patienceNanoseconds: 0)
            #expect(!isLate && isThere)
        }
        let synced = sync.syncUnanswered()
        #expect(members(synced) == [2] && !synced.goesOn)
    }

    /// When the writer has been closed after an error, nobody is told that a commit is on the disk.
    @Test func afterAFailureNothingIsDurable() throws {
        let test = try TestPool { $0.durability = .pipelined }
        let pool = test.pool
        let sync = try #require(pool.pipelinedSync)
        #expect(pool.requestWriter(test.member(), .transaction, deadline: .distantFuture).picture == "granted")
        let commit = try #require(pool.commitToSync())
        #expect(pool.releaseWriter() == nil)
        let member = test.member()
        #expect(commit.answerWhenDurable([member]))
        sync.close(SQLiteError(extendedCode: 10, message: "the disk failed"))
        let (answered, goesOn, hasFailed, recovery) = pool.syncUnanswered(commit)
        #expect(answered.map { $0.clientID } == [member.clientID] && !goesOn && hasFailed)
        #expect(member.commitError?.extendedCode == 10)
        #expect(recovery?.picture == "recovery")
    }

    ///     holder            others
    ///     BEGIN, UPDATE
    ///     answered                        nobody waits for its next message
    ///                       INSERT
    ///     UPDATE
    ///     answered                        somebody does, and only the sync of others' commits is beside it
    ///     COMMIT, or its end
    @Test(arguments: [PoolLimits.Durability.pipelined, .full, .normal], [false, true])
    func holderIsAwaited(durability: PoolLimits.Durability, commits: Bool) throws {
        let test = try TestPool { $0.durability = durability }
        let pool = test.pool
        let holder = test.member(), other = test.member()
        #expect(pool.requestWriter(holder, .transaction, deadline: .distantFuture).picture == "granted")
        pool.holderBecameIdle(holder)
        #expect(!pool.isHolderAwaited)
        #expect(pool.requestWriter(other, .member, deadline: .distantFuture).picture == "parked")
        pool.holderBecameActive(holder)
        #expect(!pool.isHolderAwaited)
        pool.holderBecameIdle(holder)
        #expect(pool.isHolderAwaited == (durability == .pipelined))
        if commits { pool.holderBecameActive(holder) }
        #expect(pool.releaseWriter() != nil && !pool.isHolderAwaited)
    }
}
