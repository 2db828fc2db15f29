import Logging
import SQLite
import Scheduling
import Synchronization

/// One database file: the writer, the readers, and who may use them next.
///
/// Decisions are `Scheduling`'s; this class holds the lock around them and the connections they are about. While the lock
/// is held nothing is called but `reasonToStopWaiting`, which only looks: methods return what is to be done, and the
/// worker that called does it.
public final class Pool: Sendable {
    public let path: String
    public let limits: PoolLimits
    public let writer: Writer
    private let readerSettings: ConnectionSettings
    private let slots: [ReaderSlot]
    private let state: Locked<State>
    private let epoch = Atomic<Int>(0)
    private let log: Logger
    private let deadlines: any DeadlineObserver
    private let pipelinedSync: PipelinedSync?

    private struct State {
        var writerQueue: WriterQueue
        var readerQueue: ReaderQueue
        /// One more read-only connection, only to prepare statements on when no reader is free: long readers may keep
        /// every reader, and a writer must still learn what its statement is. Never held for longer than that.
        var analystQueue = ReaderQueue(limit: 1)
        /// The clients that wait in either queue.
        var parked: [ClientID: any PoolClient] = [:]
        var isCheckpointQueued = false
        /// Unfinished frames when the last checkpoint ended: it is tried again once there are that many more.
        var framesLeftBehind = 0

        mutating func unpark(_ ids: [ClientID]) -> [any PoolClient] {
            ids.compactMap { parked.removeValue(forKey: $0) }
        }

        mutating func resumption(_ grant: WriterQueue.Grant?) -> Resumption? {
            switch grant {
            case .group(let ids): .group(unpark(ids))
            case .transaction(let id): unpark([id]).first.map { .transaction($0) }
            case .job: .checkpoint
            case nil: nil
            }
        }
    }

    /// Where a reader is kept while nobody has it checked out.
    ///
    /// `@unchecked Sendable`: only who was granted this index by the reader queue touches it.
    private final class ReaderSlot: @unchecked Sendable {
        var reader: Reader?
    }

    /// The client number of the pool's own jobs; sessions count from 1.
    private static let jobClient: ClientID = 0

    /// Opens the writer, puts the database into WAL mode and checks that it is a database at all. Readers are opened
    /// when they are first needed.
    public init(
        path: String, settings: ConnectionSettings, limits: PoolLimits, deadlines: any DeadlineObserver, log: Logger
    ) throws(SQLiteError) {
        self.path = path
        self.limits = limits
        self.deadlines = deadlines
        self.log = log
        readerSettings = settings
        var writerSettings = settings
        writerSettings.synchronous = limits.durability == .full ? .full : .normal
        writer = try Writer(path: path, settings: writerSettings, limits: limits, log: log)
        pipelinedSync =
            limits.durability == .pipelined ? writer.connection.walFile().map(PipelinedSync.init(file:)) : nil
        slots = (0...limits.readers).map { _ in ReaderSlot() }
        state = Locked(
            State(
                writerQueue: WriterQueue(
                    groupLimit: limits.groupMembers, holderIdleLimitMilliseconds: limits.writerIdleMilliseconds),
                readerQueue: ReaderQueue(limit: limits.readers)))
    }

    private func announce(_ deadline: Instant) {
        if deadline < .distantFuture { deadlines.announce(deadline) }
    }
}

// MARK: Reading

extension Pool {
    /// A number that changes when every snapshot lease shall begin anew: after a checkpoint that copied everything, so
    /// that readers use the file alone and the next commit can restart the WAL from its beginning.
    @inline(__always)
    public var leaseEpoch: Int { epoch.load(ordering: .relaxed) }

    /// What became of a request.
    public enum Request<Granted: Sendable>: Sendable {
        case granted(Granted)
        /// The client waits: a `Resumption` will come for it, perhaps on another thread before this call returns. The
        /// caller must not touch the client any more.
        case parked
        /// The client is to wait no longer already (it was cancelled), so it was not put into the queue.
        case stopped(StopReason)
    }

    /// Asks for a reader, by its index.
    ///
    /// - Parameter onlyToPrepare: the reader is given back at once, so one kept for that will do.
    @inline(__always)
    public func requestReader(
        _ client: any PoolClient, onlyToPrepare: Bool = false, deadline: Instant
    ) -> Request<Int> {
        let request = state.withLock { state -> Request<Int> in
            if let index = state.readerQueue.take() { return .granted(index) }
            if onlyToPrepare, state.analystQueue.take() != nil { return .granted(analystIndex) }
            // Under the lock that `withdraw` takes: a cancel either finds the client in the queue or is seen here.
            if let reason = client.reasonToStopWaiting(now: MonotonicClock.now) { return .stopped(reason) }
            if onlyToPrepare {
                state.analystQueue.enqueue(client.clientID, deadline: deadline)
            } else {
                state.readerQueue.enqueue(client.clientID, deadline: deadline)
            }
            state.parked[client.clientID] = client
            return .parked
        }
        if case .parked = request { announce(deadline) }
        return request
    }

