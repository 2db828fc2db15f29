import TestSupport
import Testing

@testable import Pool
@testable import SQLite
@testable import Scheduling

@Suite struct GroupCommitTests {
    // MARK: Together

    ///     members                     another connection
    ///     1 inserts
    ///     2 inserts
    ///     3 inserts                   sees nothing
    ///     the group's one commit
    ///     all are finished            sees all
    @Test func allCommitTogether() throws {
        let test = try TestPool()
        let members = (1...3).map { test.member("INSERT INTO t VALUES(\($0), \($0))") }
        var seenBefore: [[String]]?
        members[2].onRun = { seenBefore = try? test.lookFromOutside("SELECT count(*) FROM t") }
        let before = test.commits

        let result = test.run(members)

        #expect(result.finished.map(\.clientID) == [1, 2, 3] && result.postponed.isEmpty)
        #expect(try test.lookFromOutside("SELECT id FROM t") == [["1"], ["2"], ["3"]])
        #expect(seenBefore == [["0"]])
        #expect(test.commits == before + 1)
        #expect(members.allSatisfy { $0.runs == 1 && $0.succeeded })
        #expect(test.pool.writer.connection.isAutocommit)
    }

    @Test func noMembers() throws {
        let test = try TestPool()
        let before = test.commits
        let result = test.run([])
        #expect(result.finished.isEmpty && result.postponed.isEmpty && test.commits == before)
    }

    /// What a failing statement leaves behind is nothing, and it costs the others nothing.
    @Test(
        arguments: [
            // A multi-row insert that fails at its last row undoes its first ones.
            (["INSERT INTO t VALUES(10, 10), (11, 11), (12, 1)"], 2067),
            (["INSERT INTO nowhere VALUES(1)"], 1),
            (["INSERT INTO t VALUES('x', 9)"], 20),
            // A transaction behind a savepoint is undone as a whole.
            (["INSERT INTO t VALUES(10, 10)", "INSERT INTO t VALUES(11, 1)"], 2067),
        ] as [([String], Int32)])
    func aFailingMemberUndoesOnlyItself(_ statements: [String], _ code: Int32) throws {
        let test = try TestPool()
        let first = test.member("INSERT INTO t VALUES(1, 1)")
        let failing = FakeMember(100, statements)
        let last = test.member("INSERT INTO t VALUES(2, 2)")
        let before = test.commits

        let result = test.run([first, failing, last])

        #expect(failing.error?.extendedCode == code)
        #expect(result.finished.count == 3 && first.succeeded && last.succeeded)
        #expect(try test.lookFromOutside("SELECT id FROM t") == [["1"], ["2"]])
        #expect(test.commits == before + 1 && [first, failing, last].allSatisfy { $0.runs == 1 })
    }

    /// Their statements have changed pages and changed them back, and nobody has anything to commit.
    @Test(
        arguments: [
            [["INSERT INTO t VALUES(10, 10), (11, 11), (12, 1)"]],
            [["INSERT INTO t VALUES(10, 10)", "INSERT INTO t VALUES(11, 1)"]],
            [["INSERT INTO t VALUES(10, 10), (11, 11), (12, 1)"], ["INSERT INTO t VALUES(10, 10)", "INSERT INTO t VALUES(11, 1)"]],
        ])
    func membersThatWereAllUndoneWriteNothing(_ members: [[String]]) throws {
        let test = try TestPool()
        _ = test.run([test.member("INSERT INTO t VALUES(1, 1)")])
        let (commits, frames) = (test.commits, test.pool.writer.walFrames.all)

        let failing = members.enumerated().map { FakeMember(100 + $0, $1) }
        let result = test.run(failing)

        #expect(result.finished.count == members.count && failing.allSatisfy { $0.error?.extendedCode == 2067 && $0.runs == 1 })
        #expect(test.commits == commits && test.pool.writer.walFrames.all == frames)
        #expect(test.pool.writer.connection.isAutocommit)
        let next = test.member("INSERT INTO t VALUES(2, 2)")
        _ = test.run([next])
        #expect(try next.succeeded && test.lookFromOutside("SELECT id FROM t") == [["1"], ["2"]])
    }

