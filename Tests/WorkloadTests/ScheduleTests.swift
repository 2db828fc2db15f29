import Testing

@testable import Workload

@Suite struct ScheduleTests {
    static let second: Int64 = 1_000_000_000
    static let millisecond: Int64 = 1_000_000

    /// A client against a server that takes 0.1 ms, but stands still from the third second to the fourth.
    static func run(_ schedule: Schedule, seconds: Int64 = 6) -> TallyContents {
        let tally = Tally(clients: 1)
        tally.begin(from: 0, until: seconds * second)
        let stall = 3 * second..<4 * second
        var (number, lastEnd) = (0, Int64(0))
        while true {
            let intended = schedule.intendedStart(of: number, start: 0, lastEnd: lastEnd)
            let start = max(intended, lastEnd)
            guard start < seconds * second else { return tally.close() }
            lastEnd = (stall.contains(start) ? stall.upperBound : start) + millisecond / 10
            tally.succeeded(client: 0, began: intended, ended: lastEnd, statements: 1, rows: 0)
            number += 1
        }
    }

    /// A stall of a second at 1,000 per second is a thousand slow transactions, of up to a second, and not one.
    @Test func noOmission() {
        var open = ClientClass(name: "a", clients: 1)
        open.ratePerSecond = 1000
        let contents = Self.run(Schedule(open, client: 0))
        let histogram = contents.counts.histogram
        // And a hundred more until it has caught up.
        #expect((1000...1120).contains(histogram.count(within: 1000...2_000_000)))
        // The n-th of them waited 1 s - n * 0.9 ms.
        #expect((550...560).contains(histogram.count(within: 500_000...2_000_000)))
        #expect((999_000...1_001_000).contains(contents.longestNanoseconds / 1000))
        #expect(contents.transactions == 6000)

        let closed = Self.run(.closed(thinkNanoseconds: 900_000))
        #expect(closed.counts.histogram.count(within: 1000...2_000_000) == 1)
    }

    /// Clients take turns.
    @Test func clientsOfAClassMakeOneStream() {
        var open = ClientClass(name: "a", clients: 4)
        open.ratePerSecond = 300
        let starts = (0..<4).flatMap { client in
            (0..<75).map { Schedule(open, client: client).intendedStart(of: $0, start: 1000, lastEnd: 77) }
        }.sorted()
        #expect(starts.first == 1000)
        for (number, start) in starts.enumerated() { #expect(abs(start - 1000 - Int64(number) * Self.second / 300) <= 1) }
    }

    /// As many are due before a time as have their start before it, also where the two would be rounded differently.
    @Test(arguments: [3.3, 7, 300, 1e5])
    func dueBefore(_ rate: Double) {
        var open = ClientClass(name: "a", clients: 3)
        open.ratePerSecond = rate
        for client in 0..<3 {
            let schedule = Schedule(open, client: client)
            for number in 0..<100 {
                let time = schedule.intendedStart(of: number, start: 1000, lastEnd: 0)
                #expect(schedule.due(before: time, start: 1000) == number)
                #expect(schedule.due(before: time + 1, start: 1000) == number + 1)
            }
            #expect(schedule.due(before: 500, start: 1000) == 0)
        }
    }

    /// The limits of a workload file fit into the clock.
    @Test func longestTimes() {
        var open = ClientClass(name: "a", clients: ClientClass.mostClients)
        for rate in [ClientClass.rates.lowerBound, ClientClass.rates.upperBound] {
            open.ratePerSecond = rate
            let schedule = Schedule(open, client: open.clients - 1)
            #expect(schedule.intendedStart(of: 1, start: .max / 4, lastEnd: 0) > .max / 4)
            let due = Double(schedule.due(before: .max / 4 + 1_000_000 * Self.second, start: .max / 4))
            // Its share of them all, give or take the one it begins with.
            #expect(abs(due - 1_000_000 * rate / Double(open.clients)) <= max(1, due * 1e-9))
        }
        var closed = ClientClass(name: "a", clients: 1)
        closed.thinkMilliseconds = ClientClass.pausesMilliseconds.upperBound
        #expect(Schedule(closed, client: 0).intendedStart(of: 1, start: 0, lastEnd: .max / 4) == .max / 4 + 1_000_000 * Self.second)
    }

    @Test func closedLoopThinks() {
        var closed = ClientClass(name: "a", clients: 1)
        closed.thinkMilliseconds = 1.5
        let schedule = Schedule(closed, client: 0)
        #expect(schedule.intendedStart(of: 0, start: 500, lastEnd: 0) == 500)
        #expect(schedule.intendedStart(of: 1, start: 500, lastEnd: 7000) == 7000 + 1_500_000)
    }

    /// 3.3 per second for a year: nothing drifts.
    @Test func noDrift() {
        let schedule = Schedule.open(everyNanoseconds: 1e9 / 3.3, offsetNanoseconds: 0)
        let year = Int64(365 * 86_400) * Self.second
        let number = Int(3.3 * 365 * 86_400)
        #expect(abs(schedule.intendedStart(of: number, start: 0, lastEnd: 0) - year) < Self.second)
    }
}
