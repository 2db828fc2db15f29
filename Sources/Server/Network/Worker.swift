import Glibc
import POSIX
import Pool
import SQLite
import Scheduling

/// One thread of the crew. It waits for an event, handles it to the end, and waits again; what it frees for somebody
/// who waited, it runs next.
///
/// `@unchecked Sendable`: handed to its thread once; everything mutable is that thread's.
final class Worker: @unchecked Sendable {
    let server: Server
    // The server's, at hand: what is reached in two steps is retained and released at each use.
    let pool: Pool
    let crew: Crew
    let ready: ReadyQueue
    let table: SessionTable
    /// Above 0: the server's queue holds something that no thread was woken for, because this one comes to it. Each resumption that it
    /// runs first counts this down; at 0, or when this thread cannot go on, another thread is woken for it.
    var resumptionsUntilWakeUp = 0
    var isLong = false
    /// In this event a session has given its turn up: what epoll has comes before what the server's queue has.
    var hasEndedTurn = false
    /// When it came to the first event since it has asked epoll for some, or was back from the disk while another one polled, in
    /// nanoseconds; 0: it has not come to any.
    private var beganSinceAsked: Int64 = 0
    /// Another one only for tests that step a worker, which take their time.
    var longestWithoutAskingNanoseconds = BatchHold.longestWithoutAskingNanoseconds
    /// When the event, or the last turn that it runs in it, began, and how long those before that took that were not quick.
    var turnBegan: Int64 = 0
    var slowTurns: Int64 = 0
    /// During this event it has waited for the disk, and has given its batch away before that.
    private(set) var hasBlocked = false
    var speculativeReads = SpeculativeReads()
    /// See Worker+BusyPolling.
    var busyPolling = BusyPolling()
    private var backlog = Backlog()
    let isOfCrew: Bool
    let note: Watch.Note
    // `note`'s, at hand: reached once for each event.
    let batch: EventBatch
    let replies: EventBatch
    /// Sessions that got what they waited for from something this thread did.
    let resumptions: Resumptions
    /// Where epoll writes the events there are. A single one is handled at once; several go into `batch` first.
    let words = UnsafeMutableBufferPointer<UInt64>.allocate(capacity: EventBatch.eventsAtOnce)
    let counters: ThreadCounters
    let socketMark: SocketWait.Mark
    let transfers: Transfers
    /// Whose bytes `transfers` has, for as long as that takes.
    var transferring: [Unmanaged<Session>] = []
    /// Where in the batch they belong.
    var places: [Int] = []
    /// When the first of the unsent replies was complete, or a little before, in nanoseconds.
    var repliesSince: Int64 = 0
    /// Statements that have begun since.
    var statementsSince = 0
    var eventBegan: Int64 = 0
    /// How long the batch is this thread's alone.
    var hold = BatchHold()
    /// It tells the members of a group, one after the other, or syncs for others next.
    var isAnswering = false
    /// The last group this thread committed and left to another one to answer.
    var handedOver = CommittedGroup([])

    /// - Parameter isOfCrew: false for a thread that never polls: nobody is called to poll in its place, or the census would
    ///   miss one for good.
    init(server: Server, isOfCrew: Bool = true) {
        self.server = server
        (pool, crew, ready, table) = (server.pool, server.crew, server.ready, server.table)
        self.isOfCrew = isOfCrew
        isLong = !isOfCrew
        note = isOfCrew ? server.crew.watch.newNote() : Watch.Note()
        (batch, replies, resumptions, socketMark) = (note.batch, note.replies, note.resumptions, note.socketMark)
        transfers = Transfers(usesRing: isOfCrew)
        transferring.reserveCapacity(Transfers.capacity)
        places.reserveCapacity(Transfers.capacity)
        counters = server.metrics.lend()
        counters.setMark(MonotonicClock.now)
        counters.setTime(nil)
    }

    deinit {
        server.metrics.giveBack(counters)
        words.deallocate()
    }

    /// Starts the thread; the worker lives as long as it runs.
    func start(stackBytes: Int) throws(PthreadError) -> Pthread {
        try Pthread("walpool-worker", stackBytes: stackBytes) {
            self.main()
            self.server.stopping.endedThreads.add(1, ordering: .sequentiallyConsistent)
        }
    }

