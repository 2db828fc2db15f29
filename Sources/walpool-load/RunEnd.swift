/// The end of a run, for a client that has a thread to itself: it sleeps in pieces, so that it sees the end when that comes.
struct RunEnd {
    private let stopTime: StopTime
    /// As planned, or earlier once that was seen.
    private(set) var time: Int64

    init(planned: Int64 = .max, stopTime: StopTime) {
        time = planned
        self.stopTime = stopTime
    }

    /// Whether somebody has asked for an earlier end than the client knew of.
    @inline(__always)
    mutating func hasBecomeEarlier() -> Bool {
        guard stopTime.value < time else { return false }
        time = stopTime.value
        return true
    }

    /// Sleeps until then, or until the end.
    func wait(until deadline: Int64) {
        while case let now = Clock.now, now < min(deadline, time, stopTime.value) {
            Clock.sleep(until: min(deadline, time, now + Self.lookNanoseconds))
        }
    }

    /// Sleeps in the middle of a transaction. False: the end has come, and would be waited for too long.
    func hold(nanoseconds: Int64) -> Bool {
        let deadline = Clock.now + nanoseconds
        while case let now = Clock.now, now < deadline {
            let end = min(time, stopTime.value)
            if now >= end, deadline - end >= RunSettings.drainNanoseconds { return false }
            Clock.sleep(until: min(deadline, now + Self.lookNanoseconds))
        }
        return true
    }

    private static let lookNanoseconds: Int64 = 50_000_000
}
