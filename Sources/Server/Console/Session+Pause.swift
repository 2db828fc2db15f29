import CLinux
import Journal
import Pool
import PostgresWire
import Scheduling

/// PAUSE and RESUME, and what a session has to do with them.
extension Session {
    // MARK: Which transactions a pause waits for

    /// A block begins: whether before a pause, which then waits for its end. One that begins during a pause is answered,
    /// since BEGIN needs nothing, and its first statement waits.
    func beginsBeforePause() -> Bool {
        // The console's own blocks hold nobody up, or PAUSE would wait for the driver that sent it.
        guard !isConsole else { return false }
        // First said, then looked; `Pool.beginPause` and `clientsPauseWaitsFor` do it the other way round.
        blockPassesPause.store(true, ordering: .sequentiallyConsistent)
        guard pool.isPausingNow else { return true }
        blockPassesPause.store(false, ordering: .releasing)
        return false
    }

    /// After the transaction was replaced: others see what it is now.
    func notePassage() {
        blockPassesPause.store(state.transaction.isExplicit && state.transaction.passesPause, ordering: .releasing)
    }

    /// Also whoever has a reader or the writer, and so has begun.
    var passesPause: Bool {
        readerIndex != nil || writerMode != .none || hasWriterGrant || (state.transaction.isExplicit && state.transaction.passesPause)
    }

    var waitDeadlineWhilePaused: Instant { min(running.deadline, state.transaction.deadline) }

    /// lock_timeout begins: until now nobody had what it waited for, and it could do nothing about the wait.
    func pauseHasEnded(now: Instant) {
        guard running.lockDeadline < .distantFuture else { return }
        running.lockDeadline = now.advanced(byMilliseconds: lockWaitMilliseconds)
    }

    // MARK: The commands

    /// Holds new transactions back and waits for the others. An administrator who no longer wants to wait undoes it; once it is
    /// complete it stays, whatever becomes of this session.
    func pause(_ database: String?) throws(WireError) {
        try requireServed(database)
        try requireAccepting()
        guard pool.beginPause(by: clientID) else { throw alreadyPaused }
        server.log.notice(.paused, "paused: new transactions wait", metadata: identity)
        var hasTold = false
        do {
            // First said, then looked; `endPauseBesideDrain` does it the other way round.
            try requireAccepting()
            try poll { () throws(WireError) in
                let busy = server.clientsPauseWaitsFor
                if busy.isEmpty { try requireClient() }
                if try completePause(nobodyPasses: busy.isEmpty) { return true }
                if !hasTold, !busy.isEmpty {
                    hasTold = true
                    tell(
                        "waiting for transactions to end: client \(busy.map(String.init).joined(separator: ", "))",
                        hint: "SHOW CLIENTS says what they do; KILL ends one.")
                }
                return false
            }
        } catch {
            // Of a pause that RESUME has undone there is nothing left to end.
            resumeAll(pool.endPause(begunBy: clientID))
            throw error
        }
    }

    /// `poll` looks only now and then whether the client is there, and a pause that is complete stays: nobody would be told of it, or end it.
    private func requireClient() throws(WireError) {
        if walpool_is_hung_up(socket) != 0 { throw ErrorTranslation.wireError(.disconnected) }
    }

    /// Nobody else gets in any more, so RESUME might come from nobody.
    private func requireAccepting() throws(WireError) {
        guard server.stopping.hasStoppedAccepting.load(ordering: .sequentiallyConsistent) else { return }
        throw WireError(
            state: .objectNotInPrerequisiteState, message: "the daemon waits for its clients to leave, which a pause would keep")
    }

    /// A drain has just begun, and is not to be undone: a pause that began at the same moment would keep the clients.
    func endPauseBesideDrain() {
        if pool.pause != .none { resumeAll(pool.endPause()) }
    }

    private var alreadyPaused: WireError {
        guard case .beginning(let client) = pool.pause else {
            return WireError(state: .objectNotInPrerequisiteState, message: "the database is paused already", hint: "RESUME ends it.")
        }
        return WireError(
            state: .objectNotInPrerequisiteState,
            message: "it is not paused yet: the PAUSE of client \(client) waits for transactions to end", hint: "RESUME ends that.")
    }

    private func completePause(nobodyPasses: Bool) throws(WireError) -> Bool {
        // A stop ends what it waits for, and whoever asked for it would think that all is quiet.
        guard !server.stopping.hasBegun.load(ordering: .sequentiallyConsistent) else { throw ErrorTranslation.wireError(.shutdown) }
        guard let (isComplete, resumptions) = pool.completePause(by: clientID, nobodyPasses: nobodyPasses) else {
            throw WireError(state: .queryCanceled, message: "PAUSE was undone by RESUME")
        }
        for resumption in resumptions { server.ready.enqueue(resumption) }
        return isComplete
    }

    func resumeAll(_ database: String?) throws(WireError) {
        try requireServed(database)
        guard resumeAll(pool.endPause()) else {
            throw WireError(state: .objectNotInPrerequisiteState, message: "the database is not paused")
        }
    }

    @discardableResult
    private func resumeAll(_ resumptions: [Resumption]?) -> Bool {
        guard let resumptions else { return false }
        server.log.notice(.paused, "resumed", metadata: identity)
        for resumption in resumptions { server.ready.enqueue(resumption) }
        return true
    }

    /// PgBouncer's commands name a database, and here is one.
    private func requireServed(_ database: String?) throws(WireError) {
        guard let database, database != server.configuration.databaseName else { return }
        throw .noDatabase(database, served: server.configuration.databaseName)
    }
}

extension Server {
    /// In the order in which they came.
    fileprivate var clientsPauseWaitsFor: [ClientID] {
        var clients = Set(table.sessions.lazy.filter { $0.blockPassesPause.load(ordering: .sequentiallyConsistent) }.map(\.clientID))
        let view = pool.view
        clients.formUnion(view.readerUsers.map(\.client))
        if case .transaction(let holder, _, _) = view.holder { clients.insert(holder) }
        return clients.sorted()
    }
}
