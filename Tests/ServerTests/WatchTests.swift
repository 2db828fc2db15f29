import Foundation
import POSIX
import Pool
import Scheduling
import Testing

@testable import Server

@Suite struct WatchTests {
    private func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

    @Test func aThreadThatDoesNotComeBackIsStuck() {
        let watch = Watch(threads: 2)
        let note = watch.newNote()
        #expect(watch.look(now: at(100)) == .allIsWell)
        note.events.store(1, ordering: .relaxed)
        note.began.store(at(100).nanoseconds, ordering: .relaxed)
        #expect(watch.look(now: at(102)) == .allIsWell)
        #expect(watch.look(now: at(103)) == .stuck(1))
        // Another polls in its place; once is enough. But what it was told is looked for at each look: it may have come back
        // just when it was found, and be stuck anew.
        var words: [UInt64] = [7]
        words.withUnsafeMutableBufferPointer { note.batch.keep($0[...]) }
        // So are the replies it has not sent yet.
        note.replies.add(Poller.Event(owned: 3))
        #expect(watch.look(now: at(105)) == .stuck(0))
        #expect(watch.takeEventsOfStuckThreads().map(\.word) == [Poller.Event(owned: 3).word, 7])
        #expect(note.replies.take() == nil && note.batch.take() == nil)
        note.began.store(0, ordering: .relaxed)
        let isReplaced = note.isReplaced.exchange(false, ordering: .relaxed)
        #expect(isReplaced)
        #expect(watch.look(now: at(105)) == .allIsWell)
    }

    /// One asks at a time. Another that only gives its core up does so where nobody asks, and leaves that as it was.
    @Test(arguments: [false, true])
    func givingTheCoreUpLeavesWhoAsksAlone(_ isAsking: Bool) {
        let crew = Crew(threads: 1, pollers: 2, quickPollers: 1, processors: 2, socketsMayKeep: false)
        crew.isBusyPolling.store(isAsking, ordering: .relaxed)
        crew.yieldOnce()
        let isStillAsking = crew.isBusyPolling.load(ordering: .relaxed)
        #expect(isStillAsking == isAsking)
    }

    ///     thread                          watcher
    ///                                     sees that it is late
    ///     is at its end: has no mark
    ///                                     marks it
    ///     waits for events
    ///                                     takes the mark back
    @Test func aThreadThatComesBackAsItIsFound() {
        let watch = Watch(threads: 3)
        let (stuck, back) = (watch.newNote(), watch.newNote())
        for note in [stuck, back] { note.began.store(at(100).nanoseconds, ordering: .relaxed) }
        #expect(watch.look(now: at(103)) == .stuck(2))
        back.began.store(0, ordering: .relaxed)
        let (first, second) = (watch.takeBack(), watch.takeBack())
        #expect(first == 1 && second == 0)
        let (isStuck, isBack) = (stuck.isReplaced.load(ordering: .relaxed), back.isReplaced.load(ordering: .relaxed))
        #expect(isStuck && !isBack)
    }

