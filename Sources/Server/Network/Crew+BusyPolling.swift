import Glibc
import Pool
import Scheduling

/// The one thread that asks for events before it sleeps: see `BusyPolling`.
extension Crew {
    /// What `look` finds, asked for again and again until then; 0: nothing came. nil: others are needed more, or want the processor.
    @inline(__always)
    func pollBusily(until end: Instant, _ look: () -> Int) -> Int? {
        guard hasFewPollers else { return nil }
        return pollAlone {
            repeat {
                let count = look()
                if count > 0 { return count }
            } while hasFewPollers && MonotonicClock.now < end
            return 0
        }
    }

    /// The same while commits go on, giving the core up between: to the client, or to another thread that is back from the disk. See
    /// `CoreYielding`.
    func pollYielding(until end: Instant, now: Instant, _ look: () -> Int) -> Int? {
        pollAlone {
            guard yielding.isAllowed(now: now) else { return nil }
            var again: Instant
            repeat {
                let count = look()
                if count > 0 { return count }
                let before = MonotonicClock.now
                sched_yield()
                again = MonotonicClock.now
                if yielding.gaveUp(at: before, hadItAgainAt: again) { break }
            } while again < end
            return look()
        }
    }

    /// Gives the core up once, to the client that was answered just now, if that is where it is to run. See `CoreYielding`.
    func yieldOnce() {
        guard !isBusyPolling.exchange(true, ordering: .acquiring) else { return }
        defer { isBusyPolling.store(false, ordering: .releasing) }
        let before = MonotonicClock.now
        guard yielding.isAllowed(now: before) else { return }
        sched_yield()
        _ = yielding.gaveUp(at: before, hadItAgainAt: MonotonicClock.now)
    }

    /// nil as well where another thread asks already.
    @inline(__always)
    private func pollAlone(_ poll: () -> Int?) -> Int? {
        guard hasProcessorForClients.load(ordering: .relaxed), !isBusyPolling.exchange(true, ordering: .acquiring) else { return nil }
        defer { isBusyPolling.store(false, ordering: .releasing) }
        return poll()
    }
}
