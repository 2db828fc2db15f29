import Foundation
import Testing

@testable import Pool
@testable import SQLite
@testable import Scheduling

@Suite struct BackupTests {
    /// A pool with `rows` rows of some 500 bytes, and a directory for its backups.
    private struct Subject {
        let test: TestPool
        let directory: String
        var backups: Backups { test.pool.backups }
        let owner = FakeMember(99, [])

        init(rows: Int = 20) throws {
            test = try TestPool()
            directory = test.directory + "/backups"
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            try test.pool.writer.connection.executeInternal(
                """
                WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < \(rows))
                INSERT INTO t SELECT n, printf('%0500d', n) FROM c
                """)
        }

        func make(_ name: String = "copy.db", in other: String? = nil, onStep: (Backup.Status) -> Void = { _ in })
            throws(BackupError) -> Backup.Status
        {
            try backups.make(name, in: other ?? directory, for: owner, onStep: onStep)
        }

        func failure(_ name: String = "copy.db", in other: String? = nil, onStep: (Backup.Status) -> Void = { _ in })
            -> BackupError?
        {
            do throws(BackupError) {
                _ = try make(name, in: other, onStep: onStep)
                return nil
            } catch { return error }
        }

        /// What another connection finds in a backup.
        func look(_ sql: String, _ name: String = "copy.db") throws -> [[String]] {
            try Connection(path: directory + "/" + name, mode: .readOnly, settings: ConnectionSettings()).rows(sql)
        }