    private var analystIndex: Int { limits.readers }

    /// The reader at an index one was granted, with the newest snapshot; opens it on first use.
    @inline(__always)
    public func reader(at index: Int) throws(SQLiteError) -> Reader {
        guard let reader = slots[index].reader else { return try openReader(index) }
        try reader.refreshSnapshot(epoch: leaseEpoch)
        return reader
    }

    private func openReader(_ index: Int) throws(SQLiteError) -> Reader {
        let reader = try Reader(index: index, path: path, settings: readerSettings, limits: limits)
        slots[index].reader = reader
        try reader.refreshSnapshot(epoch: leaseEpoch)
        return reader
    }

    /// Gives a reader back. Returns who gets it next, if somebody waits.
    @inline(__always)
    public func releaseReader(_ index: Int) -> Resumption? {
        // It was in use while a checkpoint copied everything: kept idle, its old snapshot would keep the WAL from
        // beginning anew.
        if let reader = slots[index].reader, reader.leaseEpoch != leaseEpoch { reader.endSnapshot() }
        return state.withLock { state in
            let next =
                index == analystIndex ? state.analystQueue.release(0) : state.readerQueue.release(index)
            guard let next, let client = state.parked.removeValue(forKey: next)
            else { return nil }
            return .reader(client, index)
        }
    }
}

// MARK: Writing

extension Pool {
    /// Asks for the writer.
    public func requestWriter(
        _ client: any PoolClient, _ purpose: WriterQueue.Purpose, deadline: Instant
    ) -> Request<Void> {
        let now = MonotonicClock.now
        let (request, due) = state.withLock { state -> (Request<Void>, Instant) in
            if let reason = client.reasonToStopWaiting(now: now) { return (.stopped(reason), .distantFuture) }
            if state.writerQueue.request(client.clientID, purpose, now: now, deadline: deadline) != nil {
                return (.granted(()), .distantFuture)
            }
            state.parked[client.clientID] = client
            return (.parked, state.writerQueue.nextDeadline)
        }
        announce(due)
        return request
    }

    /// The holder is done. Returns who gets the writer next, if somebody waits.
    public func releaseWriter() -> Resumption? {
        let now = MonotonicClock.now
        return state.withLock { state in
            queueCheckpointIfNeeded(&state, now: now)
            return state.resumption(state.writerQueue.release(now: now))
        }
    }

    /// Runs a granted group and commits it. The replies may be sent when this returns, and the writer released.
    ///
    /// - Parameter answer: called for a member that waits no longer for another process while the others still do. From
    ///   then on the group does not touch it.
    public func commitGroup(
        _ clients: [any PoolClient], answer: ((any GroupMember) -> Void)? = nil
    ) -> [any GroupMember] {
        let members = clients.compactMap { $0 as? any GroupMember }
        let result = GroupCommit(writer: writer, limitMilliseconds: limits.groupMilliseconds, answer: answer)
            .run(members)
        if !result.postponed.isEmpty {
            let now = MonotonicClock.now
            state.withLock { state in
                for member in result.postponed { state.parked[member.clientID] = member }
                state.writerQueue.returnToFront(
                    result.postponed.map { ($0.clientID, $0.waitDeadline) }, now: now)
            }
        }
        return result.finished
    }

    /// A commit has been made and is not on the disk yet: its number, for `waitUntilDurable`. Nil when there is nothing
    /// to wait for. Call it before the writer is released.
    public func commitToSync() -> Int? { pipelinedSync?.didCommit() }

    /// Returns once that commit is on the disk; the calling thread should have said that it will be long.
    public func waitUntilDurable(_ commit: Int) throws(SQLiteError) { try pipelinedSync?.waitUntilDurable(commit) }

    public func holderBecameIdle(_ client: any PoolClient) {
        let now = MonotonicClock.now
        let due = state.withLock { state in
            state.writerQueue.holderBecameIdle(client.clientID, now: now)
            return state.writerQueue.nextDeadline
        }
        announce(due)
    }

    public func holderBecameActive(_ client: any PoolClient) {
        state.withLock { $0.writerQueue.holderBecameActive(client.clientID) }
    }

    /// Whether the client has the writer and waits for its own next message.
    public func isIdleHolder(_ client: ClientID) -> Bool {
        guard case .transaction(client, _, .some) = state.withLock({ $0.writerQueue.holder }) else { return false }
        return true
    }

