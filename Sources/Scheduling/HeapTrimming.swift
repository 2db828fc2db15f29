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

    /// Where nothing was there to be given back it is not tried again before, and each time twice as long, but for growth: fragments of 400 MB
    /// in use take 0.2 s to look through, and what is Swift's, and so in use, is told from what is free by nothing but trying.
    static let longestPatienceMilliseconds: Int64 = 600_000

    /// What was still unused after memory was last given back: it was not the allocator's to give (stacks, Swift's, parts of pages).
    /// Lowered when less is unused, so that growth counts from there. Sessions end, and then it is the allocator's: see `keptUntil`.
    private var keptBytes = 0
    private var keptUntil = Instant(nanoseconds: 0)
    private var patienceMilliseconds = intervalMilliseconds
    private var earliest = Instant(nanoseconds: 0)

    /// Nothing has been given back.
    public init() {}

    /// When to look at what work has left that has ended now.
    public func look(afterWorkUntil now: Instant) -> Instant { max(now.advanced(byMilliseconds: Self.delayMilliseconds), earliest) }

    /// No look for such work is later: who has one before that need not ask.
    public static func latestLook(afterWorkUntil now: Instant) -> Instant { now.advanced(byMilliseconds: intervalMilliseconds) }

    /// What a look comes to.
    public enum Finding: Equatable, Sendable {
        case little, isWorthIt
        /// It may be in use, as it was the last time.
        case lookAgain(Instant)
    }

    /// - Parameter unusedBytes: what the process has, less what is known to be in use. That may be more than it has, where some was
    ///   swapped out or never touched; then nothing is unused.
    public mutating func look(unusedBytes: Int, now: Instant) -> Finding {
        let unusedBytes = max(0, unusedBytes)
        keptBytes = now < keptUntil ? min(keptBytes, unusedBytes) : 0
        guard unusedBytes > Self.worthBytes else { return .little }
        return unusedBytes - keptBytes > Self.worthBytes ? .isWorthIt : .lookAgain(keptUntil)
    }

    /// It was given back.
    public mutating func hasTrimmed(_ unusedBytes: Int, leaving leftBytes: Int, now: Instant) {
        let isInVain = unusedBytes - leftBytes <= Self.worthBytes
        patienceMilliseconds = isInVain ? min(2 * patienceMilliseconds, Self.longestPatienceMilliseconds) : Self.intervalMilliseconds
        keptBytes = max(0, leftBytes)
        keptUntil = now.advanced(byMilliseconds: patienceMilliseconds)
        earliest = now.advanced(byMilliseconds: Self.intervalMilliseconds)
    }
}
