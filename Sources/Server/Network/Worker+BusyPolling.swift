import Pool
import Scheduling

/// Where a thread waits that has nothing to do, and whether it asks for events before it sleeps: see `BusyPolling`.
extension Worker {
    /// How many events it got, of which there is at least one, having had nothing to do since then.
    @inline(__always)
    func countOfEvents(since now: Instant) -> Int {
        crew.beginsToWait()
        defer { crew.hasWaited() }
        var asked: Int?
        if let end = busyPolling.end(now: now) {
            asked = ask(until: end, now: now)
            if let asked, asked > 0 {
                busyPolling.found()
                return asked
            }
        }
        let count = server.poller.waitForEvents(words, atMost: crew.eventsAtOnce)
        busyPolling.slept(since: now, until: MonotonicClock.now, askedInVain: asked != nil)
        return count
    }

    /// What came meanwhile; 0: nothing. nil: it did not ask.
    @inline(__always)
    private func ask(until end: Instant, now: Instant) -> Int? {
        // Where two poll because one does not keep up, there is no processor to spare, and what one asks for the other has.
        if crew.hasFewPollers { return crew.isShared ? nil : crew.pollBusily(until: end, look) }
        guard pool.isHolderAwaited else { return nil }
        let end = Instant(nanoseconds: now.nanoseconds &+ BusyPolling.yieldingLimitNanoseconds)
        return crew.pollYielding(until: end, now: now, look)
    }

    @inline(__always)
    private func look() -> Int { server.poller.look(words, atMost: crew.eventsAtOnce) }
}
