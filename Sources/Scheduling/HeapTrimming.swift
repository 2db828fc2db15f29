/// When memory that is free in the process is given back to the kernel: some time after work that may have left it behind, where it is
/// worth it, and not often.
public struct HeapTrimming: Sendable {
    /// Less stays. So much takes 15 ms to give, in which others may wait for the allocator, and 50 ms to take again.
    public static let worthBytes = 64 << 20
    /// After the work: a client that goes on needs the memory again.
    static let delayMilliseconds: Int64 = 1_000
    /// Where such work goes on it needs again what was given back: of 2.4 GB to give takes 0.3 to 0.8 s, and to take 1.4 to 1.9 s.
    static let intervalMilliseconds: Int64 = 30_000

    /// What was left when it was last given back, or less: not the allocator's, or not whole pages.
    private var keptBytes = 0
    private var earliest = Instant(nanoseconds: 0)

    /// Nothing has been given back.
    public init() {}

    /// When to look at what work has left that has ended now.
    public func look(afterWorkUntil now: Instant) -> Instant { max(now.advanced(byMilliseconds: Self.delayMilliseconds), earliest) }

    /// - Parameter unusedBytes: what the process has, less what is known to be in use.
    public mutating func isWorthIt(unusedBytes: Int) -> Bool {
        keptBytes = min(keptBytes, unusedBytes)
        return unusedBytes - keptBytes > Self.worthBytes
    }

    /// It was given back.
    public mutating func hasTrimmed(leaving unusedBytes: Int, now: Instant) {
        keptBytes = unusedBytes
        earliest = now.advanced(byMilliseconds: Self.intervalMilliseconds)
    }
}
