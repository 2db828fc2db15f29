import Foundation
import Pool
import Scheduling
import Testing

@testable import Server

/// Which thread asks for events instead of sleeping. nil: it does not, and so has not asked in vain.
@Suite struct CrewTests {
    private let crew = Self.crew(processors: 2)

    private static func crew(processors: Int) -> Crew {
        Crew(threads: 5, pollers: max(2, processors), quickPollers: processors / 2, processors: processors, socketsMayKeep: false)
    }

    /// The calling thread polls, and another one watches until the crew stops: any that joins afterwards may poll as well.
    private func joinWatched(_ crew: Crew) {
        #expect(crew.joinOrStandBy())
        Thread.detachNewThread { _ = crew.joinOrStandBy() }
        while !crew.isWatched { sched_yield() }
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

    ///     thread 1                        thread 2
    ///     gets all it takes
    ///                                     is called: both take several at once, as one alone does
    ///     commits
    ///     takes fewer
    @Test func twoShareABacklog() throws {
        joinWatched(crew)
        defer { crew.stop() }
        #expect(!crew.isShared && crew.hasFewPollers && crew.eventsAtOnce == EventBatch.eventsAtOnce)
        crew.hasBacklog(now: MonotonicClock.now)
        try #require(crew.isShared && crew.hasFewPollers && crew.eventsAtOnce == EventBatch.eventsAtOnce)
        // Nobody but the watcher is in the reserve yet, so who comes polls.
        #expect(crew.joinOrStandBy())
        crew.willBlock(now: MonotonicClock.now)
        #expect(!crew.hasFewPollers && crew.eventsAtOnce == EventBatch.mostBesideOthers && !crew.mayKeepMany)
    }

    /// Somebody would sleep meanwhile.
    @Test func whereManyPollEachTakesOne() {
        let large = Self.crew(processors: 4)
        joinWatched(large)
        defer { large.stop() }
        #expect(large.joinOrStandBy())
        #expect(large.eventsAtOnce == 1 && !large.mayKeepMany)
        large.willBlock(now: MonotonicClock.now)
        #expect(large.eventsAtOnce == 1 && !large.mayKeepMany)
    }

    /// A second thread would take from the first.
    @Test func nobodySharesTheOnlyProcessor() {
        let lone = Self.crew(processors: 1)
        #expect(lone.joinOrStandBy())
        lone.hasBacklog(now: MonotonicClock.now)
        #expect(!lone.isShared)
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
        joinWatched(large)
        defer { large.stop() }
        #expect(large.joinOrStandBy())
        // The second has the one that watched called, in whose place thread 3 is then: another that joined would watch.
        for _ in 0..<2 { large.willBeLong() }
        #expect(large.pollBusily(until: .distantFuture) { 1 } == 1)
        large.willBeLong()
        #expect(large.pollBusily(until: .distantFuture) { 1 } == nil)
        #expect(large.joinAgainOrStandBy())
        #expect(large.pollBusily(until: .distantFuture) { 1 } == 1)
    }

    /// While commits go on, and one thread at a time as well. What is left is looked at once more.
    @Test func asksBesideCommits() {
        #expect(crew.joinOrStandBy())
        crew.willBlock(now: MonotonicClock.now)
        var asked = 0
        let now = MonotonicClock.now
        let found = crew.pollYielding(until: now, now: now) {
            asked += 1
            #expect(crew.pollYielding(until: .distantFuture, now: now) { 1 } == nil)
            return asked == 2 ? 3 : 0
        }
        #expect(found == 3 && asked == 2)
    }

    /// Somebody has the core for long whenever it is given up.
    @Test func asksForNothingBesideWhoComputes() {
        let now = MonotonicClock.now
        #expect(crew.pollYielding(until: .distantFuture, now: now) { 1 } == 1)
        _ = crew.yielding.gaveUp(at: now, hadItAgainAt: now.advanced(byMilliseconds: 3))
        #expect(crew.pollYielding(until: .distantFuture, now: now) { 1 } == nil)
        #expect(crew.pollYielding(until: .distantFuture, now: now.advanced(byMilliseconds: 13)) { 1 } == 1)
    }
}
