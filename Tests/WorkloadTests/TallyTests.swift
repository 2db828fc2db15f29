import Testing

@testable import Workload

@Suite struct TallyTests {
    static let second: Int64 = 1_000_000_000

    /// Measured from the tenth second to the thirteenth.
    static func makeTally(isOpen: Bool = false) -> Tally {
        let tally = Tally(clients: 2, isOpen: isOpen)
        tally.begin(from: 10 * second, until: 13 * second)
        return tally
    }

    @Test func warmUpAndLate() {
        let tally = Self.makeTally()
        for ended in [9.9, 10, 12.9, 13, 14.5] {
            let time = Int64(ended * 1e9)
            tally.succeeded(client: 1, began: time - 1_000_000, ended: time, statements: 2, rows: 3)
        }
        let contents = tally.close()
        #expect(contents.warmUpTransactions == 1 && contents.transactions == 2 && contents.lateTransactions == 2)
        #expect(contents.statements == 4 && contents.rows == 6 && contents.perClient == [0, 2])
    }

    @Test func secondsAreCountedApart() {
        let tally = Self.makeTally()
        for (ended, latency) in [(10.1, 1), (10.2, 5), (12.7, 2)] {
            let time = Int64(ended * 1e9)
            tally.succeeded(client: 0, began: time - Int64(latency) * 1_000_000, ended: time, statements: 1, rows: 0)
        }
        let contents = tally.close()
        #expect(contents.seconds.map(\.counts.total) == [2, 0, 1])
        #expect(contents.seconds.map(\.highestNanoseconds) == [5_000_000, 0, 2_000_000])
    }

    /// A run in which nothing ends any more shows that in its seconds, too.
    @Test func silenceAtTheEnd() {
        let tally = Self.makeTally()
        tally.succeeded(client: 0, began: 10 * Self.second, ended: 10 * Self.second + 5, statements: 1, rows: 0)
        #expect(tally.close().seconds.map(\.counts.total) == [1, 0, 0])
    }

    @Test func stoppedEarly() {
        let tally = Self.makeTally()
        tally.stop(at: 11 * Self.second)
        tally.succeeded(client: 0, began: 10 * Self.second, ended: 12 * Self.second, statements: 1, rows: 0)
        let contents = tally.close()
        #expect(contents.transactions == 0 && contents.lateTransactions == 1 && contents.seconds.count == 1)
    }

    /// What ends after the signal, but before anybody has seen it, makes no second of its own.
    @Test func countedBeforeTheStopWasKnown() {
        let tally = Self.makeTally()
        for ended in [10.9, 11.01] {
            tally.succeeded(client: 0, began: 10 * Self.second, ended: Int64(ended * 1e9), statements: 1, rows: 0)
        }
        tally.stop(at: 11 * Self.second)
        let contents = tally.close()
        #expect(contents.transactions == 2 && contents.seconds.map(\.counts.total) == [2])
        #expect(contents.seconds[0].highestNanoseconds == 1_010_000_000)
    }

    /// Who ends after the end was running at the end.
    @Test func lateOnesWereUnfinished() {
        let tally = Self.makeTally()
        tally.succeeded(client: 0, began: 12 * Self.second, ended: 15 * Self.second, statements: 1, rows: 0)
        #expect(tally.close().unfinishedNanoseconds == Self.second)
        let failing = Self.makeTally()
        failing.failed(began: 11 * Self.second, ended: 15 * Self.second, state: "57014", message: "stopped")
        #expect(failing.close().unfinishedNanoseconds == 2 * Self.second)
    }

    /// Who never got an answer is not in the histogram of a closed loop, but in the longest.
    @Test func starvation() {
        let tally = Self.makeTally()
        tally.abandoned(began: 8 * Self.second)
        let contents = tally.close()
        #expect(contents.unfinishedNanoseconds == 5 * Self.second && contents.longestNanoseconds == 5 * Self.second)
        #expect(contents.counts.entries.isEmpty)
    }

    @Test func failures() {
        let tally = Self.makeTally()
        tally.failed(began: 0, ended: Self.second, state: "40001", message: "in the warm-up")
        tally.failed(began: 0, ended: Self.second, state: "40001", message: "in the warm-up", isRetried: true)
        tally.failed(began: 10 * Self.second, ended: 11 * Self.second, state: "40001", message: "changed", isRetried: true)
        tally.failed(began: 10 * Self.second, ended: 12 * Self.second, state: "55P03", message: "locked")
        for number in 0..<20 { tally.failed(began: 12 * Self.second, ended: 12 * Self.second, state: "XX000", message: "\(number)") }
        let contents = tally.close()
        #expect(contents.errors == 21 && contents.retries == 1)
        // What fails before the measured time may do so after it begins: it is told.
        #expect(contents.warmUpErrors == 1 && contents.warmUpErrorStates == ["40001": 1])
        #expect(contents.errorStates == ["40001": 1, "55P03": 1, "XX000": 20])
        #expect(contents.longestNanoseconds == 2 * Self.second)
        #expect(contents.complaints.prefix(3) == ["40001: in the warm-up", "40001: changed", "55P03: locked"])
        #expect(contents.complaints.count == TallyContents.mostComplaints)
    }

