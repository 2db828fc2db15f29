/// When memory that is free in the process is given back to the kernel: some time after work that may have left it behind, where it is
/// worth it, and not often.
public struct HeapTrimming: Sendable {
    /// Less than this is not given back: to give 64 MiB back takes 15 ms, in which other threads may wait for the allocator, and to get them
    /// again takes 50 ms.
    public static let worthBytes = 64 << 20
    /// After the work: a client that goes on needs the memory again.
    static let delayMilliseconds: Int64 = 1_000
    /// Where such work goes on it needs again what was given back: of 2.4 GB to give takes 0.3 to 0.8 s, and to take 1.4 to 1.9 s.
    static let intervalMilliseconds: Int64 = 30_000

    /// What was still unused after memory was last given back: it is not the allocator's to give (stacks, Swift's, parts of pages). Lowered
    /// when less is unused, so that growth counts from there.
    private var keptBytes = 0
    private var earliest = Instant(nanoseconds: 0)

    /// Nothing has been given back.
    public init() {}

    /// When to look at what work has left that has ended now.
    public func look(afterWorkUntil now: Instant) -> Instant { max(now.advanced(byMilliseconds: Self.delayMilliseconds), earliest) }

    /// - Parameter unusedBytes: what the process has, less what is known to be in use. That may be more than it has, where some was
    ///   swapped out or never touched; then nothing is unused.
    public mutating func isWorthIt(unusedBytes: Int) -> Bool {
        let unusedBytes = max(0, unusedBytes)
        keptBytes = min(keptBytes, unusedBytes)
        return unusedBytes - keptBytes > Self.worthBytes
    }

    /// It was given back.
    public mutating func hasTrimmed(leaving unusedBytes: Int, now: Instant) {
        keptBytes = max(0, unusedBytes)
        earliest = now.advanced(byMilliseconds: Self.intervalMilliseconds)
    }
}
