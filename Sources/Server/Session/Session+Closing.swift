import Glibc
import Pool
import PostgresWire
import Scheduling

/// How a session ends.
extension Session {
    /// Ends the session with a last word.
    func terminate(_ error: WireError) {
        closeParking()
        let error = state.copyIn?.explained(error) ?? error
        noteError(error)
        countError(error)
        if case .ready = phase { out.error(error) }
        _ = flush()
        close()
    }

    /// Ends the session once its client has taken what it is owed: that it sent Terminate or nonsense behind its queries
    /// is no reason to keep their replies from it.
    func closeWhenRead() {
        guard flush(), out.count > 0 else { return close() }
        phase = .leaving
        endIdling()
        abandonTransaction()
        endStatement()
        input.drop(input.count)
        input.releaseMemory(above: 0)
        state.inputPosition = 0
        arming.interest = .writable
        noteUnread()
        armDeadline(.clientWrite, afterMilliseconds: state.settings.clientWriteTimeoutMilliseconds)
        disownAndArm()
    }

    /// Rolls back, gives everything back, closes the socket.
    func close() {
        if case .closed = phase { return }
        // Of a statement whose client has gone.
        measureFailed(.connectionFailure)
        phase = .closed
        forgetCopyIn()
        countEnd()
        logSlowStatement(withPlan: false)
        noteDisconnected()
        disarmDeadline()
        // What is rolled back now is no client's to wait for.
        endIdling()
        abandonTransaction()
        endStatement()
        leave()
        table.waitUntilArmed(self)
        server.poller.remove(socket)
        atSocket { _ = Glibc.close(socket) }
        table.remove(self)
        if isHTTPOnly { server.metricsConnections.subtract(1, ordering: .relaxed) }
        server.sessionEnded()
        // What it kept under names may have been much, and is the allocator's now.
        server.muchMayBeFree(MonotonicClock.now)
    }
}