    private func main() {
        note.isOfThisThread()
        SocketWait.letThisThreadBeInterrupted()
        guard crew.joinOrStandBy() else { return }
        var now = MonotonicClock.now
        while true {
            if let event = batch.take() {
                guard handle(event, &now) else { return }
            } else if replies.pending > 0 {
                sendLeftReplies()
            } else if let end = pool.gatheringEnd {
                // Nobody stands by now: somebody has to begin that group.
                guard handleWhileGathering(until: end, &now) else { return }
            } else {
                assert(!hasResumptions, "somebody's turn would lie here until the next event")
                guard crew.mayPollOn(now: now) else { return }
                // It may have stood in reserve meanwhile.
                if pool.gatheringEnd != nil { continue }
                guard handle(waitForEvents(since: now), &now) else { return }
            }
        }
    }

    /// A call on a client's socket: see `SocketWait`.
    @inline(__always)
    func atSocket<Result>(_ call: () -> Result) -> Result { socketMark.during(call) }

    /// Between two events: another thread has taken over what the replies waited for. Watched, for a session may end by it.
    private func sendLeftReplies() {
        watchFrom(MonotonicClock.now)
        sendAllReplies()
        handOverIfAny()
        note.began.store(0, ordering: .relaxed)
        receiveTogether()
    }

    /// The first of the events there are now.
    @inline(__always)
    private func waitForEvents(since now: Instant) -> Poller.Event {
        while true {
            let count = countOfEvents(since: now)
            hasAskedForEvents()
            if backlog.took(count, of: EventBatch.eventsAtOnce, isShared: crew.isShared, now: now) {
                // It may have slept since `now`.
                crew.hasBacklog(now: MonotonicClock.now)
            }
            guard count > 1 else {
                batch.keep(words[1..<count])
                return Poller.Event(word: words[0])
            }
            batch.keep(words[0..<count])
            receiveTogether()
            // Others may have taken them all.
            if let event = batch.take() { return event }
        }
    }

    @inline(__always)
    func hasAskedForEvents() {
        hold.restart()
        beganSinceAsked = 0
    }

    /// Whether this thread may see to an event itself that has come for the session it lets go of. Not when it has something else to do
    /// first; not many of them while other threads poll and may have nothing to do (those that share a backlog have); and not without
    /// end, so that epoll is asked in between.
    var takesEventsOn: Bool {
        guard !isLong, !hasResumptions, batch.hasRoom else { return false }
        // A cancel and the timer are with epoll.
        guard eventBegan &- beganSinceAsked < longestWithoutAskingNanoseconds else { return false }
        return crew.mayKeepMany
            || (batch.pending < EventBatch.mostBesideOthers && !note.isReplaced.load(ordering: .relaxed))
    }

    /// An event that came while this thread was at its session: it comes to it next.
    func takeOn(_ event: Poller.Event) {
        assert(note.isOfCallingThread, "another thread's batch")
        // Not one that has lain there.
        if batch.pending == 0 { hold.restart() }
        batch.add(event)
    }

    /// Gives away to other threads what it has not come to: events, and what it was to run next. To the latter the replies add that
    /// it sends before: of a client that is gone, others get what it had.
    private func leaveRest() {
        sendReplies()
        while let event = batch.take() { server.announceAgain(event) }
        handOverIfAny()
    }

    /// One event and all that comes of it; false when the thread shall end.
    @inline(__always)
    func handle(_ event: Poller.Event, _ now: inout Instant) -> Bool {
        let began = MonotonicClock.now
        counters.setMark(began)
        begins(at: began)
        hold.comesToEvent(now: began)
        hasBlocked = false
        hasEndedTurn = false
        guard server.handle(event, self) else {
            endBatch()
            return false
        }
        if pool.isGatheringOver { endGathering() }
        runResumptions()
        now = timeAfterEvent()
        turnEnds(at: now)
        let taken = slowTurns
        // Still watched: a session may end by it.
        sendRepliesIfDue(now: now)
        note.began.store(0, ordering: .relaxed)
        let isReplaced = note.isReplaced.exchange(false, ordering: .sequentiallyConsistent)
        if isLong || isReplaced {
            leaveRest()
            leaveGathering()
            if isLong && isReplaced { crew.wasReplacedTwice() }
            if isLong { server.muchMayBeFree(now) }
            isLong = false
            return crew.joinAgainOrStandBy()
        }
        if taken > 0 {
            crew.wasSlow(taken, now: now)
            if !hasBlocked, !crew.mayKeepMany || crew.isShared, crew.hasIdle { leaveRest() }
        } else if !crew.mayKeepMany, batch.pending > 0, hold.isOver(now: now), crew.hasIdle {
            leaveRest()
        }
        return true
    }