    /// After the end an error is as late as a success.
    @Test func lateFailures() {
        let tally = Self.makeTally()
        tally.failed(began: 12 * Self.second, ended: 13 * Self.second, state: "55P03", message: "locked")
        tally.lost(began: 12 * Self.second, ended: 14 * Self.second, state: "08006", message: "gone")
        let contents = tally.close()
        #expect(contents.errors == 0 && contents.errorStates.isEmpty && contents.lateErrors == 2)
        #expect(contents.lateErrorStates == ["55P03": 1, "08006": 1] && contents.longestNanoseconds == 2 * Self.second)
        #expect(contents.complaints == ["55P03: locked", "08006: gone"])
    }

    /// Who is lost is missing from then on: also in the warm-up.
    @Test func lostClients() {
        let tally = Self.makeTally()
        tally.lost(began: 5 * Self.second, ended: 5 * Self.second, state: "57P01", message: "told to go")
        tally.lost(began: 11 * Self.second, ended: 12 * Self.second, state: "08006", message: "gone")
        let contents = tally.close()
        #expect(contents.errors == 2 && contents.errorStates == ["57P01": 1, "08006": 1])
        #expect(contents.longestNanoseconds == Self.second && contents.complaints == ["57P01: told to go", "08006: gone"])
    }

    /// Four starts a second, since the eighth second: what never began is not forgotten, and how long it has been due.
    @Test(arguments: [(20, 0, 0), (18, 2, 500), (8, 12, 3000), (5, 12, 3750)])
    func notStarted(_ started: Int, _ missing: UInt64, _ dueMilliseconds: Int64) {
        let tally = Self.makeTally()
        let schedule = Schedule.open(everyNanoseconds: 250_000_000, offsetNanoseconds: 0)
        tally.countDue(schedule, start: 8 * Self.second, started: started)
        let contents = tally.close()
        #expect(contents.due == 12 && contents.notStarted == missing)
        #expect(contents.unfinishedNanoseconds == dueMilliseconds * 1_000_000)
        #expect(contents.longestNanoseconds == contents.unfinishedNanoseconds)
    }

    /// Nothing is due in a closed loop, nor in a run that was stopped in its warm-up.
    @Test func nothingDue() {
        let tally = Self.makeTally()
        tally.countDue(.closed(thinkNanoseconds: 0), start: 0, started: 0)
        tally.stop(at: 9 * Self.second)
        tally.countDue(.open(everyNanoseconds: 1e9, offsetNanoseconds: 0), start: 8 * Self.second, started: 0)
        #expect(tally.close().due == 0)
    }

    /// It is told, whatever the others have counted.
    @Test func missingClients() {
        var contents = Self.random(3)
        let (errors, transactions) = (contents.errors, contents.transactions)
        for _ in 0..<2 { contents.addMissing("died", "a client's process was killed by signal 9") }
        #expect(contents.errors == errors + 2 && contents.transactions == transactions && contents.errorStates["died"] == 2)
        #expect(contents.complaints.last == "died: a client's process was killed by signal 9")
    }

    static func random(_ seed: UInt64) -> TallyContents {
        var random = Random(seed: seed, stream: 0)
        let tally = makeTally(isOpen: true)
        for _ in 0..<1000 {
            let ended = 9 * second + Int64(random.below(5_000_000_000))
            // In order, as one thread sees them.
            tally.succeeded(
                client: Int(random.below(2)), began: ended - Int64(random.below(1_000_000_000)), ended: ended, statements: 1, rows: 2)
        }
        tally.failed(began: 10 * second, ended: 11 * second, state: "S\(seed)", message: "ü, \"quoted\"")
        tally.failed(began: 13 * second, ended: 14 * second, state: "S\(seed)", message: "late")
        tally.failed(began: 9 * second, ended: 10 * second, state: "S\(seed)", message: "early")
        tally.countDue(.open(everyNanoseconds: 1e8, offsetNanoseconds: 0), start: 9 * second, started: 35)
        return tally.close()
    }

    @Test func handedOver() throws {
        let contents = Self.random(7)
        let bytes = contents.bytes
        #expect(TallyContents(bytes: bytes) == contents)
        for cut in stride(from: 0, to: bytes.count, by: 97) { #expect(TallyContents(bytes: Array(bytes.prefix(cut))) == nil) }
    }

    @Test func addedUp() {
        let (first, second) = (Self.random(1), Self.random(2))
        var sum = TallyContents(clients: 0)
        sum.add(first)
        #expect(sum == first)
        sum.add(second)
        #expect(sum.transactions == first.transactions + second.transactions)
        #expect(sum.perClient == zip(first.perClient, second.perClient).map(+))
        #expect(sum.counts.total == first.counts.total + second.counts.total && sum.seconds.count == 3)
        // Each has a failure that was due.
        #expect(
            sum.overdue.counts.total == sum.counts.total - sum.transactions - 2 && sum.lateErrors == 2
                && sum.lateErrorStates == sum.errorStates
        )
        #expect(sum.warmUpErrors == 2 && sum.warmUpErrorStates == sum.errorStates)
        #expect(sum.errorStates == ["S1": 1, "S2": 1] && sum.due == 60 && sum.notStarted == 10)
        #expect(sum.longestNanoseconds == max(first.longestNanoseconds, second.longestNanoseconds))
        // In whichever order they are added.
        var other = TallyContents(clients: 0)
        other.add(second)
        other.add(first)
        #expect(other.counts == sum.counts)
    }
}
