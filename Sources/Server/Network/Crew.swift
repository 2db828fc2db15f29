import POSIX
import Pool
import Scheduling
import Synchronization

/// Which threads poll and which stand in reserve: `PollerCensus` with the mutex and the conditions around it.
///
/// `@unchecked Sendable`: everything mutable is touched with the mutex held, but where a property's own comment says otherwise.
final class Crew: @unchecked Sendable {
    private let mutex = PthreadMutex()
    /// Signalled when a thread of the reserve is called to poll, and when there is no watcher any more. All of the reserve wait here but the
    /// watcher.
    private let called = PthreadCondition()
    /// There is something to watch again, or only the watcher is left to be called.
    private let watcherIsNeeded = PthreadCondition()
    private var census: PollerCensus { didSet { severalPoll.store(census.active > 1, ordering: .relaxed) } }
    private let severalPoll = Atomic<Bool>(false)
    /// Threads of the reserve that were told to poll and have not woken yet.
    private var calls = 0
    /// Threads of the reserve that wait at `called`, those included that were called and have not woken yet.
    private var standing = 0
    private var isStopping = false
    /// When a polling thread shall look whether it is still needed, in nanoseconds; Int64.max is never. Read without the
    /// mutex before every event, so that nobody takes it for nothing.
    private let lookAgainAt = Atomic<Int64>(.max)
    /// Until when the full number of threads poll because of commits, in nanoseconds; 0: they need not.
    private let fullUntilAt = Atomic<Int64>(0)
    /// See `hasFewPollers` and `isShared`, which are read as often.
    private let fewPoll = Atomic<Bool>(true)
    private let fewShare = Atomic<Bool>(false)
    /// One thread of the reserve watches over the few that poll; see `Watch`.
    let watch: Watch
    private let hasWatcher = Atomic<Bool>(false)
    /// See `interruptUntilWatched`.
    private let hasInterrupter = Atomic<Bool>(false)
    /// How many events a thread takes at once: `quickBatch` while it polls alone or shares a backlog, `fullBatch` beside commits. On four
    /// processors and more, where more than three threads poll, both are one: none of them shall sleep while another has events lying.
    /// Where fewer poll, a thread keeps them for a moment only (`BatchHold`).
    private let quickBatch: Int
    private let fullBatch: Int
    /// Polling threads that have nothing to do.
    private let idle = Atomic<Int>(0)
    /// A thread asks for events instead of sleeping. More than one would take cores from the clients, and get half of the events each.
    let isBusyPolling = Atomic<Bool>(false)
    /// Of the thread that asks, which has set `isBusyPolling`.
    var yielding = CoreYielding()
    /// Beside the thread that asks, and those at long work, a processor is left for the client that is to send the next event.
    let hasProcessorForClients: Atomic<Bool>
    private let processors: Int
    private let socketsMayKeep: Bool
    /// Announces an event again, so that another thread takes it. Set before the first thread joins.
    var announceAgain: (Poller.Event) -> Void = { _ in }
    /// Gives others what a stuck thread was to run next, and wakes them for that and for what it has left for later. Set before the first
    /// thread joins.
    var wakeForWhatIsLeft: ([Resumption]) -> Void = { _ in }

    /// - Parameters:
    ///   - threads: of the crew.
    ///   - quickPollers: how many of them poll while every event is a quick one.
    ///   - processors: on which these, and clients, run.
    ///   - socketsMayKeep: a thread at a client's socket: see `SocketWait`.
    init(threads: Int, pollers: Int, quickPollers: Int, processors: Int, socketsMayKeep: Bool) {
        self.processors = processors
        self.socketsMayKeep = socketsMayKeep
        hasProcessorForClients = Atomic(processors > 1)
        census = PollerCensus(target: pollers, quickTarget: quickPollers)
        watch = Watch(threads: threads)
        quickBatch = census.quickTarget == 1 ? EventBatch.eventsAtOnce : 1
        fullBatch = census.quickTarget == 1 ? EventBatch.mostBesideOthers : 1
    }

    /// For a thread that starts: returns true once it shall poll, false when the crew stops.
    func joinOrStandBy() -> Bool {
        mutex.locked { !isStopping && (census.join() == .poll || standByInReserve()) }
    }

