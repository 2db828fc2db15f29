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
    static let granularityNanoseconds: Int64 = 5_000_000

    init() throws(SystemError) {
        descriptor = walpool_timerfd()
        if descriptor < 0 { throw SystemError("timerfd_create") }
    }

    deinit { close(descriptor) }

    func announce(_ deadline: Instant) {
        guard deadline < .distantFuture else { return }
        let wanted = deadline.nanoseconds
        let (exchanged, earlier) = earliest.min(wanted, ordering: .sequentiallyConsistent)
        guard exchanged > wanted else { return }
        // Two threads may set the timer in the other order than they announced in: each goes on until the timer is
        // set to what was announced last.
        var set = earlier
        setTimer(set)
        while true {
            let current = earliest.load(ordering: .sequentiallyConsistent)
            guard current < set else { return }
            set = current
            setTimer(set)
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