    // MARK: A killed group

    enum Killer: String, CaseIterable {
        case orRollback = "INSERT OR ROLLBACK INTO t VALUES(1000, 'seed')"
        case raiseRollback = "INSERT INTO tripwire VALUES(1)"
        case interrupted = """
            INSERT INTO t SELECT NULL, 'n' || n FROM (
            WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 100000000) SELECT n FROM c)
            """

        func member(_ id: ClientID) -> FakeMember {
            let member = FakeMember(id, [rawValue])
            if self == .interrupted { member.whileRunning = { [unowned member] _ in member.isPrepared ? .cancelled : nil } }
            return member
        }

        var code: Int32 {
            switch self {
            case .orRollback: 2067
            case .raiseRollback: 1811
            case .interrupted: 9
            }
        }
    }

    /// `k` kills the transaction, `i` inserts. Whoever had run before a killer is run again; the killers are not.
    @Test(
        arguments: Killer.allCases,
        [("k", [1]), ("iik", [2, 2, 1]), ("kii", [1, 1, 1]), ("iki", [2, 1, 1]), ("ikiki", [2, 1, 2, 1, 1]), ("kk", [1, 1])]
            as [(String, [Int])])
    func oneKillsTheTransaction(_ killer: Killer, _ drawn: (picture: String, runs: [Int])) throws {
        let test = try TestPool()
        _ = test.run([test.member("INSERT INTO t VALUES(0, 'seed')")])
        let members = drawn.picture.enumerated().map { index, letter in
            letter == "k" ? killer.member(index + 1) : FakeMember(index + 1, ["INSERT INTO t VALUES(\(index + 1), \(index))"])
        }

        let result = test.run(members)

        #expect(result.finished.map(\.clientID).sorted() == Array(1...members.count))
        #expect(members.map(\.runs) == drawn.runs)
        for (member, letter) in zip(members, drawn.picture) {
            #expect(member.error?.extendedCode == (letter == "k" ? killer.code : nil))
            #expect(member.rewinds == member.runs - 1)
        }
        let expected = ["0"] + zip(members, drawn.picture).filter { $1 == "i" }.map { "\($0.0.clientID)" }
        #expect(try test.lookFromOutside("SELECT id FROM t ORDER BY id") == expected.map { [$0] })
        #expect(test.pool.writer.connection.isAutocommit)
    }

    /// A client that does nothing else must not take from the others what groups are for: those before it share a commit
    /// again, and those behind it another.
    @Test(arguments: Killer.allCases)
    func theOthersShareACommitAgain(_ killer: Killer) throws {
        let test = try TestPool()
        _ = test.run([test.member("INSERT INTO t VALUES(0, 'seed')")])
        let members = (1...21).map { $0 == 11 ? killer.member($0) : FakeMember($0, ["INSERT INTO t VALUES(\($0), \($0))"]) }
        let before = test.commits
        let result = test.run(members)
        #expect(result.finished.map(\.clientID) == Array(1...21))
        #expect(test.commits == before + 2)
        #expect(try test.lookFromOutside("SELECT count(*) FROM t") == [["21"]])
    }

    // MARK: A member that is long

    /// Longer than any of the limits below, which are longer than what a short one may have to wait for a processor.
    private static func long(_ id: ClientID) -> FakeMember {
        FakeMember(id, [Killer.interrupted.rawValue.replacing("100000000", with: "250000")])
    }

