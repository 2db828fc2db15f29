import CLinux
import Glibc
import Pool
import Scheduling
import Synchronization

/// One timer for every deadline: it fires no later than the earliest that was announced.
///
/// A session that gets a deadline says so, which costs a system call only when it is earlier than what the timer is
/// set to. When it fires, whoever receives the event looks through the sessions once.
final class Deadlines: DeadlineObserver {
    let descriptor: Int32
    /// What the timer is set to, in nanoseconds; Int64.max when it is off.
    private let earliest = Atomic<Int64>(.max)

    /// Deadlines closer together than this are handled by one look through the sessions.
    private static let granularityNanoseconds: Int64 = 5_000_000

    init() throws(SystemError) {
        descriptor = walpool_timerfd()
        if descriptor < 0 { throw SystemError("timerfd_create") }
    }

    deinit { close(descriptor) }

    func announce(_ deadline: Instant) {
        guard deadline < .distantFuture else { return }
        let wanted = deadline.nanoseconds
        var current = earliest.load(ordering: .sequentiallyConsistent)
        while wanted < current {
            let (exchanged, original) = earliest.compareExchange(
                expected: current, desired: wanted, ordering: .acquiringAndReleasing)
            if exchanged {
                setTimer(wanted)
                return
            }
            current = original
        }
    }

    /// The timer has fired: it is off until the next announcement.
    func didFire() {
        var expirations: UInt64 = 0
        _ = read(descriptor, &expirations, 8)
        earliest.store(.max, ordering: .sequentiallyConsistent)
    }

    private func setTimer(_ nanoseconds: Int64) {
        let soonest = MonotonicClock.now.nanoseconds + Self.granularityNanoseconds
        let at = max(nanoseconds, soonest)
        walpool_timerfd_set(descriptor, at)
    }
}