    /// Another polls while it waits for the disk, but not for ever.
    @Test func aThreadThatHasSaidThatItWaitsForTheDisk() {
        let watch = Watch(threads: 2)
        let note = watch.newNote()
        let end = at(100).nanoseconds + Watch.announcedNanoseconds
        note.began.store(end, ordering: .relaxed)
        for milliseconds in [100, 104, 108] as [Int64] { #expect(watch.look(now: at(milliseconds)) == .allIsWell) }
        #expect(watch.look(now: Instant(nanoseconds: end + Watch.intervalNanoseconds)) == .allIsWell)
        #expect(watch.look(now: Instant(nanoseconds: end + Watch.intervalNanoseconds + 1)) == .stuck(1))
    }

    /// An idle daemon wakes nobody: after a while without events the watcher sleeps, but not while a thread is at work.
    @Test func theWatcherSleepsWhenNothingHappens() {
        let watch = Watch(threads: 2)
        let note = watch.newNote()
        var looks = 0
        while watch.look(now: at(100)) == .allIsWell, looks < 1000 { looks += 1 }
        let isAsleep = watch.isAsleep.load(ordering: .relaxed)
        #expect(looks < 1000 && isAsleep)
        note.events.store(1, ordering: .relaxed)
        note.began.store(at(100).nanoseconds, ordering: .relaxed)
        #expect(watch.look(now: at(101)) == .allIsWell)
        let isStillAsleep = watch.isAsleep.load(ordering: .relaxed)
        #expect(!isStillAsleep)
        for _ in 0..<1000 { #expect(watch.look(now: at(101)) == .allIsWell) }
    }

    /// Each signals the one when it is to poll, and the other when that is known.
    private func threads(_ count: Int, joining crew: Crew) -> (polling: DispatchSemaphore, ended: DispatchSemaphore) {
        let polling = DispatchSemaphore(value: 0)
        let ended = DispatchSemaphore(value: 0)
        for _ in 0..<count {
            Thread.detachNewThread {
                if crew.joinOrStandBy() { polling.signal() }
                ended.signal()
            }
        }
        return (polling, ended)
    }

    ///     thread 1            thread 2            thread 3
    ///     polls               stands by, watches  stands by
    ///     begins an event
    ///     is stuck
    ///                         or                  polls; what thread 1 had not come to is announced again
    @Test func anotherThreadPollsInPlaceOfOneThatIsStuck() throws {
        let crew = Crew(threads: 3, pollers: 2, quickPollers: 1, processors: 2, socketsMayKeep: false)
        let announced = Locked<[UInt64]>([])
        crew.announceAgain = { event in announced.withLock { $0.append(event.word) } }
        let left = Locked<[Resumption]>([])
        let wakeUps = Locked(0)
        crew.wakeForWhatIsLeft = { resumptions in
            left.withLock { $0 += resumptions }
            wakeUps.withLock { $0 += 1 }
        }
        #expect(crew.joinOrStandBy())
        let (polling, ended) = threads(2, joining: crew)
        let note = crew.watch.newNote()
        var words: [UInt64] = [7, 8]
        words.withUnsafeMutableBufferPointer { note.batch.keep($0[...]) }
        note.resumptions.append(.committed(CommittedGroup([])))
        note.began.store(MonotonicClock.now.nanoseconds, ordering: .relaxed)
        note.events.store(1, ordering: .sequentiallyConsistent)
        if crew.watch.isAsleep.load(ordering: .sequentiallyConsistent) { crew.wakeWatcher() }
        #expect(polling.wait(timeout: .now() + 30) == .success)
        #expect(announced.withLock { $0 } == [7, 8])
        #expect(wakeUps.withLock { $0 } > 0)
        #expect(left.withLock { $0.count } == 1)
        crew.stop()
        for _ in 0..<2 { #expect(ended.wait(timeout: .now() + 30) == .success) }
    }

    ///     thread 1                        thread 2                thread 3
    ///     polls                           stands by, watches      stands by
    ///     sends what it has left,
    ///     between two events
    ///                                     or                      polls in its place
    ///     waits for events
    ///                                     or                      counts it back
    ///     need not poll any more
    @Test func whoIsStuckBetweenTwoEvents() throws {
        let crew = Crew(threads: 3, pollers: 2, quickPollers: 1, processors: 2, socketsMayKeep: false)
        #expect(crew.joinOrStandBy())
        let (polling, ended) = threads(2, joining: crew)
        let note = crew.watch.newNote()
        note.began.store(MonotonicClock.now.nanoseconds, ordering: .relaxed)
        note.events.store(1, ordering: .sequentiallyConsistent)
        if crew.watch.isAsleep.load(ordering: .sequentiallyConsistent) { crew.wakeWatcher() }
        #expect(polling.wait(timeout: .now() + 30) == .success)
        note.began.store(0, ordering: .relaxed)
        // The deadline only ends a hang.
        let deadline = MonotonicClock.now.advanced(byMilliseconds: 30_000)
        while note.isReplaced.load(ordering: .relaxed), MonotonicClock.now < deadline { sched_yield() }
        // It has counted by the time when its mutex is free.
        crew.wakeWatcher()
        Thread.detachNewThread { crew.stop() }
        // There are two now, and one is enough. It stands by until the crew stops; told to poll on, it would hear so at once.
        #expect(!crew.mayPollOn(now: MonotonicClock.now))
        for _ in 0..<2 { #expect(ended.wait(timeout: .now() + 30) == .success) }
    }

    ///     thread 1                        thread 2
    ///     polls                           stands by, watches
    ///     is at an event
    ///                                     finds that it is stuck, and gives others what it has left
    ///     waits for events
    ///                                     calls nobody, and watches on
    @Test func whoIsBackBeforeAnotherIsCalled() throws {
        let crew = Crew(threads: 2, pollers: 2, quickPollers: 1, processors: 2, socketsMayKeep: false)
        let note = crew.watch.newNote()
        crew.announceAgain = { _ in note.began.store(0, ordering: .relaxed) }
        #expect(crew.joinOrStandBy())
        let (polling, ended) = threads(1, joining: crew)
        while !crew.isWatched { sched_yield() }
        var words: [UInt64] = [7]
        words.withUnsafeMutableBufferPointer { note.batch.keep($0[...]) }
        note.began.store(MonotonicClock.now.nanoseconds, ordering: .relaxed)
        note.events.store(1, ordering: .sequentiallyConsistent)
        if crew.watch.isAsleep.load(ordering: .sequentiallyConsistent) { crew.wakeWatcher() }
        let deadline = MonotonicClock.now.advanced(byMilliseconds: 30_000)
        while note.began.load(ordering: .relaxed) != 0 || note.isReplaced.load(ordering: .relaxed), MonotonicClock.now < deadline {
            sched_yield()
        }
        // It has counted by the time when its mutex is free.
        crew.wakeWatcher()
        #expect(crew.isWatched && !crew.hasOthersAtPoll)
        crew.stop()
        #expect(ended.wait(timeout: .now() + 30) == .success)
        #expect(polling.wait(timeout: .now()) == .timedOut)
    }

    /// What it was to run next others run, but recovery, which comes when this thread has told those whose commit has failed.
    @Test func whatAThreadWasToRunNext() {
        let watch = Watch(threads: 2)
        let (stuck, other) = (watch.newNote(), watch.newNote())
        for note in [stuck, other] {
            note.resumptions.append(.job(.recovery))
            note.resumptions.append(.committed(CommittedGroup([])))
        }
        stuck.began.store(at(100).nanoseconds, ordering: .relaxed)
        #expect(watch.look(now: at(103)) == .stuck(1))
        #expect(watch.takeResumptions().map(\.comesAfterReplies) == [false])
        #expect(watch.takeResumptions().isEmpty)
        // When nobody watches any more, nobody will be found.
        #expect(watch.takeResumptions(ofAll: true).map(\.comesAfterReplies) == [false])
        for note in [stuck, other] {
            #expect(note.resumptions.take()?.comesAfterReplies == true)
            #expect(note.resumptions.take() == nil && note.resumptions.isEmpty)
        }
    }

    ///     thread 1                        thread 2
    ///     polls                           stands by, watches
    ///     has something to run next
    ///     will be long
    ///                                     polls: nobody watches, and it is for others
    @Test func theLastWatcherLeavesNothingBehind() {
        let crew = Crew(threads: 2, pollers: 2, quickPollers: 1, processors: 2, socketsMayKeep: false)
        let left = Locked<[Resumption]>([])
        crew.wakeForWhatIsLeft = { resumptions in left.withLock { $0 += resumptions } }
        #expect(crew.joinOrStandBy())
        let (polling, ended) = threads(1, joining: crew)
        while !crew.isWatched { sched_yield() }
        let note = crew.watch.newNote()
        note.resumptions.append(.committed(CommittedGroup([])))
        crew.willBeLong()
        #expect(polling.wait(timeout: .now() + 30) == .success)
        #expect(left.withLock { $0.count } == 1)
        #expect(note.resumptions.isEmpty && !crew.isWatched)
        crew.stop()
        #expect(ended.wait(timeout: .now() + 30) == .success)
    }

    ///     thread 1            thread 2
    ///     polls               stands by, watches
    ///     will be long
    ///                         polls, and a socket keeps it: nobody watches
    ///                         is interrupted
    @Test func theLastOfTheReserveIsInterruptedToo() throws {
        let crew = Crew(threads: 2, pollers: 2, quickPollers: 1, processors: 2, socketsMayKeep: true)
        #expect(crew.joinOrStandBy())
        let outcome = Locked<Int32?>(nil)
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let note = crew.watch.newNote()
            note.isOfThisThread()
            SocketWait.letThisThreadBeInterrupted()
            if crew.joinOrStandBy() {
                // The deadline only ends a hang.
                let isOver = note.socketMark.during { poll(nil, 0, 30_000) }
                outcome.withLock { $0 = isOver == 0 ? 0 : errno }
            }
            ended.signal()
        }
        while !crew.isWatched { sched_yield() }
        crew.willBeLong()
        ended.wait()
        #expect(outcome.withLock { $0 } == EINTR)
        crew.stop()
    }

    /// It was found to be stuck just before it said that it would be long, so two were called for one. Commits that go on keep the
    /// full number of threads polling, and no more than that.
    @Test func oneTooManyStandsByWhileCommitsGoOn() throws {
        let crew = Crew(threads: 5, pollers: 2, quickPollers: 1, processors: 2, socketsMayKeep: false)
        #expect(crew.joinOrStandBy())
        let (polling, ended) = threads(4, joining: crew)
        // The time of all that follows, so that the window cannot end meanwhile.
        let now = MonotonicClock.now
        while !crew.isWatched { sched_yield() }
        crew.willBlock(now: now)
        #expect(polling.wait(timeout: .now() + 30) == .success)
        crew.willBeLong()
        #expect(polling.wait(timeout: .now() + 30) == .success)
        crew.willBeLong()
        #expect(polling.wait(timeout: .now() + 30) == .success)
        crew.wasReplacedTwice()
        Thread.detachNewThread { crew.stop() }
        // It stands by until the crew stops; told to poll on, it would hear so at once.
        #expect(!crew.mayPollOn(now: now))
        for _ in 0..<4 { #expect(ended.wait(timeout: .now() + 30) == .success) }
    }
}
