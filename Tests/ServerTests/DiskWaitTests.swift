import CSQLite
import Glibc
import Testing

@testable import Pool
@testable import SQLite
@testable import Scheduling
@testable import Server

/// What the watcher is told of a thread that commits.
@Suite struct DiskWaitTests {
    /// What the thread's note says in the middle of each COMMIT: how much later than its event it is said to have begun.
    private final class Commits {
        let worker: Worker
        var later: [Int64] = []

        init(of test: SteppedServer) {
            worker = test.worker
            // "The sqlite3_commit_hook() interface registers a callback function to be invoked whenever a transaction is committed"
            // (https://www.sqlite.org/c3ref/commit_hook.html). This lives as long as the test, which is as long as the connection.
            sqlite3_commit_hook(
                test.server.pool.writer.connection.handle,
                { context in
                    let commits = Unmanaged<Commits>.fromOpaque(context!).takeUnretainedValue()
                    commits.later.append(commits.worker.note.began.load(ordering: .relaxed) - commits.worker.eventBegan)
                    return 0
                }, Unmanaged.passUnretained(self).toOpaque())
        }

        /// Whether it waits for the disk, as far as the watcher knows.
        var announced: [Bool] { later.map { $0 >= Watch.announcedNanoseconds } }
    }

    /// A COMMIT that syncs by itself is announced, whoever sends it; one that does not is watched like anything else. After it the thread
    /// is watched as before, until it has handled its event.
    @Test(arguments: [
        (PoolLimits.Durability.full, ["INSERT INTO t VALUES(1, 1)"], true),
        (.full, ["BEGIN", "INSERT INTO t VALUES(1, 1)", "COMMIT"], true),
        (.pipelined, ["INSERT INTO t VALUES(1, 1)"], false),
        (.pipelined, ["BEGIN", "INSERT INTO t VALUES(1, 1)", "COMMIT"], false),
        (.normal, ["INSERT INTO t VALUES(1, 1)"], false),
    ])
    func aCommit(_ durability: PoolLimits.Durability, _ statements: [String], _ isAnnounced: Bool) throws {
        let test = try SteppedServer { $0.pool.durability = durability }
        let client = try test.connect()
        let commits = Commits(of: test)
        defer { withExtendedLifetime(commits) {} }
        for statement in statements {
            client.sendQuery(statement)
            test.handleAll()
            #expect(try client.reply().errors.isEmpty)
            let began = test.worker.note.began.load(ordering: .relaxed)
            #expect(began == 0)
        }
        #expect(commits.announced == [isAnnounced])
    }

    /// A session that is ended looks whether it is so just between its COMMIT and the Sync behind it, while the commit is not on the disk:
    /// nothing of the answer leaves before that.
    @Test func anEndBetweenTheCommitAndItsSync() throws {
        let test = try SteppedServer { $0.pool.durability = .pipelined }
        let client = try test.connect()
        for statement in ["BEGIN", "INSERT INTO t VALUES(1, 1)"] {
            client.sendQuery(statement)
            test.handleAll()
            #expect(try client.reply().status == "T")
        }
        let session = try #require(test.server.table.session(processID: client.processID))
        session.isKilled.store(true, ordering: .relaxed)
        let before = [RawClient.parse("COMMIT"), RawClient.bind()]
        let filling = Array(repeating: RawClient.closePortal("none"), count: SessionTurn.stepsBetweenLooks - before.count - 2)
        client.send((before + filling + [RawClient.execute(), RawClient.sync]).flatMap { $0 })
        // One event: the session is at its end, or waits for the sync that is the next thing this thread does.
        #expect(test.handleNext())
        let sync = try #require(test.server.pool.pipelinedSync)
        let hasSynced = sync.meanNanoseconds.load(ordering: .relaxed) > 0
        #expect(hasSynced || sync.unansweredCount == 1)
        test.handleAll()
        #expect(try client.reply().picture == "COMMIT I" && sync.unansweredCount == 0)
    }

    /// It goes on with what came besides, and is watched then.
    @Test func backFromTheDisk() throws {
        let test = try SteppedServer()
        let note = test.worker.note
        let before = MonotonicClock.now.nanoseconds
        test.worker.willBlock(isAlone: true)
        let announced = note.began.load(ordering: .relaxed)
        #expect(announced >= before + Watch.announcedNanoseconds)
        test.worker.isBackFromDisk()
        let began = note.began.load(ordering: .relaxed)
        #expect(began <= MonotonicClock.now.nanoseconds)
    }
}
