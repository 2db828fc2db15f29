import Pool
import Scheduling

/// How long something is asked for that nobody waits for, or that is no statement of its session's: whose limits say nothing of it.
final class BriefPatience: StatementOwner {
    private let end: Instant

    init(milliseconds: Int64) { end = MonotonicClock.now.advanced(byMilliseconds: milliseconds) }

    func reasonToStop(now: Instant) -> StopReason? { now >= end ? .statementTimeout : nil }
    func reasonToStopWaiting(now: Instant) -> StopReason? { reasonToStop(now: now) }
    /// It will not.
    func willBeLong() {}
}
