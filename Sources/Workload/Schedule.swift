/// When the transactions of one client are meant to start. All times are nanoseconds of one clock.
///
/// In an open loop the times are fixed beforehand, whatever the server does, and latency counts from them. "The coordinated
/// omission problem": a generator that waits for a stalled server before it sends the next request leaves out the very
/// requests that would have suffered (Gil Tene, https://www.infoq.com/presentations/latency-response-time/).
public enum Schedule: Equatable, Sendable {
    /// The next one starts so long after the last one's end.
    case closed(thinkNanoseconds: Int64)
    /// One starts every `everyNanoseconds`, the first `offsetNanoseconds` after the start of the run.
    case open(everyNanoseconds: Double, offsetNanoseconds: Double)

    /// The clients of a class take turns: together they make one even stream.
    public init(_ clientClass: ClientClass, client: Int) {
        if clientClass.isOpenLoop {
            let step = 1e9 / clientClass.ratePerSecond
            self = .open(everyNanoseconds: step * Double(clientClass.clients), offsetNanoseconds: step * Double(client))
        } else {
            self = .closed(thinkNanoseconds: Int64(clientClass.thinkMilliseconds * 1e6))
        }
    }

    /// When the transaction with that number (from 0) is meant to start.
    ///
    /// - Parameters:
    ///   - start: of the run.
    ///   - lastEnd: of the client's last transaction.
    @inlinable public func intendedStart(of number: Int, start: Int64, lastEnd: Int64) -> Int64 {
        switch self {
        case .closed(let think):
            number == 0 ? start : lastEnd &+ think
        case .open(let every, let offset):
            start &+ Int64(offset + every * Double(number))
        }
    }

    /// How many transactions of an open loop are meant to start before a time; of a closed one nobody knows beforehand: 0.
    func due(before time: Int64, start: Int64) -> Int {
        guard case .open(let every, let offset) = self, time > start else { return 0 }
        var count = Int(max(0, (Double(time - start) - offset) / every))
        // What rounding left out: the clients must agree with this to the last one.
        while intendedStart(of: count, start: start, lastEnd: 0) < time { count += 1 }
        return count
    }
}
