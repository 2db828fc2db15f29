/// Whether a thread that has nothing to do asks for events for a while before it sleeps until there are any.
///
/// A core that sleeps takes its time to wake up: on a virtual machine some 20 µs, for the client's as for the daemon's, beside a
/// point SELECT that takes 5. While requests follow each other closely, the next one is here before the thread has spent what waking
/// it would have cost. Where they are far apart, it would ask for nothing. So the last wait tells about the next, as it does for a
/// hypervisor whose guest waits: its interval "is increased and decreased based on the perceived effectiveness of the polling in an
/// attempt to limit pointless polling" (https://docs.kernel.org/virt/kvm/halt-polling.html).
///
/// If a client computes for longer than a thread asks, asking is in vain. So after each such time, twice as many waits are slept through
/// before it is tried again.
///
/// It does so only while every event is a quick one. While commits go on, the disk is what is waited for, and a thread that
/// asks takes the core from the one that comes back from there.
///
/// But where the writer's holder waits for its client and others for the writer, with no sync between them, each message of that client
/// is what everybody waits for. Then a thread asks, too, and gives the core up between: see `CoreYielding`.
///
/// A pure value, like `PollerCensus`.
public struct BusyPolling: Sendable {
    /// How long a thread asks: a client that was woken by the reply, and sends the next request at once, is back within it.
    static let limitNanoseconds: Int64 = 50_000
    /// Where it gives the core up between: what that keeps from others is little, and who is woken on another core that sleeps deeply,
    /// and answers at once, takes 60 µs and more.
    public static let yieldingLimitNanoseconds: Int64 = 120_000
    /// A wait that was slept through and was not longer than this would have been over while asking, had nobody had to wake up.
    static let shortWaitNanoseconds: Int64 = 120_000

    /// Until something is known, nothing speaks for it.
    private var lastWasShort = false
    /// Of waits that are slept through at once.
    private var backoff = Backoff()

    /// No wait has been seen, so a thread sleeps at once.
    public init() {}

    /// Whether to ask, and until when, by a thread that has nothing to do since `now`; nil: it sleeps at once.
    @inline(__always)
    public func end(now: Instant) -> Instant? {
        lastWasShort && !backoff.passesOver ? Instant(nanoseconds: now.nanoseconds &+ Self.limitNanoseconds) : nil
    }

    /// The wait was over while the thread asked.
    @inline(__always)
    public mutating func found() { backoff.succeeded() }

    /// The thread slept, and had nothing to do from `since` until `now`.
    ///
    /// - Parameter askedInVain: before it slept.
    @inline(__always)
    public mutating func slept(since: Instant, until now: Instant, askedInVain: Bool) {
        lastWasShort = now.nanoseconds &- since.nanoseconds <= Self.shortWaitNanoseconds
        if askedInVain { backoff.failed() } else if backoff.passesOver { backoff.passedOver() }
    }
}
