import Pool
import Scheduling
import Testing

@testable import Server

/// Which thread asks for events instead of sleeping. nil: it does not, and so has not asked in vain.
@Suite struct CrewTests {
    private let crew = Self.crew(processors: 2)

    private static func crew(processors: Int) -> Crew {
        Crew(threads: 5, pollers: max(2, processors), quickPollers: processors / 2, processors: processors)
    }

    /// Something comes at the third time, and it asks no more.
    @Test func asksUntilSomethingComes() {
        var asked = 0
        let found = crew.pollBusily(until: .distantFuture) {
            asked += 1
            return asked == 3 ? 7 : 0
        }
        #expect(found == 7 && asked == 3)
        #expect(crew.pollBusily(until: MonotonicClock.now) { 0 } == 0)
    }

    @Test func onlyOneThreadAsks() {
        var other: Int? = 1
        let found = crew.pollBusily(until: .distantFuture) {
            other = crew.pollBusily(until: .distantFuture) { 1 }
            return 1
        }
        #expect(found == 1 && other == nil)
    }

    @Test func asksForNothingWhileCommitsGoOn() {
        #expect(crew.joinOrStandBy())
        crew.willBlock(now: MonotonicClock.now)
        #expect(crew.pollBusily(until: .distantFuture) { 1 } == nil)
    }

    /// It would keep the only one from the client that is to send what it asks for.
    @Test func asksForNothingOnTheOnlyProcessor() {
        let lone = Self.crew(processors: 1)
        #expect(lone.pollBusily(until: .distantFuture) { 1 } == nil)
    }

    ///     threads 1 and 2                 thread 3
    ///     long statements
    ///                                     asks: of four processors two are left
    ///                                     a long statement: who asked would have the last one
    ///     one is back, and asks
    @Test func asksForNothingWhereLongWorkHasTheOthers() {
        let large = Self.crew(processors: 4)
        for _ in 0..<2 { #expect(large.joinOrStandBy()) }
        for _ in 0..<2 { large.willBeLong() }
        #expect(large.joinOrStandBy())
        #expect(large.pollBusily(until: .distantFuture) { 1 } == 1)
        large.willBeLong()
        #expect(large.pollBusily(until: .distantFuture) { 1 } == nil)
        #expect(large.joinAgainOrStandBy())
        #expect(large.pollBusily(until: .distantFuture) { 1 } == 1)
    }
}