    /// `i` inserts, `L` is long, `k` kills the transaction. Who is before a long one does not wait for it: it is stopped, has the
    /// next group's first place, and is not stopped there.
    @Test(
        arguments: [
            ("L", [1], []),
            ("Lii", [1, 0, 0], [2, 3]),
            ("iL", [2, 1], [2]),
            ("iiLii", [2, 2, 1, 0, 0], [3, 4, 5]),
            // Behind a killed round the killer is still to be answered.
            ("kL", [1, 1], [2]),
            ("ikiL", [2, 1, 2, 1], [4]),
        ] as [(String, [Int], [ClientID])])
    func aLongMemberIsStopped(_ picture: String, _ runs: [Int], _ postponed: [ClientID]) throws {
        let test = try TestPool()
        _ = test.run([test.member("INSERT INTO t VALUES(0, 'seed')")])
        let members = picture.enumerated().map { index, letter in
            switch letter {
            case "L": Self.long(index + 1)
            case "k": Killer.orRollback.member(index + 1)
            default: FakeMember(index + 1, ["INSERT INTO t VALUES(-\(index + 1), \(index))"])
            }
        }
        let result = test.run(members, limitMilliseconds: 25)
        #expect(members.map(\.runs) == runs && result.postponed.map(\.clientID) == postponed)
        #expect(result.finished.map(\.clientID).sorted() == members.map(\.clientID).filter { !postponed.contains($0) })
        #expect(test.pool.writer.connection.isAutocommit)
        let count = picture.prefix(members.count - postponed.count).count { $0 == "i" }
        #expect(try test.lookFromOutside("SELECT count(*) FROM t WHERE id < 0") == [["\(count)"]])
        guard !postponed.isEmpty else { return }

        let next = test.run(members.suffix(postponed.count), limitMilliseconds: 25)
        #expect(next.finished.first?.clientID == postponed[0])
        #expect(try #require(members.first { $0.clientID == postponed[0] }).succeeded)
    }

    /// Its owner's reasons come first: who is cancelled is not run again.
    @Test func aLongMemberThatIsCancelled() throws {
        let test = try TestPool()
        let short = test.member("INSERT INTO t VALUES(1, 1)")
        let long = Killer.interrupted.member(2)
        let result = test.run([short, long], limitMilliseconds: 0)
        #expect(result.postponed.map(\.clientID) == [2] && long.runs == 0)
        let again = test.run([short, long], limitMilliseconds: 1000)
        #expect(again.finished.count == 2 && long.error?.extendedCode == 9 && long.runs == 1)
    }

    /// What went well the first time kills the transaction when it is run again: then each is alone.
    @Test func theyAreKilledAgain() throws {
        let test = try TestPool()
        _ = test.run([test.member("INSERT INTO t VALUES(0, 'seed')")])
        let members = (1...5).map { FakeMember($0, ["INSERT INTO t VALUES(-\($0), \($0))"]) }
        let late = Killer.orRollback.member(6)
        // The third is cancelled when it runs again, and not a third time: a cancel is for one run.
        let long = FakeMember(7, [Killer.interrupted.rawValue.replacing("100000000", with: "20000")])
        long.whileRunning = { [unowned long] _ in long.runs == 2 && long.isPrepared ? .cancelled : nil }
        let before = test.commits
        let result = test.run([members[0], members[1], long, members[2], late, members[3], members[4]])
        #expect(result.finished.map(\.clientID).sorted() == [1, 2, 3, 4, 5, 7] && result.postponed.map(\.clientID) == [6])
        #expect(members.allSatisfy(\.succeeded) && long.error?.extendedCode == 9)
        // Three alone, and two behind the killer together.
        #expect(test.commits == before + 4)
        #expect(try test.lookFromOutside("SELECT id FROM t WHERE id <> 0 ORDER BY id DESC") == (1...5).map { ["-\($0)"] })
        // It was refused for one of the rows that the third has not got in, and is now for another.
        _ = test.run([late])
        #expect(late.error?.extendedCode == 2067)
    }

    /// Who is alone is never run again, whatever COMMIT says, and need not remember what it was like before. `FakeMember` tells of one
    /// that is run again all the same.
    @Test(arguments: [["INSERT INTO t VALUES(1, 1)"], ["INSERT INTO child VALUES(5)"]], [1, 2])
    func whoRemembersItsState(_ statements: [String], _ count: Int) throws {
        let test = try TestPool()
        let members = (1...count).map { FakeMember($0, $0 == 1 ? statements : ["INSERT INTO t VALUES(2, 2)"]) }
        let result = test.run(members)
        #expect(result.finished.count == count)
        #expect(members.map(\.mayRunAgain) == members.map { _ in count > 1 })
        #expect(members[0].commitError?.extendedCode == (statements[0].contains("child") ? 787 : nil))
    }

