import Glibc
import Scheduling
import Synchronization

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
    /// When a polling thread shall look whether it is still needed, in nanoseconds; Int64.max is never. Read without the
    /// mutex before every event, so that nobody takes it for nothing.
    private let lookAgainAt = Atomic<Int64>(.max)
    /// - Parameter quickPollers: how many threads poll while every event is a quick one.
    init(pollers: Int, quickPollers: Int) {
        census = PollerCensus(target: pollers, quickTarget: quickPollers)
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

    /// A polling thread is about to wait for the disk: more than the few that quick events need shall poll.
    func willBlock(now: Instant) {
        // Said before every commit, and nearly always known.
        let until = lookAgainAt.load(ordering: .relaxed)
        if until != .max, until &- now.nanoseconds > PollerCensus.windowNanoseconds / 2 { return }
        locked { call(census.willBlock(now: now)) }
    }

    /// Handling an event took that long, unannounced.
    func wasSlow(_ nanoseconds: Int64, now: Instant) {
        locked { call(census.wasSlow(nanoseconds, now: now)) }
    }

    /// Between two events: returns when the thread shall poll on, false when the crew stops.
    @inline(__always)
    func mayPollOn(now: Instant) -> Bool {
        now.nanoseconds < lookAgainAt.load(ordering: .relaxed) || lookAgain(now: now)
    }

    private func lookAgain(now: Instant) -> Bool {
        locked {
            let role = census.betweenEvents(now: now)
            noteFullUntil()
            return role == .poll || standByInReserve()
        }
    }

    private func call(_ threads: Int) {
        noteFullUntil()
        calls += threads
        for _ in 0..<threads { pthread_cond_signal(condition) }
    }

    /// While there are more threads than the target, each of them has to look.
    private func noteFullUntil() {
        let until = census.fullUntil?.nanoseconds
        let next = until ?? (census.active > census.target ? 0 : .max)
        lookAgainAt.store(next, ordering: .relaxed)
    }

    func stop() {
        locked {
            isStopping = true
            pthread_cond_broadcast(condition)
        }
    }
}
