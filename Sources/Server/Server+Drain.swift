import Glibc
import Journal
import Logging
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

    /// Clients of the database. Neither do the console's keep a daemon alive, nor connections that have not started: whoever says nothing,
    /// or asks for metrics.
    var clientCount: Int { table.sessions.count { $0.introduction?.isConsole == false } }

    func drain() {
        stopping.isDraining.store(true, ordering: .sequentiallyConsistent)
        stopAccepting()
        log.notice(.stopping, "draining: the daemon stops when its last client has left", metadata: ["clients": "\(clientCount)"])
        sessionEnded()
    }

    /// False: nobody has said how.
    @discardableResult
    func requestShutdown() -> Bool {
        guard let request = stopping.request.withLock({ $0 }) else { return false }
        request()
        return true
    }

    /// A session is gone. Only one of those that notice that it was the last asks for the stop.
    func sessionEnded() {
        guard stopping.isDraining.load(ordering: .sequentiallyConsistent), !stopping.hasBegun.load(ordering: .relaxed), clientCount == 0,
            stopping.isDraining.exchange(false, ordering: .sequentiallyConsistent)
        else { return }
        requestShutdown()
    }
}
