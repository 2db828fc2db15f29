/// For how long somebody has waited: one client, or several at the same time, or one after the other.
///
/// Also those who gave up count. Else clients whose patience is shorter than a limit of idleness would never see it act, however
/// often they come, and whoever holds what they wait for would keep it for ever. Time in which nobody waits does not count.
///
/// A pure value, like the queues that have one.
struct Contention: Sendable {
    private struct Wait: Sendable {
        var from: Instant
        var until: Instant
    }

    /// Since when somebody has waited without a break; without meaning while nobody waits. If the first waiter gives up, it goes on for the
    /// others.
    private(set) var since = Instant(nanoseconds: 0)
    /// Waits that ended because everybody had given up, the oldest first.
    private var past: [Wait] = []
    /// With one more, the two oldest become one that is as long as both. It ends with the later one, so that some of it may be held
    /// against a holder that became idle in between, but never more than the time it was idle.
    static let remembered = 8

    /// Somebody waits, and nobody did before.
    mutating func begins(now: Instant) { since = now }

    /// The last of those who waited has given up, and what they waited for is still somebody else's.
    mutating func wasGivenUp(now: Instant) {
        guard now > since else { return }
        past.append(Wait(from: since, until: now))
        guard past.count > Self.remembered else { return }
        let oldest = past.removeFirst()
        past[0].from.nanoseconds &-= oldest.until.nanoseconds &- oldest.from.nanoseconds
    }

    /// What was before is of no interest any more.
    mutating func forget(before now: Instant) {
        past.removeAll()
        since = max(since, now)
    }

    /// When somebody will have waited for so long since that moment, if somebody goes on waiting.
    func end(ofMilliseconds limit: Int64, since moment: Instant) -> Instant {
        let waited = past.reduce(Int64(0)) { sum, wait in
            sum &+ max(0, wait.until.nanoseconds &- max(wait.from, moment).nanoseconds)
        }
        return Instant(nanoseconds: max(since, moment).nanoseconds &- waited).advanced(byMilliseconds: limit)
    }
}
