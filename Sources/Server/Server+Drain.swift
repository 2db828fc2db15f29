import Glibc
import Journal
import Logging
import Pool
import Scheduling
import Synchronization

/// SHUTDOWN WAIT_FOR_CLIENTS: nobody gets in any more, and the daemon stops when the last client has left.
extension Server {
    /// Says what the console's SHUTDOWN does; it returns at once, and `stop` is called soon after.
    package func onShutdown(_ request: @escaping @Sendable () -> Void) { stopping.request.withLock { $0 = request } }

    /// Once, however often it is called: at the beginning of a drain or of a stop.
    func stopAccepting() {
        guard !stopping.hasStoppedAccepting.exchange(true, ordering: .sequentiallyConsistent) else { return }
        for listener in allListeners {
            poller.remove(listener.descriptor)
            listener.stop()
        }
    }

    /// Clients of the database. Neither do the console's keep a daemon alive, nor for long connections that have not started.
    var clientCount: Int { table.sessions.count { $0.introduction?.isConsole == false } }

    /// - Parameter giver: who has it drained, for the log.
    func drain(_ giver: Logger.Metadata = [:]) {
        let end = MonotonicClock.now.advanced(byMilliseconds: ServerLimits.drainStartingMilliseconds)
        stopping.startingEnd.store(end.nanoseconds, ordering: .sequentiallyConsistent)
        stopping.isDraining.store(true, ordering: .sequentiallyConsistent)
        stopAccepting()
        log.notice(
            .stopping, "draining: the daemon stops when its last client has left",
            metadata: giver.merging(["clients": "\(clientCount)"]) { $1 })
        deadlines.announce(end)
        sessionEnded()
    }

    /// False: nobody has said how.
    @discardableResult
    func requestShutdown() -> Bool {
        guard let request = stopping.request.withLock({ $0 }) else { return false }
        request()
        return true
    }

    /// A session is gone, or has turned out to be none to wait for. Only one of those that notice that it was the last asks for the stop.
    func sessionEnded() { lookAtDrain(now: MonotonicClock.now) }

    /// Returns when to look again, of which nothing else tells.
    @discardableResult
    func lookAtDrain(now: Instant) -> Instant {
        while stopping.isDraining.load(ordering: .sequentiallyConsistent), !stopping.hasBegun.load(ordering: .relaxed) {
            guard hasDrained(now: now) else {
                let end = Instant(nanoseconds: stopping.startingEnd.load(ordering: .relaxed))
                return end > now ? end : .distantFuture
            }
            // First said, then looked once more: who starts does it the other way round (`requireService`).
            guard stopping.isDraining.exchange(false, ordering: .sequentiallyConsistent) else { break }
            if hasDrained(now: now) {
                requestShutdown()
                break
            }
            stopping.isDraining.store(true, ordering: .sequentiallyConsistent)
        }
        return .distantFuture
    }

    /// Nobody is left to wait for, and nobody comes.
    private func hasDrained(now: Instant) -> Bool {
        // First that no thread accepts, then who is there: what it has accepted is in the table before it says that it is done.
        guard stopping.accepting.load(ordering: .sequentiallyConsistent) == 0 else { return false }
        let mayStart = now.nanoseconds < stopping.startingEnd.load(ordering: .relaxed)
        return !table.sessions.contains { session in session.introduction.map { !$0.isConsole } ?? mayStart }
    }

    /// - Parameter body: accepts connections, unless nobody is to get in any more.
    func accepting(_ body: () -> Void) {
        // First said, then looked; `hasDrained` comes after `stopAccepting`.
        stopping.accepting.add(1, ordering: .sequentiallyConsistent)
        if !stopping.hasStoppedAccepting.load(ordering: .sequentiallyConsistent) { body() }
        stopping.accepting.subtract(1, ordering: .sequentiallyConsistent)
        // A drain may have waited for this thread alone.
        if stopping.isDraining.load(ordering: .sequentiallyConsistent) { sessionEnded() }
    }

    /// Whether a session that others see by now would be ended at once.
    var isAboutToStop: Bool {
        if stopping.hasBegun.load(ordering: .sequentiallyConsistent) { return true }
        return stopping.hasStoppedAccepting.load(ordering: .sequentiallyConsistent)
            && !stopping.isDraining.load(ordering: .sequentiallyConsistent)
    }
}
