import Glibc
import Scheduling

/// Which threads poll and which stand in reserve: `PollerCensus` with the lock and the condition around it.
///
/// A pthread mutex and condition, because `Synchronization.Mutex` has no condition to wait on.
///
/// `@unchecked Sendable`: everything mutable is touched with the mutex held.
final class Crew: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var census: PollerCensus
    /// Threads of the reserve that were told to poll and have not woken yet.
    private var calls = 0
    private var isStopping = false

    init(pollers: Int) {
        census = PollerCensus(target: pollers)
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }

    /// A thread starts, or is back from long work: returns once it shall poll; false when the crew stops.
    func joinOrStandBy() -> Bool {
        locked {
            if isStopping { return false }
            if census.join() == .poll { return true }
            return standByInReserve()
        }
    }

    /// This is where reserve threads stand in a profile.
    private func standByInReserve() -> Bool {
        while calls == 0 && !isStopping { pthread_cond_wait(condition, mutex) }
        if isStopping { return false }
        calls -= 1
        return true
    }

    /// A polling thread is about to be long: one of the reserve takes its place.
    func willBeLong() {
        locked {
            guard census.willBeLong() else { return }
            calls += 1
            pthread_cond_signal(condition)
        }
    }

    func stop() {
        locked {
            isStopping = true
            pthread_cond_broadcast(condition)
        }
    }
}
