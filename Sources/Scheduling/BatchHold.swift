/// How long a thread keeps events to itself that it was told of together and has not come to, while other threads poll that could
/// take them.
///
/// It begins when the thread comes to the first of them: whatever they waited for before is not the thread's doing.
///
/// A pure value, like `PollerCensus`.
public struct BatchHold: Sendable {
    /// Eight quick events are over by then. The other threads may be asleep meanwhile.
    public static let longestNanoseconds: Int64 = 50_000

    /// How long it may go on with events that came while it was at their sessions, before it asks for others. Sixty-four quick ones are
    /// over by then.
    public static let longestWithoutAskingNanoseconds: Int64 = 1_000_000

    /// Nil until the thread comes to one of them.
    private var began: Instant?

    /// As after `restart()`.
    public init() {}

    /// The thread has other events from now on, and has not come to any of them.
    @inline(__always)
    public mutating func restart() { began = nil }

    /// The thread comes to one of them.
    @inline(__always)
    public mutating func comesToEvent(now: Instant) {
        if began == nil { began = now }
    }

    /// Whether those that are left are to be given to others.
    @inline(__always)
    public func isOver(now: Instant) -> Bool {
        guard let began else { return false }
        return now.nanoseconds &- began.nanoseconds > Self.longestNanoseconds
    }
}
