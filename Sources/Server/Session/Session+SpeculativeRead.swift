import Scheduling

/// The reply to a commit, and a look for the client's next request right after it: see `SpeculativeReads`.
extension Session {
    /// Whether its thread may look: it has nothing else to do first, nobody else to answer or to sync for, asks epoll now and then
    /// (`EventBatch.hasRoom`), and all of what the client sent is answered.
    func readsSpeculatively(_ worker: Worker) -> Bool {
        guard worker.hasBlocked, !worker.isAnswering, worker.takesEventsOn, arming.interest == .stream, case .ready = phase, !isCopyingIn,
            state.inputPosition == input.count
        else { return false }
        return worker.speculativeReads.begin()
    }

    /// Until the thread comes to it again, the session is in its batch, as one that it was told of (`Due.event`). Whoever
    /// lets go of it has its socket announced again, and with that what has come by then.
    func replyAndReadSpeculatively(_ worker: Worker) {
        if !arming.isUnannounced {
            arming.isUnannounced = true
            arming.isNeeded = true
            table.waitUntilArmed(self)
            try? server.poller.arm(socket, .nothing, token: token)
        }
        guard flush() else { return close() }
        // The kernel mostly wakes the client on this thread's core, where it cannot run before this one gives it up.
        if worker.batch.pending == 0, worker.replies.pending == 0 { worker.crew.yieldOnce() }
        if running.slow != nil { logSlowStatement() }
        guard out.count == 0 else { return letGo() }
        due = .event
        self.worker = nil
        worker.takeOn(Poller.Event(owned: token))
    }

    /// The thread has looked, if that is why the socket was read.
    @inline(__always)
    func noteSpeculativeRead(inVain: Bool) {
        if arming.isUnannounced { worker?.speculativeReads.ended(inVain: inVain) }
    }
}