        var files: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: directory).sorted() } }
    }

    @Test func aCopyIsOneFileWithEverything() throws {
        let subject = try Subject()
        let status = try subject.make()
        #expect(try subject.files == ["copy.db"])
        #expect(try subject.look("SELECT * FROM t") == subject.test.lookFromOutside("SELECT * FROM t"))
        #expect(try subject.look("PRAGMA integrity_check") == [["ok"]])
        let copy = try Connection(
            path: subject.directory + "/copy.db", mode: .readOnly, settings: ConnectionSettings())
        #expect(try copy.firstText("PRAGMA journal_mode") == "delete")
        #expect(try subject.files == ["copy.db"])
        #expect(status.phase == .done && status.copiedPages == status.pages && status.pages > 0)
        #expect(subject.backups.running == nil && subject.backups.last?.name == "copy.db")
        #expect(subject.test.pool.snapshots.isEmpty)
    }

    ///     backup          writer
    ///     some pages
    ///                     commits
    ///     some pages
    ///                     commits ...
    ///     done: as it was when it began
    @Test func writersCommitBetweenItsStepsAndItSeesNoneOfIt() throws {
        let subject = try Subject(rows: 20_000)
        let connection = subject.test.pool.writer.connection
        var steps = 0
        _ = try subject.make { status in
            steps += 1
            do {
                try connection.executeInternal(
                    "UPDATE t SET v = 'new' || id WHERE id % 100 = \(steps); INSERT INTO t VALUES(NULL, 'more \(steps)')")
            } catch { Issue.record(error) }
            if status.copiedPages < status.pages {
                #expect(subject.test.pool.snapshots.count == 1)
                #expect(subject.backups.running?.snapshotBegan != nil)
            }
        }
        #expect(steps > 2)
        #expect(try subject.look("SELECT count(*), count(*) FILTER (WHERE v = printf('%0500d', id)) FROM t") == [["20000", "20000"]])
        #expect(try subject.test.lookFromOutside("SELECT count(*) FROM t") == [["\(20_000 + steps)"]])
    }

    /// A group commits while the backup stands between two steps: the queue knows nothing of backups.
    @Test func aGroupCommitsBesideIt() throws {
        let subject = try Subject(rows: 5_000)
        var committed = 0
        _ = try subject.make { _ in
            let member = subject.test.member("INSERT INTO t VALUES(NULL, 'beside \(committed)')")
            #expect(subject.test.run([member]).finished.count == 1)
            if member.succeeded { committed += 1 }
        }
        #expect(committed > 0)
        #expect(try subject.look("SELECT count(*) FROM t WHERE v LIKE 'beside%'") == [["0"]])
    }

    @Test func itTakesNoReader() throws {
        let subject = try Subject(rows: 5_000)
        _ = try subject.make { _ in #expect(subject.test.pool.view.readersInUse == 0) }
    }

    /// An index that is not its table's: quick_check does not find that, integrity_check does, and nothing is left of a
    /// backup that cannot be trusted.
    @Test func aDamagedDatabaseIsFound() throws {
        let subject = try Subject(rows: 200)
        let connection = subject.test.pool.writer.connection
        try connection.executeInternal("CREATE TABLE d(a, b); INSERT INTO d SELECT id, v FROM t; CREATE INDEX i ON d(a)")
        // Two indexes are exchanged, one of all rows and one of none.
        let damaged = subject.test.directory + "/damaged.db"
        _ = try subject.backups.make("damaged.db", in: subject.test.directory, for: subject.owner)
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        shell.arguments = [
            "python3", "-c",
            """
            import sqlite3, sys
            c = sqlite3.connect(sys.argv[1])
            c.execute("CREATE INDEX other ON d(a) WHERE b = 'nothing'")
            c.commit()
            c.execute("PRAGMA writable_schema = ON")
            roots = dict(c.execute("SELECT name, rootpage FROM sqlite_schema WHERE type = 'index'"))
            c.execute("UPDATE sqlite_schema SET rootpage = ? WHERE name = 'i'", [roots["other"]])
            c.execute("UPDATE sqlite_schema SET rootpage = ? WHERE name = 'other'", [roots["i"]])
            c.commit()
            """, damaged,
        ]
        try shell.run()
        shell.waitUntilExit()
        #expect(shell.terminationStatus == 0)
        let pool = try Pool(
            path: damaged, settings: ConnectionSettings(), limits: PoolLimits(), deadlines: RecordingObserver(), log: quietLog,
            resume: { _ in }, cannotGoOn: { _ in })
        #expect(try pool.writer.connection.firstText("PRAGMA quick_check") == "ok")
        #expect(throws: BackupError.self) { try pool.backups.make("copy.db", in: subject.directory, for: subject.owner) }
        guard case .damaged(let finding) = pool.backups.last?.status.error else {
            Issue.record("not found to be damaged: \(String(describing: pool.backups.last?.status))")
            return
        }
        #expect(finding.contains("index"))
        #expect(try subject.files == [])
    }

    // MARK: Names and places

    @Test(arguments: [
        "", ".", "..", ".hidden", "a/b", "/etc/passwd", "../up.db", "new\nline", "nul\0", "app.db-wal", "app.db-shm", "app.db-journal",
        String(repeating: "x", count: 201), "c1\u{85}",
    ])
    func namesThatCannotBe(_ name: String) throws {
        let subject = try Subject(rows: 1)
        guard case .unusableName = subject.failure(name) else {
            Issue.record("\(name) was accepted")
            return
        }
        #expect(try subject.files == [])
        #expect(subject.backups.last == nil)
    }

    @Test(arguments: ["a", "app-2026-11-21.db", "with space", "Überblick.db", String(repeating: "x", count: 200)])
    func namesThatCan(_ name: String) throws {
        let subject = try Subject(rows: 1)
        _ = try subject.make(name)
        #expect(try subject.files == [name])
    }

    @Test func aFileIsNeverReplaced() throws {
        let subject = try Subject()
        let path = subject.directory + "/copy.db"
        try Data("precious".utf8).write(to: URL(fileURLWithPath: path))
        guard case .fileExists(path) = subject.failure() else {
            Issue.record("replaced")
            return
        }
        // Nor one that comes while the backup is made.
        let other = subject.directory + "/other.db"
        let error = subject.failure("other.db") { _ in
            _ = FileManager.default.createFile(atPath: other, contents: Data("late".utf8))
        }
        guard case .fileExists(other) = error else {
            Issue.record("replaced: \(String(describing: error))")
            return
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
        #expect(try String(contentsOfFile: other, encoding: .utf8) == "late")
        #expect(try subject.files == ["copy.db", "other.db"])
    }

    @Test func aDirectoryThatIsNot() throws {
        let subject = try Subject(rows: 1)
        for (directory, number) in [(subject.directory + "/missing", ENOENT), (subject.test.path, ENOTDIR), ("/proc", ENOENT)] {
            guard case .system("open", _, number) = subject.failure(in: directory) else {
                Issue.record("\(directory)")
                continue
            }
        }
        #expect(subject.backups.last?.status.phase == .failed)
    }

    @Test func itIsNoMoreReadableThanTheDatabase() throws {
        for mode: mode_t in [0o600, 0o640, 0o644] {
            let subject = try Subject(rows: 1)
            chmod(subject.test.path, mode)
            _ = try subject.make()
            var status = stat()
            #expect(stat(subject.directory + "/copy.db", &status) == 0 && status.st_mode & 0o777 == mode)
        }
    }

    // MARK: Ending early

    @Test func cancelledForItsSnapshot() throws {
        let subject = try Subject(rows: 20_000)
        var steps = 0
        let error = subject.failure { _ in
            steps += 1
            subject.backups.running?.cancel("the test wants it")
        }
        guard case .cancelled("the test wants it") = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(steps == 1)
        #expect(try subject.files == [])
        #expect(subject.test.pool.snapshots.isEmpty)
        #expect(subject.backups.last?.status.phase == .failed)
        // The next one is not touched by it.
        _ = try subject.make()
    }

    /// Once the pages are copied it is in nobody's way.
    @Test func cancelledTooLate() throws {
        let subject = try Subject(rows: 20_000)
        _ = try subject.make { status in
            if status.copiedPages == status.pages { subject.backups.running?.cancel("too late") }
        }
        #expect(try subject.files == ["copy.db"])
    }

    @Test(arguments: [StopReason.cancelled, .shutdown, .statementTimeout])
    func stoppedByWhoAskedForIt(_ reason: StopReason) throws {
        let subject = try Subject(rows: 20_000)
        var stopped = false
        subject.owner.whileRunning = { _ in stopped ? reason : nil }
        let error = subject.failure { _ in stopped = true }
        guard case .stopped(reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try subject.files == [])
    }

    /// The check is stopped from inside of SQLite, which asks every thousand steps of its machine.
    @Test func stoppedDuringTheCheck() throws {
        let subject = try Subject(rows: 20_000)
        var isCopied = false
        subject.owner.whileRunning = { _ in isCopied ? .cancelled : nil }
        let error = subject.failure { status in isCopied = status.copiedPages == status.pages }
        guard case .stopped(.cancelled) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try subject.files == [])
    }

    @Test func oneAtATime() throws {
        let subject = try Subject()
        _ = try subject.make { _ in
            guard case .alreadyRunning("copy.db") = subject.failure("other.db") else {
                Issue.record("two at a time")
                return
            }
        }
        #expect(try subject.files == ["copy.db"])
    }

    // MARK: The exclusive gate

    ///     backup                      gate
    ///                                 closes, waits
    ///     ends, when it has gone on
    ///     for longer than gate_limit
    ///                                 is alone
    @Test func theGateEndsIt() throws {
        let subject = try Subject(rows: 20_000)
        let pool = subject.test.pool
        let limits = pool.limits
        let gate = ThreadOfATest { _ = pool.closeGate { _ in 0 } }
        var began = Instant.distantFuture, told = Instant.distantFuture
        let error = subject.failure { _ in
            if began == .distantFuture {
                began = MonotonicClock.now
                gate.start()
            }
            // As slow as a disk may be: until it is told, and no longer than the test may hang.
            let end = MonotonicClock.now.advanced(byMilliseconds: limits.gateMilliseconds + 30_000)
            while let backup = subject.backups.running, backup.status.cancellation == nil, MonotonicClock.now < end { sched_yield() }
            told = MonotonicClock.now
        }
        guard case .cancelled = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(told.milliseconds(since: began) >= limits.gateMilliseconds)
        gate.join()
        #expect(pool.backups.snapshots.areGone)
        // Behind a closed gate none begins, and that wait can be ended.
        subject.owner.whileRunning = { asked in asked > 3 ? .cancelled : nil }
        guard case .stopped(.cancelled) = subject.failure("late.db") else {
            Issue.record("began behind the gate")
            return
        }
        _ = pool.openGate()
        subject.owner.whileRunning = { _ in nil }
        _ = try subject.make("after.db")
    }

    // MARK: What a killed daemon leaves behind

    @Test func staleOnesAreRemoved() throws {
        let subject = try Subject()
        let left = [".old.db.walpool-backup", ".old.db.walpool-backup-wal", ".old.db.walpool-backup-lock", ".gone.db.walpool-backup-lock"]
        for name in left + ["old.db", ".mine"] {
            _ = FileManager.default.createFile(atPath: subject.directory + "/" + name, contents: Data("x".utf8))
        }
        subject.backups.removeStale(in: subject.directory)
        #expect(try subject.files == [".mine", "old.db"])
        subject.backups.removeStale(in: subject.directory + "/missing")
    }

    /// One that somebody is at work on stays: several daemons may share the directory.
    @Test func thoseAtWorkAreKept() throws {
        let subject = try Subject()
        let other = try Subject()
        _ = try subject.make { _ in
            let before = try? subject.files
            other.backups.removeStale(in: subject.directory)
            #expect((try? subject.files) == before && before?.contains(".copy.db.walpool-backup") == true)
            guard case .alreadyRunning("copy.db") = other.failure(in: subject.directory) else {
                Issue.record("two write one file")
                return
            }
        }
        #expect(try subject.files == ["copy.db"])
    }

    /// One that is in the way of a new one goes, too.
    @Test func aStaleOneOfTheSameName() throws {
        let subject = try Subject()
        _ = FileManager.default.createFile(
            atPath: subject.directory + "/.copy.db.walpool-backup", contents: Data("not a database".utf8))
        _ = try subject.make()
        #expect(try subject.files == ["copy.db"])
        #expect(try subject.look("SELECT count(*) FROM t") == [["20"]])
    }
}

/// A thread that a test starts when it wants to, and waits for.
final class ThreadOfATest: @unchecked Sendable {
    private let body: @Sendable () -> Void
    private let isDone = DispatchSemaphore(value: 0)
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    func start() {
        Thread.detachNewThread { [self] in
            body()
            isDone.signal()
        }
    }
    func join() { isDone.wait() }
}