    /// A deferred foreign key that is violated when the member is done would fail the others' COMMIT.
    @Test(arguments: ["v", "vi", "iv", "ivi", "vv", "ivivi", "iivk"])
    func deferredForeignKey(_ picture: String) throws {
        let test = try TestPool()
        _ = test.run([test.member("INSERT INTO t VALUES(0, 'seed')")])
        let members = picture.enumerated().map { index, letter in
            switch letter {
            case "v": FakeMember(index + 1, ["INSERT INTO child VALUES(\(index))"])
            case "k": Killer.orRollback.member(index + 1)
            default: FakeMember(index + 1, ["INSERT INTO t VALUES(\(index + 1), \(index))"])
            }
        }

        let result = test.run(members)

        #expect(result.finished.map(\.clientID).sorted() == Array(1...members.count))
        for (member, letter) in zip(members, picture) {
            #expect(member.commitError?.extendedCode == (letter == "v" ? 787 : nil))
            #expect(member.succeeded == (letter == "i"))
        }
        #expect(try test.lookFromOutside("SELECT count(*) FROM child") == [["0"]])
        let inserted = 1 + picture.filter { $0 == "i" }.count
        #expect(try test.lookFromOutside("SELECT count(*) FROM t") == [["\(inserted)"]])
    }

    /// Violated and resolved by the same member: nothing happens.
    @Test func deferredForeignKeyThatIsResolved() throws {
        let test = try TestPool()
        let members = [
            test.member("INSERT INTO t VALUES(1, 1)"),
            test.member("INSERT INTO child VALUES(5)", "INSERT INTO parent VALUES(5)"),
        ]
        let before = test.commits
        _ = test.run(members)
        #expect(members.allSatisfy { $0.succeeded && $0.runs == 1 } && test.commits == before + 1)
    }

    /// A group is nothing but its members one after the other: the same answers and the same rows, whatever fails.
    @Test(arguments: 0..<40)
    func equalsOneAfterTheOther(_ seed: Int) throws {
        var generator = SeededGenerator(state: UInt64(seed))
        let scripts: [[String]] = (0..<12).map { _ in
            let value = Int.random(in: 0..<8, using: &generator)
            switch Int.random(in: 0..<8, using: &generator) {
            case 0: return ["INSERT OR ROLLBACK INTO t(v) VALUES(\(value))"]
            case 1: return ["INSERT INTO tripwire VALUES(1)"]
            case 2: return ["INSERT INTO child VALUES(\(value))"]
            case 3: return ["INSERT INTO parent VALUES(\(value))"]
            case 4: return ["INSERT INTO t(v) VALUES(100 + \(value))", "INSERT INTO t(v) VALUES(\(value))"]
            case 5: return ["DELETE FROM t WHERE v = \(value) RETURNING v"]
            default: return ["INSERT INTO t(v) VALUES(\(value)) RETURNING v"]
            }
        }
        let together = try TestPool()
        let apart = try TestPool()
        let group = scripts.enumerated().map { FakeMember($0 + 1, $1) }
        let singles = scripts.enumerated().map { FakeMember($0 + 1, $1) }

        let result = together.run(group)
        for member in singles { _ = apart.run([member]) }

        #expect(result.finished.map(\.clientID).sorted() == Array(1...scripts.count))
        for (a, b) in zip(group, singles) {
            #expect(a.rows == b.rows && a.error?.extendedCode == b.error?.extendedCode, "\(scripts)")
            #expect(a.commitError?.extendedCode == b.commitError?.extendedCode, "\(scripts)")
        }
        for table in ["t", "parent", "child", "tripwire"] {
            let sql = "SELECT * FROM \(table) ORDER BY 1, 2"
            let columns = table == "t" ? sql : "SELECT * FROM \(table) ORDER BY 1"
            #expect(try together.lookFromOutside(columns) == apart.lookFromOutside(columns))
        }
    }

