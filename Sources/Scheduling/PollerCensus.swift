/// How many threads wait for clients, and how many stand in reserve.
///
/// A thread that is about to be long (a heavy statement, a wait for another process's lock) says so before, and a
/// reserve thread takes its place. When it is back and its place is taken, it joins the reserve.
///
/// How many should poll depends on what the events are. While every one is handled in microseconds, half of the cores
/// poll: the clients are on this machine and need about as much of it as the daemon does, and a thread that finds the
/// next event ready never sleeps. On 2 cores 1 / 2 / 3 / 4 polling threads gave 208k / 177k / 176k / 173k point SELECTs a
/// second at 8 clients. Once threads block (a commit waits for the disk, pages come from it) or are busy for longer, as
/// many poll as there are cores, and never less than two while the reserve has them. One more, in the place of the one that
/// waits for the disk, would be woken by messages that a polling thread comes to a moment later, and take the processor from
/// the client that sends them.
///
/// Where quick events come faster than those few handle them (`Backlog`), one more polls: then the daemon is what the clients wait for.
///
/// One of the reserve watches over those that poll (`Watch`), and comes before one more that polls: who is told of several events and is
/// at one step that nothing can interrupt keeps them from all the others, as long as nobody finds it there.
///
/// A pure value, like `WriterQueue`.
public struct PollerCensus: Sendable {
    /// How many threads poll while every event is a quick one.
    public let quickTarget: Int
    /// How many poll otherwise.
    let fullTarget: Int
    /// How many threads should be polling or at short work.
    public private(set) var target: Int
    /// Threads that poll or are at short work, and those that wait to be needed.
    public private(set) var active = 0
    /// Threads that stand by until they are called. Whoever is called counts as active from then on, not when it wakes up.
    public private(set) var reserve = 0
    /// Threads at long work.
    public private(set) var long = 0
    /// While the target is the full one: when it goes back, unless there is new reason.
    public private(set) var fullUntil: Instant?
    /// While one more polls than quick events need as a rule: when that ends, unless there is new reason.
    public private(set) var sharedUntil: Instant?
    private var windowBegan = Instant(nanoseconds: 0)
    private var slowEvents = 0
    private var nanosecondsOfSlowEvents: Int64 = 0

    /// An event that took this long without having been announced was no quick one.
    public static let slowNanoseconds: Int64 = 100_000
    /// How long reasons for more threads are counted together, and how long one holds.
    public static let windowNanoseconds: Int64 = 20_000_000
    /// So many slow events in a window call for more threads. A thread that is now and then preempted makes fewer.
    static let slowEventsLimit = 8
    /// So does half of the window spent in slow events, if they are few and very slow.
    static let slowShareNanoseconds: Int64 = 10_000_000

    /// - Parameter quickTarget: nil when it makes no difference.
    public init(target: Int, quickTarget: Int? = nil) {
        precondition(target > 0)
        fullTarget = target
        self.quickTarget = min(target, max(1, quickTarget ?? target))
        self.target = self.quickTarget
    }

    /// What a thread is to do next: wait for events, or stand in reserve.
    public enum Role: Equatable, Sendable { case poll, standBy }

    /// What can be at long work beside the readers, all at once: the connection that only prepares, the writer, and with
    /// `synchronous = pipelined` a sync of what the writer's holder before has committed.
    static let longBesideReaders = 3

    /// How many threads there have to be. Even with all of these at long work one must poll, or nobody would hear of a cancel or of the
    /// timer, and one must watch over the one that polls (`mayBeCalled`).
    public static func threads(cores: Int, readers: Int) -> Int { max(cores + 1, readers + longBesideReaders) + 2 }

    /// A thread starts. One that is woken out of the reserve does not join again: whoever had it woken has counted it.
    public mutating func join() -> Role {
        if active < target, reserve > 0 || active <= 0 {
            active += 1
            return .poll
        }
        reserve += 1
        return .standBy
    }

    /// A thread was long and is back.
    public mutating func joinAgain() -> Role {
        long -= 1
        return join()
    }

    /// A polling thread is about to be long. True: wake one thread of the reserve; it has been counted as polling.
    public mutating func willBeLong() -> Bool {
        active -= 1
        long += 1
        return callReserve(upTo: active + 1) > 0
    }

    /// A thread was counted as long twice: once because it said so, once because it was found to be stuck meanwhile.
    public mutating func wasCountedTwice() {
        active += 1
        long -= 1
    }

    /// The watcher has found so many threads stuck that were not before, and so many that it has counted as long to be back, which may be
    /// some of the former: nobody is called for those, and least of all the one that watches. Returns how many threads of the reserve to
    /// wake; they have been counted as polling.
    public mutating func wereFound(stuck: Int, back: Int) -> Int {
        for _ in 0..<max(0, back - stuck) { wasCountedTwice() }
        return (0..<max(0, stuck - back)).count { _ in willBeLong() }
    }

    /// All of the reserve but the one that watches. That one as well, if otherwise nobody polled. (Below zero: for a moment, while a thread
    /// is counted as long twice.)
    private var mayBeCalled: Int { active <= 0 && reserve == 1 ? 1 : max(0, reserve - 1) }

    private mutating func callReserve(upTo wanted: Int) -> Int {
        let called = min(mayBeCalled, wanted - active)
        guard called > 0 else { return 0 }
        reserve -= called
        active += called
        return called
    }
}

// MARK: More threads for a while

extension PollerCensus {
    /// There are more quick events than those who poll can handle. Returns how many threads of the reserve to wake; they have been
    /// counted as polling.
    public mutating func hasBacklog(now: Instant) -> Int {
        sharedUntil = Instant(nanoseconds: now.nanoseconds &+ Self.windowNanoseconds)
        target = max(target, min(quickTarget + 1, fullTarget))
        return callReserve(upTo: target)
    }

    /// A polling thread is about to block for a moment. Returns how many threads of the reserve to wake; they have been
    /// counted as polling.
    public mutating func willBlock(now: Instant) -> Int {
        target = fullTarget
        fullUntil = Instant(nanoseconds: now.nanoseconds &+ Self.windowNanoseconds)
        return callReserve(upTo: target)
    }

    /// An event took `nanoseconds`, which is not quick. Returns how many threads of the reserve to wake.
    public mutating func wasSlow(_ nanoseconds: Int64, now: Instant) -> Int {
        if now.nanoseconds &- windowBegan.nanoseconds > Self.windowNanoseconds {
            windowBegan = now
            slowEvents = 0
            nanosecondsOfSlowEvents = 0
        }
        slowEvents += 1
        nanosecondsOfSlowEvents &+= nanoseconds
        guard slowEvents >= Self.slowEventsLimit || nanosecondsOfSlowEvents >= Self.slowShareNanoseconds else { return 0 }
        return willBlock(now: now)
    }

    /// A polling thread is between two events. `standBy`: there are more than are needed now, and it has been counted
    /// as one of the reserve.
    public mutating func betweenEvents(now: Instant) -> Role {
        if let until = fullUntil, now >= until { fullUntil = nil }
        if let until = sharedUntil, now >= until { sharedUntil = nil }
        if fullUntil == nil { target = sharedUntil == nil ? quickTarget : min(quickTarget + 1, fullTarget) }
        guard active > target else { return .poll }
        active -= 1
        reserve += 1
        return .standBy
    }
}
