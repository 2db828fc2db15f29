import Foundation
import Logging
import POSIX
import Testing

@testable import Pool
@testable import SQLite
@testable import Scheduling

@Suite struct MaintenanceTests {
    /// A pool whose table "filler" has rows enough for some hundred pages, of which most are gone again.
    private func punched(rows: Int = 2000, _ adjust: (inout PoolLimits) -> Void = { _ in }) throws -> TestPool {
        let test = try TestPool(adjust)
        try fill(test, rows)
        return test
    }

    private func fill(_ test: TestPool, _ rows: Int, table: String = "filler") throws {
        try test.pool.writer.connection.executeInternal(
            """
            CREATE TABLE \(table)(id INTEGER PRIMARY KEY, text TEXT);
            CREATE INDEX \(table)_text ON \(table)(text);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
            INSERT INTO \(table) SELECT i, printf('%0800d', i) FROM n;
            DELETE FROM \(table) WHERE id % 10 <> 0;
            """)
        _ = try test.pool.writer.checkpoint(.truncate)
    }

    private func bytes(_ path: String) -> Int {
        (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
    }

    /// Runs the job and what it asks for next, until it asks for nothing. Returns how many times it ran.
    @discardableResult
    private func run(_ first: Resumption?, _ pool: Pool, between: () throws -> Void = {}) rethrows -> Int {
        var next = first
        var count = 0
        while case .job(let job)? = next {
            count += 1
            #expect(pool.run(job).isEmpty)
            try between()
            next = pool.releaseWriter()
        }
        return count
    }

    private func requested(_ test: TestPool) -> Resumption? { test.pool.requestMaintenance(now: MonotonicClock.now) }

    @Test func theFileShrinks() throws {
        let test = try punched()
        let before = bytes(test.path)
        let sum = try test.lookFromOutside("SELECT count(*), sum(id), group_concat(text) FROM filler")
        try run(requested(test), test.pool)
        let after = bytes(test.path)
        #expect(after < before / 2)
        #expect(try test.lookFromOutside("PRAGMA integrity_check") == [["ok"]])
        #expect(try test.lookFromOutside("SELECT count(*), sum(id), group_concat(text) FROM filler") == sum)
        let status = test.pool.maintenanceStatus
        #expect(status.activity != .shrinking && status.activity != .queued)
        #expect(status.record?.lastSuccess?.bytesFreed == Int64(before - after))
        #expect(status.record?.attempts == 0 && status.record?.lastFailure == nil)
        #expect(MaintenanceFile(database: test.path).read() == .record(status.record!))
        #expect(bytes(test.path + "-wal") == 0)
    }

    ///     the job's thread                       another
    ///     the last step says that none is queued
    ///                                            asks for a VACUUM
    ///     ends
    ///                                            it is run
    @Test func askedForJustAsItEnds() throws {
        let test = try punched()
        var next = requested(test)
        guard case .job(.maintenance)? = next else { return #expect(Bool(false)) }
        #expect(test.pool.run(.maintenance).isEmpty)
        next = test.pool.releaseWriter()
        guard case .job(.maintenance)? = next else { return #expect(Bool(false)) }
        test.observer.atNextAnnouncement { #expect(self.requested(test) == nil) }
        #expect(test.pool.run(.maintenance).isEmpty)
        let before = test.pool.maintenanceStatus.record?.lastSuccess
        try fill(test, 1000, table: "more")
        let isRun = try run(test.pool.releaseWriter(), test.pool) > 0
        #expect(isRun)
        #expect(test.pool.maintenanceStatus.record?.lastSuccess != before)
        // And whoever asks later gets one, too.
        try fill(test, 1000, table: "again")
        let isRunAgain = try run(requested(test), test.pool) > 0
        #expect(isRunAgain)
    }

    ///     the job's thread                       another
    ///     VACUUM's copy is in the WAL
    ///                                            asks for a VACUUM
    ///     empties the WAL
    ///     VACUUM's copy is in the WAL
    ///     empties the WAL
    @Test func askedForWhileItsCopyIsInTheWAL() throws {
        let test = try punched()
        var next = requested(test)
        var frames: [Int] = []
        while frames.count < 10, case .job(.maintenance)? = next {
            #expect(test.pool.run(.maintenance).isEmpty)
            frames.append(test.pool.writer.walFrames.all)
            if frames.count == 1 { #expect(requested(test) == nil) }
            next = test.pool.releaseWriter()
        }
        #expect(frames.map { $0 > 0 } == [true, false, true, false])
    }

    /// One copy is in the WAL, however often another is asked for; that comes when the reader is gone.
    ///
    ///     reader       VACUUM
    ///     its snapshot
    ///                  copies
    ///                  the WAL cannot be emptied
    ///                  asked for again and again: tries that only
    ///     is done
    ///                  empties it, copies, empties it
    @Test func askedForWhileAReaderKeepsItsCopyInTheWAL() throws {
        let test = try punched { $0.truncateMilliseconds = 5 }
        let outside = try Connection(path: test.path, mode: .readOnly, settings: ConnectionSettings())
        try outside.executeInternal("BEGIN")
        _ = try outside.rows("SELECT count(*) FROM filler")
        try run(requested(test), test.pool)
        let frames = test.pool.writer.walFrames.all
        let before = test.pool.maintenanceStatus.record?.lastSuccess
        #expect(frames > 0 && test.pool.maintenanceStatus.activity == .shrinking)
        for _ in 1...3 {
            try run(requested(test), test.pool)
            #expect(test.pool.writer.walFrames.all == frames && test.pool.maintenanceStatus.activity == .queuedBehindShrinking)
        }
        #expect(test.pool.maintenanceStatus.record?.lastSuccess == before)
        try outside.executeInternal("COMMIT")
        try run(test.pool.lookAtMaintenance(now: test.pool.nextMaintenanceLook) {}, test.pool)
        #expect(test.pool.writer.walFrames.all == 0 && test.pool.maintenanceStatus.record?.lastSuccess != before)
        #expect(test.pool.maintenanceStatus.activity != .queued && test.pool.maintenanceStatus.activity != .shrinking)
    }

    /// Whoever reads an older snapshot goes on to; the file shrinks when it is done.
    @Test func aPinnedSnapshotStaysValid() throws {
        let test = try punched()
        let index = try #require(test.pool.requestReader(test.member(), deadline: .distantFuture).value)
        let reader = try test.pool.reader(at: index)
        let before = bytes(test.path)
        let rows = try reader.rows("SELECT id, text FROM filler", test.member())
        // A statement in the middle of its rows, too.
        let running = try #require(try reader.connection.prepareInternal("SELECT id FROM filler") as Statement?)
        #expect(try running.step() == .row)

        try run(requested(test), test.pool)
        #expect(test.pool.maintenanceStatus.activity == .shrinking)
        #expect(bytes(test.path) == before)
        try test.pool.writer.connection.executeInternal("DELETE FROM filler")
        #expect(try reader.rows("SELECT id, text FROM filler", test.member()) == rows)
        var count = 1
        while try running.step() == .row { count += 1 }
        #expect(count == rows.count)
        // Others see what is new.
        #expect(try test.reading { try $0.rows("SELECT count(*) FROM filler", test.member()) } == [["0"]])

        running.reset()
        reader.endSnapshot()
        _ = test.pool.releaseReader(index)
        // It is looked at again on its own.
        let due = test.pool.nextMaintenanceLook
        #expect(test.observer.announced.contains(due))
        #expect(due < MonotonicClock.now.advanced(byMilliseconds: Maintenance.longestRetryMilliseconds))
        try run(test.pool.lookAtMaintenance(now: due, willBeLong: {}), test.pool)
        #expect(bytes(test.path) < before / 2)
        #expect(test.pool.maintenanceStatus.activity != .shrinking)
    }

    /// The WAL holds the whole copy, more than its limit; but no reader has to end for that. When the last that stands in
    /// the way is back, the WAL is emptied.
    @Test func theGateStaysOpen() throws {
        let test = try punched(rows: 8000) { $0.walLimitBytes = 100 * 4120 }
        let index = try #require(test.pool.requestReader(test.member(), deadline: .distantFuture).value)
        _ = try test.pool.reader(at: index)
        let before = bytes(test.path)
        try run(requested(test), test.pool)
        #expect(test.walFrames > 100)
        #expect(test.pool.maintenanceStatus.activity == .shrinking)
        #expect(test.pool.walStatus.checkpoints.last?.mode != .gate)
        #expect(bytes(test.path) == before)
        // Without making writers wait, the file gets shorter at once.
        try run(test.pool.releaseReader(index), test.pool)
        #expect(bytes(test.path) < before / 2)
        try run(test.pool.lookAtMaintenance(now: test.pool.nextMaintenanceLook, willBeLong: {}), test.pool)
        #expect(bytes(test.path + "-wal") == 0)
        #expect(test.pool.maintenanceStatus.activity != .shrinking)
    }

    /// Statements that were prepared before go on without being looked at again by their clients.
    @Test func preparedStatementsSurvive() throws {
        let test = try punched()
        let insert = text("INSERT INTO filler VALUES (?1, 'new')")
        let select = text("SELECT text FROM filler WHERE id = 10")
        let writer = test.pool.writer
        let owner = test.member()
        func use(_ connection: PooledConnection, _ text: SQLText, id: Int64?) throws -> Statement.Step {
            let lease = try connection.statement(for: text)
            defer { connection.giveBack(lease) }
            if let id { try lease.statement.bind(id, at: 1) }
            connection.beginRun(owner)
            defer { connection.endRun() }
            return try lease.statement.step()
        }
        #expect(try use(writer, insert, id: 1) == .done)
        #expect(try test.reading { try use($0, select, id: nil) } == .row)
        try run(requested(test), test.pool)
        #expect(try use(writer, insert, id: 2) == .done)
        #expect(try test.reading { try use($0, select, id: nil) } == .row)
        #expect(try test.lookFromOutside("SELECT count(*) FROM filler WHERE text = 'new'") == [["2"]])
    }

    /// Though so little is free that it would not begin by itself.
    @Test func requestedWhereLittleIsFree() throws {
        let test = try TestPool()
        try fill(test, 100)
        try test.pool.writer.connection.executeInternal("VACUUM")
        let commits = test.commits
        try run(requested(test), test.pool)
        #expect(test.pool.maintenanceStatus.record?.lastSuccess != nil)
        #expect(test.commits != commits)
    }

    /// Others write between the slices, and they come before the next one.
    @Test func incremental() throws {
        let test = try TestPool()
        // Takes effect by a VACUUM only, once there is a table.
        try test.pool.writer.connection.executeInternal("PRAGMA auto_vacuum = INCREMENTAL; VACUUM")
        try fill(test, 40_000)
        let before = bytes(test.path)
        let free = Int(try test.lookFromOutside("PRAGMA freelist_count")[0][0])!
        #expect(free > 3 * Vacuum.pagesPerSlice)
        var pictures: [String] = []
        var next = requested(test)
        let writer = test.member("INSERT INTO t VALUES (1, 'between')")
        while let resumption = next {
            switch resumption {
            case .job(let job):
                #expect(test.pool.run(job).isEmpty)
                if pictures.isEmpty {
                    // It comes to wait while the first slice runs.
                    _ = test.pool.requestWriter(writer, .member, deadline: .distantFuture)
                }
                pictures.append("job")
            case .group(let clients):
                #expect(test.pool.commitGroup(clients).count == 1)
                pictures.append("group")
            default: Issue.record("\(resumption.picture)")
            }
            next = test.pool.releaseWriter()
        }
        #expect(writer.succeeded)
        // The first finds out what is to be done. It had been queued again before the writer came.
        let slices = (free + Vacuum.pagesPerSlice - 1) / Vacuum.pagesPerSlice
        #expect(pictures.filter { $0 == "job" }.count >= slices + 2)
        #expect(pictures.firstIndex(of: "group")! <= 2)
        #expect(bytes(test.path) < before / 2)
        #expect(try test.lookFromOutside("PRAGMA freelist_count") == [["0"]])
        #expect(try test.lookFromOutside("PRAGMA integrity_check") == [["ok"]])
        #expect(try test.lookFromOutside("SELECT count(*) FROM filler") == [["4000"]])
        #expect(test.pool.maintenanceStatus.record!.lastSuccess!.bytesFreed >= Int64(free - 10) * 4096)
    }

    /// Nothing is written into a schema that has no statistics, unless it is configured.
    @Test(arguments: [(false, false, 0), (true, false, 1), (false, true, 1)] as [(Bool, Bool, Int)])
    func statistics(_ hasThem: Bool, _ always: Bool, _ tables: Int) throws {
        let test = try punched { $0.analyzesAlways = always }
        if hasThem { try test.pool.writer.connection.executeInternal("ANALYZE; DELETE FROM sqlite_stat1") }
        try run(requested(test), test.pool)
        let found = try test.lookFromOutside("SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_stat1'")
        #expect(found == [["\(tables)"]])
        if tables == 1 {
            #expect(try test.lookFromOutside("SELECT count(*) > 0 FROM sqlite_stat1") == [["1"]])
        }
        #expect(try test.pool.writer.connection.firstText("PRAGMA analysis_limit") == "0")
    }

    // MARK: When it goes wrong

    @Test func stopped() throws {
        let test = try punched(rows: 20_000)
        let record = test.pool.maintenanceStatus.record
        let before = bytes(test.path)
        let commits = test.commits
        let job = requested(test)
        test.pool.stopMaintenance()
        #expect(try run(job, test.pool) == 1)
        #expect(test.commits == commits)
        #expect(bytes(test.path) == before)
        #expect(test.pool.maintenanceStatus.record == record)
        #expect(requested(test) == nil)
    }

    /// The progress handler ends it in the middle.
    @Test func stoppedInTheMiddle() throws {
        let test = try punched(rows: 20_000)
        let rows = try test.lookFromOutside("SELECT count(*), sum(id) FROM filler")
        let commits = test.commits
        let owner = test.member()
        owner.whileRunning = { $0 == 3 ? .shutdown : nil }
        #expect(throws: SQLiteError.self) { try Vacuum(writer: test.pool.writer, owner: owner).copy() }
        #expect(test.pool.writer.stopReason == .shutdown)
        #expect(test.commits == commits)
        #expect(test.pool.writer.connection.isAutocommit)
        #expect(try test.lookFromOutside("SELECT count(*), sum(id) FROM filler") == rows)
        #expect(try test.lookFromOutside("PRAGMA integrity_check") == [["ok"]])
        // The temporary copy is detached: another one can be made.
        try run(requested(test), test.pool)
        #expect(test.pool.maintenanceStatus.record?.lastSuccess != nil)
    }

    @Test func anotherProcessHasTheLock() throws {
        let test = try punched()
        let outsider = try Outsider(test.path)
        #expect(outsider.run("BEGIN IMMEDIATE") == "[]")
        try run(requested(test), test.pool)
        let record = try #require(test.pool.maintenanceStatus.record)
        #expect(record.lastFailure?.reason == "another process has the database locked")
        // It was asked for, so it is none of those that are tried again.
        #expect(record.attempts == 0 && record.lastSuccess == nil)
        #expect(outsider.run("ROLLBACK") == "[]")
        try run(requested(test), test.pool)
        #expect(test.pool.maintenanceStatus.record?.lastSuccess != nil)
    }

    /// The moment in which it has failed and the job is not over yet.
    @Test func oneThatIsAskedForWhileAnotherFailsIsAnother() throws {
        let onFailure = Locked<(@Sendable () -> Void)?>(nil)
        let log = Logger(label: "test") { _ in
            WatchingLog { line in
                guard line == "the VACUUM that was asked for failed" else { return }
                let action = onFailure.withLock { $0.take() }
                action?()
            }
        }
        let test = try TestPool(log: log)
        try fill(test, 200)
        let outsider = try Outsider(test.path)
        #expect(outsider.run("BEGIN IMMEDIATE") == "[]")
        let pool = test.pool
        onFailure.withLock {
            $0 = {
                #expect(outsider.run("ROLLBACK") == "[]")
                // The job that has failed goes on with it.
                #expect(pool.requestMaintenance(now: MonotonicClock.now) == nil)
            }
        }
        try run(requested(test), pool)
        #expect(onFailure.withLock { $0 == nil })
        #expect(test.pool.maintenanceStatus.record?.lastSuccess != nil)
    }

    // MARK: By the schedule

    /// Due at the first look, because the stamp that was found is old and the interval is shorter than the settling.
    @Test func dueByTheSchedule() throws {
        let test = try TestPool()
        try fill(test, 2000)
        let now = MaintenanceSchedule.Clocks.now
        let maintenance = test.pool.maintenance
        var configuration = MaintenanceSchedule.Configuration()
        configuration.intervalSeconds = 1
        maintenance.state.withLock {
            $0.schedule = MaintenanceSchedule(configuration: configuration, record: .init(base: now.wallSeconds - 100))
        }
        let began = MonotonicClock.now
        #expect(test.pool.lookAtMaintenance(now: began, willBeLong: {}) == nil)
        #expect(test.pool.maintenanceStatus.activity == .waiting(.clockToSettle))
        #expect(test.observer.announced.contains(test.pool.nextMaintenanceLook))
        var job: Resumption?
        let deadline = began.advanced(byMilliseconds: 30_000)
        while job == nil, MonotonicClock.now < deadline {
            job = test.pool.lookAtMaintenance(now: MonotonicClock.now, willBeLong: {})
            // Both clocks have to go on by a second; this only keeps the loop from spinning until they have.
            usleep(1000)
        }
        #expect(job?.picture == "maintenance")
        // It is not queued twice, and a request is the same one.
        #expect(test.pool.lookAtMaintenance(now: MonotonicClock.now, willBeLong: {}) == nil)
        #expect(requested(test) == nil)
        #expect(test.pool.maintenanceStatus.activity == .queued)
        try run(job, test.pool)
        let success = try #require(test.pool.maintenanceStatus.record?.lastSuccess)
        #expect(success.bytesFreed > 0)
    }

    @Test func firstSightIsStored() throws {
        let test = try TestPool()
        #expect(test.pool.maintenanceStatus.record == nil)
        var isLong = false
        #expect(test.pool.lookAtMaintenance(now: MonotonicClock.now, willBeLong: { isLong = true }) == nil)
        #expect(isLong)
        let record = try #require(test.pool.maintenanceStatus.record)
        #expect(MaintenanceFile(database: test.path).read() == .record(record))
        #expect(test.pool.maintenanceStatus.nextDue == record.base + 7 * 86_400)
        isLong = false
        _ = test.pool.lookAtMaintenance(now: MonotonicClock.now, willBeLong: { isLong = true })
        #expect(!isLong)
    }

    /// A client that waits behind it can be told what for, and waits no longer than it wants to.
    @Test func aWriterThatWaits() throws {
        let test = try punched()
        let job = requested(test)
        let client = test.member("INSERT INTO t VALUES (1, 1)")
        #expect(test.pool.requestWriter(client, .member, deadline: ms(5)).picture == "parked")
        let place = try #require(test.pool.queuePlace(of: client.clientID))
        #expect(place.holder == .job(WriterJob.maintenance.client))
        #expect(test.pool.takeDue(now: ms(5)).expired.map(\.clientID) == [client.clientID])
        try run(job, test.pool)
    }
}