    // MARK: Another process has the lock

    ///     outsider            writer
    ///     BEGIN IMMEDIATE
    ///                         the group waits; 2 has no patience left
    ///                         2 is answered
    ///     COMMIT
    ///                         1 and 3 commit together
    @Test func theImpatientLeaveTheOthersWaiting() throws {
        let test = try TestPool()
        let outsider = try Outsider(test.path)
        let members = (1...3).map { test.member("INSERT INTO t VALUES(\($0), \($0))") }
        members[1].whileWaiting = { asked in asked >= 3 ? .lockTimeout : nil }
        members[1].onRefusal = { #expect(outsider.run("COMMIT") == "[]") }
        #expect(outsider.run("BEGIN IMMEDIATE") == "[]")

        let result = test.run(members)

        #expect(result.finished.map(\.clientID).sorted() == [1, 2, 3])
        #expect(members[1].refusal?.reason == .lockTimeout && members[1].refusal?.error.isBusy == true)
        #expect(members[1].runs == 0 && members[0].isLong)
        #expect(members[0].succeeded && members[2].succeeded)
        #expect(try test.lookFromOutside("SELECT id FROM t") == [["1"], ["3"]])
    }

    /// Nobody has patience: all are answered, and the writer is as before.
    @Test func nobodyWaits() throws {
        let test = try TestPool()
        let outsider = try Outsider(test.path)
        let reasons: [StopReason] = [.cancelled, .shutdown, .statementTimeout]
        let members = reasons.map { reason in
            let member = test.member("INSERT INTO t VALUES(1, 1)")
            member.whileWaiting = { _ in reason }
            return member
        }
        outsider.run("BEGIN IMMEDIATE")
        let result = test.run(members)
        #expect(result.finished.count == 3 && members.map { $0.refusal?.reason } == reasons)
        outsider.run("COMMIT")
        let later = test.member("INSERT INTO t VALUES(1, 1)")
        _ = test.run([later])
        #expect(later.succeeded)
    }

    ///     outsider            writer
    ///                         1 inserts, 2 kills the transaction: the lock is free
    ///     BEGIN IMMEDIATE
    ///                         1 is to be run again, and cannot
    ///     ROLLBACK
    ///                         2 runs again: its error may have come of what 1 had written
    @Test(
        arguments: [
            ("INSERT INTO tripwire VALUES(1)", 1811, [["0"]]),
            ("INSERT OR ROLLBACK INTO t VALUES(1, 9)", nil, [["1"]]),
        ] as [(String, Int32?, [[String]])])
    func theOutsiderComesBetweenAKilledGroupAndItsSecondRun(_ killing: String, _ code: Int32?, _ rows: [[String]]) throws {
        let test = try TestPool()
        let outsider = try Outsider(test.path)
        let first = test.member("INSERT INTO t VALUES(1, 1)")
        let killer = test.member(killing)
        first.whileWaiting = { asked in asked >= 2 ? .lockTimeout : nil }
        let rewound = RewindHook(first) { outsider.run("BEGIN IMMEDIATE") }
        let result = GroupCommit(writer: test.pool.writer, limitMilliseconds: 60_000).run([rewound, killer])
        outsider.run("ROLLBACK")
        #expect(result.finished.map(\.clientID) == [1] && result.postponed.map(\.clientID) == [2])
        #expect(first.refusal?.reason == .lockTimeout && killer.rewinds == 1)
        _ = test.run([killer])
        #expect(killer.error?.extendedCode == code)
        #expect(try test.lookFromOutside("SELECT count(*) FROM t") == rows)
    }

    /// What ends 1 in its second run undoes it alone, or the whole transaction; either way 2 was refused for a row that nobody has.
    @Test(arguments: ["INSERT INTO t VALUES(1, 1), (5, 5)", "INSERT OR ROLLBACK INTO t VALUES(1, 1), (5, 5)"])
    func whoFailsInTheSecondRun(_ sql: String) throws {
        let test = try TestPool()
        let outsider = try Outsider(test.path)
        let first = test.member(sql)
        let killer = test.member("INSERT OR ROLLBACK INTO t VALUES(1, 9)")
        let rewound = RewindHook(first) { outsider.run("INSERT INTO t VALUES(5, 0)") }
        let result = GroupCommit(writer: test.pool.writer, limitMilliseconds: 60_000).run([rewound, killer])
        #expect(result.finished.map(\.clientID) == [1] && result.postponed.map(\.clientID) == [2])
        #expect(first.error?.extendedCode == 1555 && killer.rewinds == 1)
        _ = test.run([killer])
        #expect(killer.succeeded)
        #expect(try test.lookFromOutside("SELECT id FROM t ORDER BY id") == [["1"], ["5"]])
    }

    /// A member that does something when it is rewound.
    final class RewindHook: GroupMember, @unchecked Sendable {
        let inner: FakeMember
        let onRewind: () -> Void
        init(_ inner: FakeMember, _ onRewind: @escaping () -> Void) {
            self.inner = inner
            self.onRewind = onRewind
        }
        var clientID: ClientID { inner.clientID }
        var waitDeadline: Instant { inner.waitDeadline }
        func mark(mayRunAgain: Bool) { inner.mark(mayRunAgain: mayRunAgain) }
        func rewind() {
            inner.rewind()
            onRewind()
        }
        func runTransaction(on writer: Writer) { inner.runTransaction(on: writer) }
        var leavesNothing: Bool { inner.leavesNothing }
        func commitFailed(_ error: SQLiteError) { inner.commitFailed(error) }
        func couldNotBegin(_ reason: StopReason?, _ error: SQLiteError) { inner.couldNotBegin(reason, error) }
        func reasonToStop(now: Instant) -> StopReason? { inner.reasonToStop(now: now) }
        func reasonToStopWaiting(now: Instant) -> StopReason? { inner.reasonToStopWaiting(now: now) }
        func willBeLong() { inner.willBeLong() }
    }

    // MARK: The group's time

    /// With no time at all a group is its first member: nobody can be kept from ever running.
    @Test func noTimeForMoreThanOne() throws {
        let test = try TestPool()
        let members = (1...3).map { test.member("INSERT INTO t VALUES(\($0), \($0))") }
        let result = test.run(members, limitMilliseconds: 0)
        #expect(result.finished.map(\.clientID) == [1] && result.postponed.map(\.clientID) == [2, 3])
        #expect(members.map(\.runs) == [1, 0, 0])
        #expect(try test.lookFromOutside("SELECT id FROM t") == [["1"]])
    }

    ///     1 holds the writer; 2, 3 and 4 wait
    ///     1 releases                  2+3+4 are granted
    ///     5 comes
    ///     the group has time for 2 only
    ///     it releases                 3+4+5: as if 3 and 4 had never left the queue
    @Test func thePostponedReturnToTheFront() throws {
        let test = try TestPool { $0.groupMilliseconds = 0 }
        let pool = test.pool
        let members = (1...5).map { test.member("INSERT INTO t VALUES(\($0), \($0))") }
        #expect(pool.requestWriter(members[0], .member, deadline: .distantFuture).picture == "granted")
        for member in members[1...3] {
            #expect(pool.requestWriter(member, .member, deadline: .distantFuture).picture == "parked")
        }
        #expect(pool.commitGroup([members[0]]).map(\.clientID) == [1])
        guard case .group(let granted) = pool.releaseWriter() else {
            Issue.record("no group was granted")
            return
        }
        #expect(granted.map(\.clientID) == [2, 3, 4])
        #expect(pool.requestWriter(members[4], .member, deadline: .distantFuture).picture == "parked")
        #expect(pool.commitGroup(granted).map(\.clientID) == [2])
        #expect(pool.withdraw(3) && !pool.withdraw(3))
        guard case .group(let next) = pool.releaseWriter() else {
            Issue.record("no group was granted")
            return
        }
        #expect(next.map(\.clientID) == [4, 5])
    }
}
