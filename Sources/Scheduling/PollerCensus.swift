/// How many threads wait for clients, and how many stand in reserve.
///
/// As many threads poll as there are cores, plus one; polling with more costs throughput. A thread that is about to be
/// long (a heavy statement, a wait for another process's lock) says so before, and a reserve thread takes its place.
/// When it is back and its place is taken, it joins the reserve.
///
/// A pure value, like `WriterQueue`.
public struct PollerCensus: Sendable {
    /// How many threads should be polling or at short work.
    public let target: Int
    public private(set) var active = 0
    public private(set) var reserve = 0

    public init(target: Int) {
        precondition(target > 0)
        self.target = target
    }

    public enum Role: Equatable, Sendable { case poll, standBy }

    /// A thread starts. One that is woken out of the reserve does not join again: `willBeLong` has counted it.
    public mutating func join() -> Role {
        if active < target {
            active += 1
            return .poll
        }
        reserve += 1
        return .standBy
    }

    /// A polling thread is about to be long. True: wake one thread of the reserve; it has been counted as polling.
    public mutating func willBeLong() -> Bool {
        active -= 1
        guard reserve > 0 else { return false }
        reserve -= 1
        active += 1
        return true
    }

    /// A thread that was long is back.
    public mutating func isBack() -> Role { join() }
}
