/// How often a value fell between which bounds, and the sum of all: what a monitoring system makes rates and quantiles of.
public struct Histogram: Equatable, Sendable {
    /// The largest value of each bucket, ascending; one more bucket takes everything above.
    public let bounds: [Int]
    /// In each bucket alone, not in it and all below.
    public private(set) var counts: [Int]
    /// Of all values that were observed. It wraps around rather than trap.
    public private(set) var sum: Int

    /// Nothing has been observed.
    public init(bounds: [Int]) {
        self.init(bounds: bounds, counts: Array(repeating: 0, count: bounds.count + 1), sum: 0)
    }

    /// What was counted elsewhere; as many counts as bounds and one more.
    public init(bounds: [Int], counts: [Int], sum: Int) {
        precondition(counts.count == bounds.count + 1)
        (self.bounds, self.counts, self.sum) = (bounds, counts, sum)
    }

    /// How many values were observed.
    public var count: Int { counts.reduce(0, &+) }

    /// Counts a value.
    public mutating func observe(_ value: Int) {
        counts[bounds.firstIndex { value <= $0 } ?? bounds.count] &+= 1
        sum &+= value
    }
}

// MARK: Durations

extension Histogram {
    /// In nanoseconds: two to a decade, from what a point SELECT takes to what nobody waits for.
    public static let durationBounds = [
        10_000, 50_000, 100_000, 500_000, 1_000_000, 5_000_000, 10_000_000, 50_000_000, 100_000_000, 500_000_000,
        1_000_000_000, 5_000_000_000, 10_000_000_000, 60_000_000_000,
    ]
    /// How many buckets that makes.
    public static let durationBuckets = durationBounds.count + 1

    /// An empty one with those bounds.
    public static var durations: Histogram { Histogram(bounds: durationBounds) }

    /// The bucket of a duration, for counters that are no value of this type. The shortest, which are the commonest, are
    /// decided by the first comparison.
    @inlinable @inline(__always)
    public static func durationBucket(_ nanoseconds: Int) -> Int {
        if nanoseconds <= 10_000 { return 0 }
        if nanoseconds <= 50_000 { return 1 }
        return longDurationBucket(nanoseconds)
    }

    @usableFromInline
    static func longDurationBucket(_ nanoseconds: Int) -> Int {
        durationBounds.firstIndex { nanoseconds <= $0 } ?? durationBounds.count
    }
}
