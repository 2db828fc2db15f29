/// A reader whose user waits for its own client, and keeps a snapshot meanwhile.
public struct IdleReader: Equatable, Sendable {
    /// Whose reader it is.
    public var client: ClientID
    /// Since when it is idle.
    public var since: Instant
    /// Since when it keeps its snapshot.
    public var snapshotBegan: Instant

    /// Both moments are of the monotonic clock.
    public init(client: ClientID, since: Instant, snapshotBegan: Instant) {
        self.client = client
        self.since = since
        self.snapshotBegan = snapshotBegan
    }
}

/// Users of readers that keep the others waiting, as in `WriterQueue`: an idle one may have its reader for as long as it likes
/// while nobody waits, and for so long once somebody does.
///
/// Which users are idle is not kept here: each would have to tell with each of its messages, and it matters only while a client waits.
/// So the pool, which looks then, passes them.
extension ReaderQueue {
    /// Somebody waits who would have a reader if one were free.
    var isContended: Bool { isRestricted ? firstPassing != nil : !waiting.isEmpty }

    /// Whose snapshot is to be ended now: of those that have been idle beyond the limit, the one with the oldest.
    ///
    /// The limit is for the time in which it is idle and somebody waits, as in `WriterQueue`.
    public func userToEvict(among idle: [IdleReader], now: Instant) -> ClientID? {
        guard userIdleLimitMilliseconds > 0, isContended else { return nil }
        return idle.filter { evictionTime(of: $0) <= now }.min { $0.snapshotBegan < $1.snapshotBegan }?.client
    }

    private func evictionTime(of reader: IdleReader) -> Instant {
        contention.end(ofMilliseconds: userIdleLimitMilliseconds, since: reader.since)
    }

    /// When to look again who is idle, while anybody waits: who is not idle now is due no earlier than a whole limit from now.
    public func nextLook(among idle: [IdleReader], now: Instant) -> Instant {
        guard userIdleLimitMilliseconds > 0, !waiting.isEmpty else { return .distantFuture }
        return idle.lazy.map { evictionTime(of: $0) }.filter { $0 > now }
            .reduce(now.advanced(byMilliseconds: userIdleLimitMilliseconds)) { min($0, $1) }
    }
}
