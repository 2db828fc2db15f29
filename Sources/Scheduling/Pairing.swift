/// Whether two clients keep a machine of two processors busy, so that a thread that asks for their events takes one of the two from them.
///
/// With one client a thread that asks (`BusyPolling`) has a processor that nobody else wants. With many there are mostly several events
/// at once, and one thread that handles them all is worth the processor it takes. With two there is mostly one, and while the thread
/// handles it, the client of the other waits for a processor or for being woken on the other one. Two threads that sleep between
/// events are each woken where their client runs, and each pair takes turns at a processor of its own: point SELECTs of two
/// clients are 1.4 times as many.
///
/// A pure value, like `PollerCensus`.
public struct Pairing: Sendable {
    /// So many events, one behind the other, of the same two clients.
    public static let events = 64
    /// So many at least are each one's. Where one has most of them, a thread that asks is worth more to that one.
    public static let eventsOfEach = 24
    /// Within this time, or there are pauses, in which a processor is free.
    public static let longestNanoseconds: Int64 = 3_200_000

    private var clients: (UInt64, UInt64) = (0, 0)
    private var counts = (0, 0)
    private var began = Instant(nanoseconds: 0)

    public init() {}

    /// An event of this client has come to the thread that polls alone. True: the two of them are to have a thread each.
    @inline(__always)
    public mutating func came(_ client: UInt64, now: Instant) -> Bool {
        if client == clients.0 {
            counts.0 &+= 1
        } else if client == clients.1 {
            counts.1 &+= 1
        } else {
            // The one before may be one of two.
            clients = (client, clients.0)
            counts = (1, 0)
            began = now
            return false
        }
        guard counts.0 &+ counts.1 >= Self.events else { return false }
        let isPair = min(counts.0, counts.1) >= Self.eventsOfEach && now.nanoseconds &- began.nanoseconds <= Self.longestNanoseconds
        counts = (0, 0)
        began = now
        return isPair
    }
}
