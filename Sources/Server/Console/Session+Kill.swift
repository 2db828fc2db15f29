import Journal
import Pool
import PostgresWire

/// KILL: one session ends now, whatever it does.
extension Session {
    /// Ends an idle or waiting one at once; one that is at work when its statement has heard of it, which this waits for.
    /// So a client that it kept waiting goes on when the answer comes.
    func kill(_ id: Int32) throws(WireError) -> Wait? {
        if consoleOutcome == nil {
            guard id != processID else {
                throw WireError(
                    state: .invalidParameterValue, message: "this session cannot kill itself", hint: "Disconnect instead.")
            }
            guard let victim = table.session(processID: id) else {
                throw WireError(
                    state: .undefinedObject, message: "there is no client \(id)", hint: "SHOW CLIENTS lists their ids.")
            }
            // Whose the line is: the administrator's, whom a search by user or process finds so.
            let introduction = victim.introduction
            let ofVictim = Self.identity(
                id, user: introduction?.user ?? "", application: introduction?.applicationName ?? "", introduction?.peer, prefix: "killed_")
            server.log.notice(.killed, "killed by an administrator", metadata: identity.merging(ofVictim) { $1 })
            victim.isKilled.store(true, ordering: .sequentiallyConsistent)
            if server.end(victim, on: worker) {
                complete("KILL")
                return nil
            }
        }
        return try runAside("KILL") { session throws(WireError) in try session.awaitEnd(of: id) }
    }

    private func awaitEnd(of id: Int32) throws(WireError) {
        try poll { table.session(processID: id).map { server.end($0, on: worker) } ?? true }
    }
}

extension Server {
    /// Ends a session nobody is at work for, with 57P01. False: somebody is.
    ///
    /// - Parameter caller: of the calling thread; nil: it is none of the crew, and nobody watches it.
    func end(_ session: Session, on caller: Worker?) -> Bool {
        guard table.own(slot: session.slot, generation: session.generation) != nil || pool.withdraw(session.clientID)
        else { return false }
        // What it frees is for others to run: this thread has its own to do.
        let worker = Worker(server: self, isOfCrew: false)
        // A notice may be on its way to it, by another thread.
        session.closeParking()
        session.worker = worker
        let terminate = { session.terminate(ErrorTranslation.wireError(.shutdown)) }
        if let caller { caller.atSocket(terminate) } else { SocketWait.interrupting(terminate) }
        worker.handOver()
        return true
    }
}