    /// The same for a thread that is back from long work.
    func joinAgainOrStandBy() -> Bool {
        mutex.locked {
            if isStopping { return false }
            let role = census.joinAgain()
            noteProcessors()
            return role == .poll || standByInReserve()
        }
    }

    /// This is where reserve threads stand in a profile.
    private func standByInReserve() -> Bool {
        while calls == 0 && !isStopping {
            guard hasWatcher.load(ordering: .relaxed) else {
                watchOver()
                continue
            }
            standing += 1
            called.wait(mutex)
            standing -= 1
        }
        if isStopping { return false }
        calls -= 1
        // A thread that is left and that nobody has called becomes the next watcher: `watchOver` has signalled it. Otherwise nobody watches until
        // one returns, and sockets are interrupted from here.
        if standing <= calls, !isWatched { mutex.unlocked { interruptUntilWatched() } }
        return true
    }

    /// Until this thread is called: looks now and then whether a polling thread is stuck in what it did not announce.
    private func watchOver() {
        hasWatcher.store(true, ordering: .sequentiallyConsistent)
        defer {
            hasWatcher.store(false, ordering: .sequentiallyConsistent)
            // Its successor, if there is one.
            called.signal()
            mutex.unlocked { wakeForWhatIsLeft(watch.takeResumptions(ofAll: true)) }
        }
        while calls == 0 && !isStopping {
            let finding = watch.look(now: MonotonicClock.now)
            count(finding)
            switch finding {
            case .nothingHappens where census.long > 0:
                // A thread at long work is not watched while it is at it, and may be kept by a socket when it is done.
                wait(nanoseconds: Watch.quietNanoseconds)
            case .nothingHappens:
                watcherIsNeeded.wait(mutex)
            case .allIsWell, .stuck:
                if calls == 0 { wait(nanoseconds: Watch.intervalNanoseconds) }
            }
        }
    }

    /// Others poll in the place of those who are newly stuck.
    private func count(_ finding: Watch.Finding) {
        var stuck = 0
        if case .stuck(let count) = finding {
            stuck = count
            // First, for the one who watches may be the one who is called.
            mutex.unlocked { announceWhatStuckThreadsHave() }
        }
        // Who is back takes its mark away itself and counts itself back, or this does both.
        let back = watch.takeBack()
        guard stuck != back else { return }
        call(census.wereFound(stuck: stuck, back: back))
        noteProcessors()
    }

    /// The last of the reserve has gone to poll, and a socket may keep it as it keeps all the others: nobody would be left to interrupt
    /// them. So a thread does nothing else until there is a watcher again.
    private func interruptUntilWatched() {
        guard socketsMayKeep, !hasInterrupter.exchange(true, ordering: .sequentiallyConsistent) else { return }
        let thread = try? Pthread("walpool-signal", stackBytes: ServerLimits.interrupterStackBytes, isDetached: true) { [self] in
            repeat {
                while needsInterrupter {
                    MonotonicClock.sleep(milliseconds: ServerLimits.interruptionMilliseconds)
                    watch.interruptThoseAtSockets()
                }
                hasInterrupter.store(false, ordering: .sequentiallyConsistent)
                // A watcher that has left meanwhile may have seen that there is this one.
            } while needsInterrupter && !hasInterrupter.exchange(true, ordering: .sequentiallyConsistent)
        }
        // Without a thread it is as it was.
        if thread == nil { hasInterrupter.store(false, ordering: .sequentiallyConsistent) }
    }

    /// False, once the crew stops, for good: nobody sends signals to its threads any more.
    var isInterrupting: Bool { hasInterrupter.load(ordering: .sequentiallyConsistent) }

    private var needsInterrupter: Bool { !isWatched && mutex.locked { !isStopping } }

    /// Not with the mutex held: it is a system call for each.
    private func announceWhatStuckThreadsHave() {
        for event in watch.takeEventsOfStuckThreads() { announceAgain(event) }
        wakeForWhatIsLeft(watch.takeResumptions())
    }

    /// A thread that is stuck will be found.
    var isWatched: Bool { hasWatcher.load(ordering: .sequentiallyConsistent) }

    private func wait(nanoseconds: Int64) {
        watcherIsNeeded.wait(mutex, untilNanoseconds: MonotonicClock.now.nanoseconds &+ nanoseconds)
    }

    /// A polling thread has an event again, and the watcher had stopped looking.
    func wakeWatcher() {
        mutex.locked { watcherIsNeeded.signal() }
    }

