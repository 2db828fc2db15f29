import POSIX
import SQLite
import Scheduling
import Synchronization

/// Readers: taken, waited for, and given back.
extension Pool {
    /// A number that changes when every snapshot lease shall begin anew: after a checkpoint that copied everything, so
    /// that readers use the file alone and the next commit can restart the WAL from its beginning.
    @inline(__always)
    package var leaseEpoch: Int { epoch.load(ordering: .relaxed) }

    /// What became of a request.
    package enum Request<Granted: Sendable>: Sendable {
        case granted(Granted)
        /// The client waits: a `Resumption` will come for it, perhaps on another thread before this call returns. The
        /// caller must not touch the client any more.
        case parked
        /// The client is to wait no longer already (it was cancelled), so it was not put into the queue.
        case stopped(StopReason)
    }

    /// A reader for this client, by its index, if one is free; nil: the client has to queue by `requestReader`.
    @inline(__always)
    package func takeReader(_ client: ClientID) -> Int? {
        state.withLock { state in
            guard let index = state.readerQueue.take() else { return nil }
            state.readerUsers[index] = client
            return index
        }
    }

    /// Asks for a reader, by its index.
    ///
    /// - Parameter onlyToPrepare: the reader is to prepare a statement and is given back at once, so the one that is kept
    ///   for that will do.
    package func requestReader(
        _ client: any PoolClient, onlyToPrepare: Bool = false, deadline: Instant
    ) -> Request<Int> {
        var look = Instant.distantFuture
        let request = state.withLock { state -> Request<Int> in
            if let index = state.readerQueue.take() {
                state.readerUsers[index] = client.clientID
                return .granted(index)
            }
            if state.pause != .none, let index = readerWhilePaused(client, onlyToPrepare, &state) { return .granted(index) }
            if onlyToPrepare, state.preparingQueue.take() != nil { return .granted(preparingIndex) }
            // Under the lock that `withdraw` takes: a cancel either finds the client in the queue or is seen here.
            let now = MonotonicClock.now
            if let reason = client.reasonToStopWaiting(now: now) { return .stopped(reason) }
            let (passes, deadline) = waitTerms(of: client, deadline, state)
            if onlyToPrepare {
                state.preparingQueue.enqueue(client.clientID, deadline: deadline, now: now, passesPause: passes)
            } else {
                state.readerQueue.enqueue(client.clientID, deadline: deadline, now: now, passesPause: passes)
                // With others before it, the first of them has announced one.
                if state.readerQueue.waitingCount == 1 { look = firstLook(state, now: now) }
            }
            state.parked[client.clientID] = client
            look = min(look, state.waitingLookIfNew(now: now))
            return .parked
        }
        if case .parked = request { announce(min(deadline, look)) }
        return request
    }

    /// Of the connection that only prepares.
    var preparingIndex: Int { limits.readers }

    /// The reader at an index one was granted, with the newest snapshot; opens it on first use.
    @inline(__always)
    package func reader(at index: Int) throws(SQLiteError) -> Reader {
        guard let reader = slots[index].reader else { return try openReader(index) }
        try reader.refreshSnapshot(epoch: leaseEpoch)
        return reader
    }

    func openReader(_ index: Int) throws(SQLiteError) -> Reader {
        let reader = try files.open { (whenOpened) throws(SQLiteError) in
            try Reader(
                index: index, path: path, settings: settings, limits: limits, gate: gate, age: slots[index].snapshot,
                schema: schema, counters: counters, whenOpened: whenOpened)
        }
        slots[index].reader = reader
        try reader.refreshSnapshot(epoch: leaseEpoch)
        return reader
    }

    /// Gives a reader back. Returns who gets it next, if somebody waits.
    @inline(__always)
    package func releaseReader(_ index: Int) -> Resumption? {
        let slot = slots[index]
        if let reader = slot.reader {
            // It was in use while a checkpoint copied everything: kept idle, its old snapshot would keep the WAL from
            // beginning anew.
            if reader.leaseEpoch != leaseEpoch { reader.endSnapshot() }
            if slot.mustTell.load(ordering: .relaxed) { tell(index) }
            if reader.connection.hasUnreadablePages { close(reader) }
        }
        return state.withLock { state in
            var next = index == preparingIndex ? state.preparingQueue.release(0) : state.readerQueue.release(index)
            if next == nil, index != preparingIndex, state.preparingQueue.waitingCount > 0 {
                next = state.readerQueue.lend(to: &state.preparingQueue)?.client
            }
            let blockersAreGone = !state.blockers.isEmpty && blockerIsBack(index, &state)
            guard let next, let client = state.parked.removeValue(forKey: next)
            else { return blockersAreGone ? checkpointIfDue(&state) : nil }
            state.readerUsers[index] = next
            return .reader(client, index)
        }
    }

    /// Clients that only prepare: those that were just granted the connection that is kept for it, and those that readers are free for.
    func grantedToPrepare(_ granted: [(client: ClientID, index: Int)], _ state: inout State) -> [(client: ClientID, index: Int)] {
        var all = granted.map { (client: $0.client, index: preparingIndex) }
        while let next = state.readerQueue.lend(to: &state.preparingQueue) { all.append(next) }
        return all
    }

    /// What those clients go on with who were just granted readers.
    func resumptions(ofReaders granted: [(client: ClientID, index: Int)], _ state: inout State) -> [Resumption] {
        granted.compactMap { client, index in
            state.readerUsers[index] = client
            return state.parked.removeValue(forKey: client).map { .reader($0, index) }
        }
    }

    /// Of a reader that has met pages it could not read: the next client gets a new connection.
    func close(_ reader: Reader) {
        tell(reader.index)
        reader.endSnapshot()
        slots[reader.index].reader = nil
    }
}
