import Testing

@testable import Workload

/// What belongs to the measured time of an open loop: what was meant to start in it, from the tenth second to the thirteenth.
@Suite struct OpenLoopTests {
    static let second: Int64 = 1_000_000_000

    static func makeTally() -> Tally {
        let tally = Tally(clients: 2, isOpen: true)
        tally.begin(from: 10 * second, until: 13 * second)
        return tally
    }

    static func succeed(_ tally: Tally, _ began: Double, _ ended: Double) {
        tally.succeeded(client: 0, began: Int64(began * 1e9), ended: Int64(ended * 1e9), statements: 2, rows: 3)
    }

    /// What a stall in the warm-up has left behind ends in the measured time, or after it, and is no part of it.
    @Test func arrivalsOfTheWarmUp() {
        let tally = Self.makeTally()
        for ended in [9.9, 10, 12.9, 13, 14] { Self.succeed(tally, 9.8, ended) }
        let contents = tally.close()
        #expect(contents.warmUpTransactions == 5 && contents.transactions == 0 && contents.lateTransactions == 0)
        #expect(contents.counts.entries.isEmpty && contents.rows == 0 && contents.perClient == [0, 0])
    }

    /// Throughput is what ended in time; latency is that of all that were due.
    @Test func lateOnesWereDue() {
        let tally = Self.makeTally()
        for (began, ended) in [(10, 10.5), (11, 12.9), (12, 13), (12.5, 15)] { Self.succeed(tally, began, ended) }
        let contents = tally.close()
        #expect(contents.transactions == 2 && contents.lateTransactions == 2 && contents.warmUpTransactions == 0)
        #expect(contents.statements == 4 && contents.perClient == [2, 0])
        #expect(
            contents.counts.total == 4
                && LatencyFigures(contents.counts, longestNanoseconds: contents.longestNanoseconds)["p99"] == 2_500_000)
        #expect(contents.unfinishedNanoseconds == Self.second)
        // They are in no second, and make none.
        #expect(contents.seconds.map(\.counts.total) == [1, 0, 1])
    }

    /// One that began after an early end was due no longer; it is only in the tables.
    @Test func begunAfterAnEarlyEnd() {
        let tally = Self.makeTally()
        tally.stop(at: 12 * Self.second)
        Self.succeed(tally, 12.5, 12.6)
        let contents = tally.close()
        #expect(contents.lateTransactions == 1 && contents.counts.entries.isEmpty)
    }

    /// A part of a second that has nothing but what was overdue is there, so that the log has a line for it.
    @Test func nothingButLateOnes() {
        let tally = Tally(clients: 1, isOpen: true)
        tally.begin(from: 0, until: Self.second / 2)
        Self.succeed(tally, 0.25, 0.75)
        let contents = tally.close()
        #expect(contents.seconds.map(\.counts.total) == [0] && contents.overdue.counts.total == 1)
    }

    /// Four starts a second, since the eighth second: each that never was has waited until the end.
    @Test(arguments: [(20, 0), (18, 2), (8, 12), (5, 12)])
    func neverStarted(_ started: Int, _ missing: Int64) {
        let tally = Self.makeTally()
        tally.countDue(.open(everyNanoseconds: 250_000_000, offsetNanoseconds: 0), start: 8 * Self.second, started: started)
        let contents = tally.close()
        #expect(contents.due == 12 && contents.notStarted == UInt64(missing) && contents.transactions == 0)
        let expected = LatencyCounts()
        for age in 0..<missing { expected.record(nanoseconds: (age + 1) * 250_000_000) }
        #expect(contents.counts == expected.take())
        #expect(contents.seconds.allSatisfy { $0.counts.total == 0 } && contents.seconds.count == 3)
    }

    /// What no one can start is counted in a moment, and to the last one.
    @Test(arguments: [1e4, 1e9])
    func absurdRate(_ rate: Double) {
        let tally = Self.makeTally()
        tally.countDue(.open(everyNanoseconds: 1e9 / rate, offsetNanoseconds: 0), start: 10 * Self.second, started: 1)
        let contents = tally.close()
        #expect(contents.notStarted == UInt64(3 * rate) - 1 && contents.counts.total == contents.notStarted)
        let figures = LatencyFigures(contents.counts, longestNanoseconds: contents.longestNanoseconds)
        #expect(abs(Int(figures["p50"]) - 1_500_000) <= 3000 && abs(Int(figures["p99"]) - 2_970_000) <= 5000)
    }

    @Test func neverAnswered() {
        let tally = Self.makeTally()
        tally.abandoned(began: 12 * Self.second)
        // Of the warm-up, and after an early end: no part of what was due.
        tally.abandoned(began: 9 * Self.second)
        tally.abandoned(began: 14 * Self.second)
        let contents = tally.close()
        #expect(contents.counts.total == 1 && contents.overdue.counts.entries.first?.index == UInt32(LatencyCounts.index(of: 1_000_000)))
        #expect(contents.unfinishedNanoseconds == 4 * Self.second)
    }

    /// A server that hangs owes everybody an answer, and that is an error.
    @Test func notAnswered() {
        let tally = Self.makeTally()
        tally.unanswered(began: 12 * Self.second, givenUp: 23 * Self.second)
        let contents = tally.close()
        #expect(contents.errors == 1 && contents.errorStates == ["not answered": 1] && contents.complaints.count == 1)
        #expect(contents.unfinishedNanoseconds == Self.second && contents.longestNanoseconds == 11 * Self.second)
        #expect(contents.counts.total == 1 && contents.transactions == 0)
    }

    /// A stall that ends with an error was as long as one that ends with an answer. In the second in which it ended, but no
    /// transaction of it.
    @Test func failuresWereDue() {
        let tally = Self.makeTally()
        Self.succeed(tally, 10, 10.5)
        Self.fail(tally, 10, 12.25)
        Self.fail(tally, 12, 14)
        // Of the warm-up; begun again; a client that waited, for which nothing was due.
        Self.fail(tally, 9, 11)
        tally.failed(began: 11 * Self.second, ended: 12 * Self.second, state: "40001", message: "changed", isRetried: true)
        tally.lost(began: nil, ended: 11 * Self.second, state: "08006", message: "gone")
        tally.lost(began: 11 * Self.second, ended: 13 * Self.second - 1, state: "08006", message: "gone")
        let contents = tally.close()
        #expect(contents.transactions == 1 && contents.errors == 4 && contents.counts.total == 4)
        #expect(contents.seconds.map(\.counts.total) == [1, 0, 0] && contents.seconds.map(\.failed.total) == [0, 0, 2])
        #expect(contents.seconds.map(\.highestNanoseconds) == [Self.second / 2, 0, 9 * Self.second / 4])
        let figures = LatencyFigures(contents.counts, longestNanoseconds: contents.longestNanoseconds)
        #expect(figures["p50"] == 2_000_895 && figures["p99"] == 2_250_000)
    }

    private static func fail(_ tally: Tally, _ began: Double, _ ended: Double) {
        tally.failed(began: Int64(began * 1e9), ended: Int64(ended * 1e9), state: "57014", message: "canceled")
    }

    /// Errors belong where their start was meant to be, like successes.
    @Test func errors() {
        let tally = Self.makeTally()
        for (began, ended) in [(9, 11), (9, 14), (11, 12), (12, 14), (13, 14)] {
            tally.failed(began: Int64(began) * Self.second, ended: Int64(ended) * Self.second, state: "55P03", message: "locked")
        }
        let contents = tally.close()
        #expect(
            contents.errors == 2 && contents.lateErrors == 1 && contents.errorStates == ["55P03": 2]
                && contents.lateErrorStates == ["55P03": 1])
    }
}
