import Pool
import Scheduling
import Testing

@testable import Server

/// Which thread asks for events instead of sleeping. nil: it does not, and so has not asked in vain.
@Suite struct CrewTests {
    private let crew = Crew(threads: 5, pollers: 2, quickPollers: 1)

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
}
