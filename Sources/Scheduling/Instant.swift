/// A point on the monotonic clock, in nanoseconds. Scheduling never reads a clock: whoever calls passes the time.
public struct Instant: Comparable, Hashable, Sendable {
    /// Since some moment that is the same for the whole process.
    public var nanoseconds: Int64

    /// The moment at which its clock says so many.
    @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Says something only of instants of the same clock.
    @inlinable public static func < (a: Instant, b: Instant) -> Bool { a.nanoseconds < b.nanoseconds }

    /// Far enough to mean "never", and far from overflow.
    public static let distantFuture = Instant(nanoseconds: Int64.max / 2)

    /// The instant `milliseconds` later; no sum of a clock and a setting can trap here.
    @inlinable public func advanced(byMilliseconds milliseconds: Int64) -> Instant {
        let (product, overflow) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
        guard !overflow else { return milliseconds > 0 ? .distantFuture : Instant(nanoseconds: .min) }
        return advanced(byNanoseconds: product)
    }

    /// The same in nanoseconds.
    @inlinable public func advanced(byNanoseconds interval: Int64) -> Instant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(interval)
        guard !overflow else { return interval > 0 ? .distantFuture : Instant(nanoseconds: .min) }
        return Instant(nanoseconds: sum)
    }

    /// From `earlier` to this, rounded towards zero; below zero if `earlier` is later.
    @inlinable public func microseconds(since earlier: Instant) -> Int64 {
        (nanoseconds &- earlier.nanoseconds) / 1_000
    }

    /// The same in milliseconds.
    @inlinable public func milliseconds(since earlier: Instant) -> Int64 {
        (nanoseconds &- earlier.nanoseconds) / 1_000_000
    }
}

/// Names a client of the pool (a session), unlike any other that is there at the same time.
public typealias ClientID = Int
