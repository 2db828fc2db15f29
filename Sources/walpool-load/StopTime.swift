import Synchronization

/// When somebody asked for an early end: the time of the signal, because who runs a transaction sees it only when that is over. A
/// client that took its time from then on would hide how long it had been running, and run longer than was measured.
///
/// Stored by the main thread, or by a handler of signals.
final class StopTime: Sendable {
    private let nanoseconds = Atomic<Int64>(.max)

    /// Int64.max: nobody has.
    @inline(__always)
    var value: Int64 { nanoseconds.load(ordering: .relaxed) }

    /// Only the first counts.
    func set(_ time: Int64) { _ = nanoseconds.compareExchange(expected: .max, desired: time, ordering: .relaxed) }
}