    /// A polling thread is about to be long: one of the reserve takes its place.
    func willBeLong() {
        mutex.locked {
            if census.willBeLong() { call(1) }
            noteProcessors()
        }
    }

    /// A polling thread is about to wait for the disk: more than the few that quick events need shall poll.
    func willBlock(now: Instant) {
        // Said before every commit, and nearly always known.
        if fullUntilAt.load(ordering: .relaxed) &- now.nanoseconds > PollerCensus.windowNanoseconds / 2 { return }
        mutex.locked { call(census.willBlock(now: now)) }
    }

    /// Handling an event took that long, unannounced.
    func wasSlow(_ nanoseconds: Int64, now: Instant) {
        mutex.locked { call(census.wasSlow(nanoseconds, now: now)) }
    }

    /// How many events a polling thread takes at once.
    @inline(__always)
    var eventsAtOnce: Int { hasFewPollers ? quickBatch : fullBatch }

    /// It is the only one that polls, or all that do have more than enough: it may keep what it was told of for later.
    @inline(__always)
    var mayKeepMany: Bool { hasFewPollers && quickBatch > 1 }

    @inline(__always)
    func beginsToWait() { idle.wrappingAdd(1, ordering: .relaxed) }

    @inline(__always)
    func hasWaited() { idle.wrappingSubtract(1, ordering: .relaxed) }

    /// Somebody would come at once to what a thread gives away. While all are at work it would go around among them: each event would be
    /// a wake-up, and be received and answered by itself.
    @inline(__always)
    var hasIdle: Bool { idle.load(ordering: .relaxed) > 0 }

    /// No more threads poll than quick events need.
    @inline(__always)
    var hasFewPollers: Bool { fewPoll.load(ordering: .relaxed) }

    /// While one is at an event, another asks epoll, or will when its own event is over or it is found to be stuck.
    @inline(__always)
    var hasOthersAtPoll: Bool { severalPoll.load(ordering: .relaxed) }

    /// One thread more polls than quick events mostly need, because the others did not keep up.
    @inline(__always)
    var isShared: Bool { fewShare.load(ordering: .relaxed) }

    /// The polling threads get all the events they take, again and again: another one polls, where there is a processor for
    /// it. Only where one polls alone as a rule, on up to three processors, does a thread take several events at once, and
    /// know of this.
    func hasBacklog(now: Instant) {
        guard hasProcessorForClients.load(ordering: .relaxed) else { return }
        mutex.locked { call(census.hasBacklog(now: now)) }
    }

    private func noteProcessors() {
        hasProcessorForClients.store(processors - census.long > 1, ordering: .relaxed)
    }

    /// Between two events: returns when the thread shall poll on, false when the crew stops.
    @inline(__always)
    func mayPollOn(now: Instant) -> Bool {
        now.nanoseconds < lookAgainAt.load(ordering: .relaxed) || lookAgain(now: now)
    }

    private func lookAgain(now: Instant) -> Bool {
        mutex.locked {
            let role = census.betweenEvents(now: now)
            noteTarget()
            return role == .poll || standByInReserve()
        }
    }

    private func call(_ threads: Int) {
        noteTarget()
        calls += threads
        for _ in 0..<threads { called.signal() }
        // Only the watcher is left in the reserve.
        if calls > standing { watcherIsNeeded.signal() }
    }

    /// While there are more threads than the target, each of them has to look: also while commits keep the full one, or a thread
    /// too many would poll for as long as they go on.
    private func noteTarget() {
        let isTooMany = census.active > census.target
        let next = isTooMany ? 0 : (census.fullUntil ?? census.sharedUntil)?.nanoseconds ?? .max
        lookAgainAt.store(next, ordering: .relaxed)
        fullUntilAt.store(census.fullUntil?.nanoseconds ?? 0, ordering: .relaxed)
        fewPoll.store(!isTooMany && census.fullUntil == nil, ordering: .relaxed)
        fewShare.store(census.sharedUntil != nil, ordering: .relaxed)
    }

    /// A thread that was replaced twice, because it announced itself when the watcher had just done it.
    func wasReplacedTwice() {
        mutex.locked {
            census.wasCountedTwice()
            noteTarget()
            noteProcessors()
        }
    }

    func stop() {
        mutex.locked {
            isStopping = true
            called.broadcast()
            watcherIsNeeded.signal()
        }
    }
}
