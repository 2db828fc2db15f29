/// Whether a thread that asks for events while commits go on may give the core up each time it has found nothing.
///
/// The client that is waited for may need that core, and so may a thread that is back from the disk: sched_yield(2) "causes
/// the calling thread to relinquish the CPU" (https://man7.org/linux/man-pages/man2/sched_yield.2.html), and both are done
/// within microseconds. Somebody who computes keeps it for a slice of the kernel's scheduler, some 3 ms. So after that has
/// happened it is not tried again for a while.
///
/// One for all threads, which take turns: each would have to learn it, and that costs a slice each time.
///
/// A pure value, like `BusyPolling`.
public struct CoreYielding: Sendable {
    /// Giving the core up took this long: whoever had it computes. What a client does for its next message, and a thread for a
    /// commit, take less.
    public static let lostNanoseconds: Int64 = 1_000_000
    /// The pause after such a loss. It doubles, up to the longest, when the next loss comes soon after the pause, and starts again at the
    /// shortest otherwise. A slice of the scheduler in 10 s is nothing.
    public static let shortestPauseNanoseconds: Int64 = 10_000_000
    /// What the pause does not grow beyond.
    public static let longestPauseNanoseconds: Int64 = 10_000_000_000
    /// Soon: before this many times the pause are over.
    static let pausesUntilForgotten: Int64 = 4

    private var pause = shortestPauseNanoseconds
    private var pauseEnds: Instant?

    /// No core has been lost yet: it is allowed.
    public init() {}

    /// Whether a thread may ask, and give the core up.
    public func isAllowed(now: Instant) -> Bool { pauseEnds.map { $0 <= now } ?? true }

    /// A thread has given the core up, and has it again. True: it was away for long, and is to ask no more.
    public mutating func gaveUp(at before: Instant, hadItAgainAt now: Instant) -> Bool {
        guard now.nanoseconds &- before.nanoseconds >= Self.lostNanoseconds else { return false }
        let isSoon = pauseEnds.map { now.nanoseconds &- $0.nanoseconds < pause &* Self.pausesUntilForgotten } ?? false
        pause = isSoon ? min(pause &* 2, Self.longestPauseNanoseconds) : Self.shortestPauseNanoseconds
        pauseEnds = Instant(nanoseconds: now.nanoseconds &+ pause)
        return true
    }
}