    /// A waiting client's place in the writer's queue and who has the writer, for the notice it is sent.
    public func queuePlace(of client: ClientID) -> (place: Int, holder: WriterQueue.Holder)? {
        state.withLock { state in
            state.writerQueue.place(of: client).map { ($0.place, state.writerQueue.holder) }
        }
    }
}

// MARK: Waiting no longer

extension Pool {
    /// Takes a client out of the queues. False: it waits in none, or has just been granted what it waited for.
    ///
    /// - Parameter onlyIfStopped: only when what it waits for now is what is to be stopped. A cancel may come so late
    ///   that the next statement waits already.
    public func withdraw(_ client: ClientID, onlyIfStopped: Bool = false) -> Bool {
        let now = MonotonicClock.now
        return state.withLock { state in
            if onlyIfStopped, state.parked[client]?.reasonToStopWaiting(now: now) == nil { return false }
            let wasWaiting =
                state.writerQueue.withdraw(client) || state.readerQueue.withdraw(client)
                || state.analystQueue.withdraw(client)
            if wasWaiting { state.parked[client] = nil }
            return wasWaiting
        }
    }

    public struct Due {
        /// Taken out of a queue because their time is over.
        public var expired: [any PoolClient]
        /// Holds the writer, is idle, and keeps somebody waiting beyond the limit.
        public var toEvict: ClientID?
        public var next: Instant
    }

    /// What is due at `now`; called when the earliest announced deadline has come.
    public func takeDue(now: Instant) -> Due {
        state.withLock { state in
            let ids =
                state.writerQueue.withdrawExpired(now: now) + state.readerQueue.withdrawExpired(now: now)
                + state.analystQueue.withdrawExpired(now: now)
            return Due(
                expired: state.unpark(ids), toEvict: state.writerQueue.holderToEvict(now: now),
                next: min(
                    state.writerQueue.nextDeadline,
                    min(state.readerQueue.nextDeadline, state.analystQueue.nextDeadline)))
        }
    }

    public struct Load: Sendable {
        public var waitingWriters: Int
        public var waitingReaders: Int
        public var holder: WriterQueue.Holder
    }

    public var load: Load {
        state.withLock {
            Load(
                waitingWriters: $0.writerQueue.waitingCount, waitingReaders: $0.readerQueue.waitingCount,
                holder: $0.writerQueue.holder)
        }
    }
}

// MARK: Checkpoints

extension Pool {
    /// Puts a checkpoint into the writer's queue once the WAL is large enough: it runs when its turn comes, after the
    /// replies of the commits before it went out.
    private func queueCheckpointIfNeeded(_ state: inout State, now: Instant) {
        guard !state.isCheckpointQueued,
            writer.framesToCheckpoint >= limits.checkpointFrames + state.framesLeftBehind
        else { return }
        state.isCheckpointQueued = true
        // The caller holds the writer, so this request always waits in the queue.
        _ = state.writerQueue.request(Self.jobClient, .job, now: now)
    }

    /// Runs the checkpoint that was granted the writer. Release the writer afterwards.
    ///
    /// Returns who gets a reader that this borrowed for a moment.
    public func checkpoint() -> [Resumption] {
        var resumptions = endIdleSnapshots()
        do {
            let result = try writer.connection.checkpoint(.passive)
            if result.isComplete {
                epoch.wrappingAdd(1, ordering: .relaxed)
                // Those that were used and released meanwhile.
                resumptions += endIdleSnapshots()
            }
            let left = max(0, result.frames - result.copiedFrames)
            state.withLock {
                $0.isCheckpointQueued = false
                $0.framesLeftBehind = left
            }
            log.debug("checkpoint", metadata: ["frames": "\(result.frames)", "copied": "\(result.copiedFrames)"])
        } catch {
            state.withLock { $0.isCheckpointQueued = false }
            log.error("checkpoint failed", metadata: ["code": "\(error.extendedCode)", "error": "\(error.message)"])
        }
        return resumptions
    }

    /// Idle readers must not hold a checkpoint up with the snapshots they keep.
    private func endIdleSnapshots() -> [Resumption] {
        let indexes = state.withLock { state in
            state.readerQueue.takeIdle() + state.analystQueue.takeIdle().map { _ in analystIndex }
        }
        for index in indexes { slots[index].reader?.endSnapshot() }
        return indexes.compactMap { releaseReader($0) }
    }

    /// Closes everything: readers before the writer, so that the last to close is one that can checkpoint.
    ///
    /// Call it when no client is left.
    public func close() {
        for slot in slots { slot.reader = nil }
        writer.forgetStatements()
        do {
            let result = try writer.connection.checkpoint(.truncate)
            log.debug("last checkpoint", metadata: ["frames": "\(result.frames)", "busy": "\(result.isBusy)"])
        } catch {
            log.error("last checkpoint failed", metadata: ["error": "\(error.message)"])
        }
    }
}
