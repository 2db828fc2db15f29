/// How often something may happen: a burst at once, and then so many a second. A token bucket that is given the time.
public struct RateLimit: Equatable, Sendable {
    /// How much is let pass.
    public struct Rate: Equatable, Sendable {
        /// What may come at once when nothing has come for a while.
        public var burst: Int
        /// What may come in each second in the long run.
        public var perSecond: Int

        /// Traps unless both are above 0.
        public init(burst: Int, perSecond: Int) {
            precondition(burst > 0 && perSecond > 0)
            (self.burst, self.perSecond) = (burst, perSecond)
        }

        /// What one costs, in nanoseconds of waiting.
        var cost: Int64 { 1_000_000_000 / Int64(perSecond) }
    }

    /// Since when the bucket has been filling; never longer ago than it takes to fill it.
    private var emptySince: Instant

    /// With a full bucket.
    public init(_ rate: Rate, now: Instant) {
        emptySince = Instant(nanoseconds: now.nanoseconds - rate.cost * Int64(rate.burst))
    }

    /// Whether one more may happen now; if so, it is counted.
    public mutating func admit(_ rate: Rate, now: Instant) -> Bool {
        let full = Instant(nanoseconds: now.nanoseconds - rate.cost * Int64(rate.burst))
        let start = max(emptySince, full)
        guard now.nanoseconds - start.nanoseconds >= rate.cost else { return false }
        emptySince = Instant(nanoseconds: start.nanoseconds + rate.cost)
        return true
    }

    /// Nothing of it has been used for as long as it takes to fill: it need not be remembered.
    func isFull(_ rate: Rate, now: Instant) -> Bool {
        now.nanoseconds - emptySince.nanoseconds >= rate.cost * Int64(rate.burst)
    }
}

/// A rate limit for each key, so that one who makes many does not take the others' share; and a count of what was refused.
public struct RateLimits<Key: Hashable & Sendable>: Sendable {
    /// Each key's, and that of all who share a limit.
    public let rate: RateLimit.Rate
    /// Keys told apart; further ones share a limit. Bounds memory, whoever comes.
    public let keyLimit: Int
    private var limits: [Key: RateLimit] = [:]
    private var shared: RateLimit?
    /// How many were refused since it was last asked.
    public private(set) var leftOut = 0

    /// Nothing has come yet.
    public init(_ rate: RateLimit.Rate, keyLimit: Int) { (self.rate, self.keyLimit) = (rate, keyLimit) }

    /// Whether one more of this key may happen now. It is counted either way: as used, or as left out.
    public mutating func admit(_ key: Key, now: Instant) -> Bool {
        let isAdmitted = admitWithoutCounting(key, now: now)
        if !isAdmitted { leftOut += 1 }
        return isAdmitted
    }

    private mutating func admitWithoutCounting(_ key: Key, now: Instant) -> Bool {
        if limits[key] == nil, limits.count >= keyLimit { limits = limits.filter { !$0.value.isFull(rate, now: now) } }
        if limits[key] == nil, limits.count >= keyLimit {
            return shared.admitting(rate, now: now)
        }
        return limits[key].admitting(rate, now: now)
    }

    /// How many were refused since this was last called.
    public mutating func takeLeftOut() -> Int {
        defer { leftOut = 0 }
        return leftOut
    }
}

extension Optional where Wrapped == RateLimit {
    fileprivate mutating func admitting(_ rate: RateLimit.Rate, now: Instant) -> Bool {
        var limit = self ?? RateLimit(rate, now: now)
        defer { self = limit }
        return limit.admit(rate, now: now)
    }
}
