import Scheduling

/// Whether new transactions are held back.
package enum PoolPause: Equatable, Sendable {
    case none
    /// The client that asked for it waits for the transactions that have begun.
    case beginning(ClientID)
    /// Nobody has a connection.
    case complete(since: Instant)
}

extension Pool.State {
    /// Nobody has a connection.
    fileprivate var isQuiet: Bool {
        writerQueue.holder == .nobody && writerQueue.gathering == nil && readerQueue.inUseCount == 0 && preparingQueue.inUseCount == 0
    }
}

/// A pause: an administrator wants nobody to use the database for a while, and nobody to be refused.
///
/// Transactions that have begun go on to their end, new ones wait where they would wait for a connection (see
/// WriterQueue+Pause). The clients notice nothing but the time it takes: `statement_timeout` counts, as it does for every
/// wait; `lock_timeout` does not, since no lock is waited for, and begins when the pause is over.
extension Pool {
    /// How far a pause is. Takes the lock; `isPausingNow` does not.
    package var pause: PoolPause { state.withLock { $0.pause } }

    /// Whether a transaction that begins now is held back. Asked after the client has said that it passes, if it does
    /// not: the other side says that it pauses and then looks who passes, so that one of the two sees the other.
    package var isPausingNow: Bool { isPausing.load(ordering: .sequentiallyConsistent) }

    /// Holds new transactions back from now on. False: that is so already.
    package func beginPause(by client: ClientID) -> Bool {
        let now = MonotonicClock.now
        // The holder of the writer may be idle only for so long while somebody waits for it.
        var due = Instant.distantFuture
        defer { announce(due) }
        return state.withLock { state in
            guard state.pause == .none else { return false }
            state.pause = .beginning(client)
            isPausing.store(true, ordering: .sequentiallyConsistent)
            state.writerQueue.pause(now: now)
            state.readerQueue.pause()
            state.preparingQueue.pause()
            changeDeadlinesOfHeldBack(&state) { $0.waitDeadlineWhilePaused }
            due = state.writerQueue.nextDeadline
            return true
        }
    }

    /// Whether the pause that this client began has nobody left to wait for. nil: it is not its pause any more.
    ///
    /// - Parameter nobodyPasses: no client has a transaction that began before. Look before you call.
    package func completePause(by client: ClientID, nobodyPasses: Bool) -> (isComplete: Bool, resumptions: [Resumption])? {
        let now = MonotonicClock.now
        // The writer is opened anew only by who has it. Nobody gets it any more, so what was committed by then is all there is to sync.
        let (wasQuiet, sync) = state.withLock { $0.isQuiet ? (true, writer.pipelinedSync) : (false, nil) }
        let isSynced = wasQuiet && sync?.hasNothingToSync ?? true
        let isComplete = state.withLock { state -> Bool? in
            guard state.pause == .beginning(client) else { return nil }
            guard nobodyPasses, isSynced, state.isQuiet else { return false }
            state.pause = .complete(since: now)
            return true
        }
        guard let isComplete else { return nil }
        guard isComplete else { return (false, []) }
        // What idle connections keep of the past would be in the way of whoever works on the file now.
        return (true, endIdleSnapshots(ownsGate: false) + (endWriterSnapshot().map { [$0] } ?? []))
    }

    /// Ends the pause. Returns who goes on, in order; nil: there is none, or not one that this client began.
    package func endPause(begunBy client: ClientID? = nil) -> [Resumption]? {
        let now = MonotonicClock.now
        var due = Instant.distantFuture
        let resumptions = state.withLock { state -> [Resumption]? in
            guard state.pause != .none, client.map({ state.pause == .beginning($0) }) ?? true else { return nil }
            state.pause = .none
            isPausing.store(false, ordering: .sequentiallyConsistent)
            changeDeadlinesOfHeldBack(&state) { client in
                client.pauseHasEnded(now: now)
                return client.waitDeadline
            }
            var resumptions: [Resumption] = []
            if let next = state.resumption(state.writerQueue.resume(now: now)) { resumptions.append(next) }
            let granted = state.readerQueue.resume()
            resumptions += self.resumptions(ofReaders: granted + grantedToPrepare(state.preparingQueue.resume(), &state), &state)
            due = min(
                state.writerQueue.nextDeadline, min(state.readerQueue.nextDeadline, state.preparingQueue.nextDeadline))
            return resumptions
        }
        announce(due)
        return resumptions
    }

    private func changeDeadlinesOfHeldBack(_ state: inout State, _ deadline: (any PoolClient) -> Instant) {
        let parked = state.parked
        let change = { (id: ClientID) in parked[id].map(deadline) ?? .distantFuture }
        state.writerQueue.changeDeadlinesOfHeldBack(change)
        state.readerQueue.changeDeadlinesOfHeldBack(change)
        state.preparingQueue.changeDeadlinesOfHeldBack(change)
    }

    /// On which terms a client that asks for a connection waits for it.
    func waitTerms(
        of client: any PoolClient, _ deadline: Instant, _ state: borrowing State
    ) -> (passes: Bool, deadline: Instant) {
        let passes = client.passesPause
        return (passes, state.pause != .none && !passes ? client.waitDeadlineWhilePaused : deadline)
    }

    /// A free reader for a client that passes.
    func readerWhilePaused(_ client: any PoolClient, _ onlyToPrepare: Bool, _ state: inout State) -> Int? {
        guard client.passesPause else { return nil }
        if let index = state.readerQueue.takePassing() {
            state.readerUsers[index] = client.clientID
            return index
        }
        return onlyToPrepare && state.preparingQueue.takePassing() != nil ? preparingIndex : nil
    }
}