    /// A read that has just ended has read the clock; after it come only a message to the socket and its arming.
    @inline(__always)
    private func timeAfterEvent() -> Instant {
        counters.markIsFresh ? Instant(nanoseconds: Int64(counters.mark)) : MonotonicClock.now
    }

    /// Several are run in one event where one frees what others wait for: each by itself is quick or slow.
    @inline(__always)
    func turnEnds(at now: Instant) {
        let taken = now.nanoseconds &- turnBegan
        if taken > PollerCensus.slowNanoseconds { slowTurns &+= taken }
        turnBegan = now.nanoseconds
    }

    @inline(__always)
    private func begins(at now: Instant) {
        counters.setTime(now)
        eventBegan = now.nanoseconds
        if beganSinceAsked == 0 { beganSinceAsked = eventBegan }
        turnBegan = eventBegan
        slowTurns = 0
        SQLiteLibrary.beginWork()
        watchFrom(now)
    }

    /// The watcher looks at this thread, even if it has been asleep.
    @inline(__always)
    func watchFrom(_ now: Instant) {
        note.began.store(now.nanoseconds, ordering: .relaxed)
        // Only this thread writes it.
        note.events.store(note.events.load(ordering: .relaxed) &+ 1, ordering: .sequentiallyConsistent)
        if crew.watch.isAsleep.load(ordering: .sequentiallyConsistent) { wakeWatcher() }
    }

    private func wakeWatcher() {
        crew.watch.isAsleep.store(false, ordering: .relaxed)
        crew.wakeWatcher()
        server.somethingHappens()
    }

    /// This thread is about to be long: another one polls in its place and takes what this one was to run next.
    func willBeLong() {
        guard !isLong else { return }
        isLong = true
        // Announced, so it is not stuck.
        note.began.store(0, ordering: .relaxed)
        // Who was found to be stuck before is replaced already, or is being so. Twice, and a few of them would use up those who watch.
        // Taken at once, or the watcher would take it for one that is back (`Watch.takeBack`).
        let isReplaced = note.isReplaced.exchange(false, ordering: .sequentiallyConsistent)
        leaveRest()
        leaveGathering()
        if !isReplaced { crew.willBeLong() }
    }

    /// This thread is about to wait for the disk, for less time than calling another one is worth: but while commits go
    /// on, more threads poll.
    ///
    /// - Parameter isAlone: it is one client's commit, and no other thread can wait for the disk meanwhile, so that one polls, and is
    ///   watched. This one need not be for a while: each sync of 2 ms would have another thread called in its place, and both woken.
    @inline(__always)
    func willBlock(isAlone: Bool = false) {
        guard !isLong else { return }
        leaveRest()
        leaveGathering()
        hasBlocked = true
        let now = MonotonicClock.now
        crew.willBlock(now: now)
        if isAlone { note.began.store(now.nanoseconds &+ Watch.announcedNanoseconds, ordering: .relaxed) }
    }

    /// It is back from there, and what comes next is watched as ever.
    func isBackFromDisk() {
        let now = MonotonicClock.now
        counters.setMark(now)
        // Another one has asked epoll meanwhile. But long work that is no reader's (a slow look-up of a name at each of many logins) can keep
        // all the others.
        if hasBlocked, crew.hasOthersAtPoll { beganSinceAsked = now.nanoseconds }
        if note.began.load(ordering: .relaxed) > now.nanoseconds { note.began.store(now.nanoseconds, ordering: .relaxed) }
    }
}
