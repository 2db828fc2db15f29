import DequeModule

/// Which read-only connection serves whom: idle ones are reused last-in first-out, so that few connections get most of
/// the work and keep their page cache warm; an unused one is taken only when none is idle; beyond the limit, clients
/// wait in order.
///
/// Connections are named by an index. Whether the one at an index is open is the pool's affair: one that could not be
/// opened is released like any other, and the next client tries again.
///
/// A pure value, like `WriterQueue`.
public struct ReaderQueue: Sendable {
    struct Entry: Sendable {
        var client: ClientID
        var deadline: Instant
        /// Since when it waits, for whoever looks at the queue; 0 when the caller did not say.
        var enqueued = Instant(nanoseconds: 0)
        /// It is granted a reader although they are paused: see ReaderQueue+Pause.
        var passesPause = false
    }

    /// The most connections there will be.
    public let limit: Int
    /// How many have been handed out at least once.
    public private(set) var usedCount = 0
    private var idle: [Int] = []
    var waiting: Deque<Entry> = []
    /// The exclusive gate: while it is closed no reader is handed out, so that once those in use are back, no snapshot
    /// is left. SQLite's PENDING lock, one level up: "no new SHARED locks are permitted … though existing SHARED locks
    /// are allowed to continue" (https://www.sqlite.org/lockingv3.html).
    public private(set) var isGateClosed = false
    /// See ReaderQueue+Pause.
    public internal(set) var isPaused = false
    /// Either of the two: one look on the way of every read.
    var isRestricted = false
    var contention = Contention()
    /// How long the user of a reader may be idle once somebody waits; see ReaderQueue+Eviction. 0: as long as it likes.
    public var userIdleLimitMilliseconds: Int64

    /// - Parameter limit: the most connections there will be, above 0.
    public init(limit: Int, userIdleLimitMilliseconds: Int64 = 0) {
        precondition(limit > 0)
        self.limit = limit
        self.userIdleLimitMilliseconds = userIdleLimitMilliseconds
        idle.reserveCapacity(limit)
    }

    /// Clients that wait here.
    public var waitingCount: Int { waiting.count }

    /// A free connection, if nobody waits for one.
    public mutating func take() -> Int? {
        guard waiting.isEmpty, !isRestricted else { return nil }
        return takeFree()
    }

    mutating func takeFree() -> Int? {
        if let index = idle.popLast() { return index }
        guard usedCount < limit else { return nil }
        usedCount += 1
        return usedCount - 1
    }

    /// Has a client wait for a reader, behind those who wait already.
    public mutating func enqueue(
        _ client: ClientID, deadline: Instant, now: Instant = Instant(nanoseconds: 0), passesPause: Bool = false
    ) {
        // Those whom a pause holds back have not waited for an idle user until now.
        if waiting.isEmpty || passesPause && !isContended { contention.begins(now: now) }
        waiting.append(Entry(client: client, deadline: deadline, enqueued: now, passesPause: passesPause))
    }

    /// A client gives its reader back. Returns the client that has waited longest, which gets it now.
    public mutating func release(_ index: Int) -> ClientID? {
        if let next = isRestricted ? firstPassing : waiting.indices.first { return waiting.remove(at: next).client }
        idle.append(index)
        return nil
    }

    /// A free connection for the first of those who wait in another queue, where this one's would do, too; none before those who wait
    /// here.
    public mutating func lend(to other: inout ReaderQueue) -> (client: ClientID, index: Int)? {
        guard let place = other.isRestricted ? other.firstPassing : other.waiting.indices.first, let index = take() ?? takePassing()
        else { return nil }
        return (other.waiting.remove(at: place).client, index)
    }

    /// Readers that somebody has.
    public var inUseCount: Int { usedCount - idle.count }
    /// Those that somebody has, in the order of their indexes.
    public var indexesInUse: [Int] { (0..<usedCount).filter { !idle.contains($0) } }

    /// The idle ones, the coldest first.
    public var idleIndexes: [Int] { idle }

    /// Takes this one, if it is idle. Not while the gate is closed: then whoever closed it may close the connection too.
    public mutating func takeIdle(_ index: Int) -> Bool {
        guard !isGateClosed, let place = idle.firstIndex(of: index) else { return false }
        idle.remove(at: place)
        return true
    }

    /// From now on no reader is handed out; those in use come back one by one.
    public mutating func closeGate() {
        isGateClosed = true
        isRestricted = true
    }

    /// Returns who gets which reader now, in the order they came.
    public mutating func openGate() -> [(client: ClientID, index: Int)] {
        isGateClosed = false
        return grantWaiting()
    }

    /// Whatever kept readers from being handed out has changed: who gets which now, in the order they came.
    mutating func grantWaiting() -> [(client: ClientID, index: Int)] {
        isRestricted = isGateClosed || isPaused
        var granted: [(client: ClientID, index: Int)] = []
        while let next = isRestricted ? firstPassing : waiting.indices.first, let index = takeFree() {
            granted.append((waiting.remove(at: next).client, index))
        }
        return granted
    }

    /// Takes a waiting client out of the queue; false when it was granted a reader already.
    public mutating func withdraw(_ client: ClientID, now: Instant) -> Bool {
        guard let index = waiting.firstIndex(where: { $0.client == client }) else { return false }
        waiting.remove(at: index)
        noteGivenUp(now: now)
        return true
    }

    /// Takes out everybody whose deadline has passed.
    public mutating func withdrawExpired(now: Instant) -> [ClientID] {
        guard waiting.contains(where: { $0.deadline <= now }) else { return [] }
        let expired = waiting.filter { $0.deadline <= now }.map(\.client)
        waiting.removeAll { $0.deadline <= now }
        noteGivenUp(now: now)
        return expired
    }

    /// A client that waited for the gate, or for the end of a pause, has not waited for an idle user.
    private mutating func noteGivenUp(now: Instant) {
        if waiting.isEmpty, !isRestricted { contention.wasGivenUp(now: now) }
    }

    /// The earliest at which one of those who wait gives up; `distantFuture`: nobody waits.
    public var nextDeadline: Instant {
        waiting.reduce(.distantFuture) { min($0, $1.deadline) }
    }

    /// Those who have waited since then, at least.
    public func clientsWaiting(sinceBefore moment: Instant) -> [ClientID] {
        waiting.filter { $0.enqueued <= moment }.map(\.client)
    }

    /// A waiting client's place, counted from 1.
    public func place(of client: ClientID) -> Int? {
        waiting.firstIndex { $0.client == client }.map { $0 + 1 }
    }

    /// All idle connections, for upkeep that must touch each (ending the snapshots they keep). They come back by
    /// `release`, in this order, so that the warmest is on top again.
    public mutating func takeIdle() -> [Int] {
        defer { idle.removeAll(keepingCapacity: true) }
        return idle
    }
}
