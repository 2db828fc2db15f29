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
    }

    /// The most connections there will be.
    public let limit: Int
    /// How many have been handed out at least once.
    public private(set) var usedCount = 0
    private var idle: [Int] = []
    private var waiting: Deque<Entry> = []

    public init(limit: Int) {
        precondition(limit > 0)
        self.limit = limit
        idle.reserveCapacity(limit)
    }

    public var waitingCount: Int { waiting.count }
    public var idleCount: Int { idle.count }

    /// Asks for a reader. Returns a connection's index; nil means: wait for a later grant.
    public mutating func request(_ client: ClientID, now: Instant, deadline: Instant = .distantFuture) -> Int? {
        if let index = take() { return index }
        enqueue(client, deadline: deadline)
        return nil
    }

    /// A free connection, if nobody waits for one.
    public mutating func take() -> Int? {
        guard waiting.isEmpty else { return nil }
        if let index = idle.popLast() { return index }
        guard usedCount < limit else { return nil }
        usedCount += 1
        return usedCount - 1
    }

    public mutating func enqueue(_ client: ClientID, deadline: Instant) {
        waiting.append(Entry(client: client, deadline: deadline))
    }

    /// A client gives its reader back. Returns the client that has waited longest, which gets it now.
    public mutating func release(_ index: Int) -> ClientID? {
        if let next = waiting.popFirst() { return next.client }
        idle.append(index)
        return nil
    }

    /// Takes a waiting client out of the queue; false when it was granted a reader already.
    public mutating func withdraw(_ client: ClientID) -> Bool {
        guard let index = waiting.firstIndex(where: { $0.client == client }) else { return false }
        waiting.remove(at: index)
        return true
    }

    /// Takes out everybody whose deadline has passed.
    public mutating func withdrawExpired(now: Instant) -> [ClientID] {
        guard waiting.contains(where: { $0.deadline <= now }) else { return [] }
        let expired = waiting.filter { $0.deadline <= now }.map(\.client)
        waiting.removeAll { $0.deadline <= now }
        return expired
    }

    public var nextDeadline: Instant {
        waiting.reduce(.distantFuture) { min($0, $1.deadline) }
    }

    /// All idle connections, for upkeep that must touch each (ending the snapshots they keep). They come back by
    /// `release`, in this order, so that the warmest is on top again.
    public mutating func takeIdle() -> [Int] {
        defer { idle.removeAll(keepingCapacity: true) }
        return idle
    }
}
