import Locking
import Logging
import SQLite
import Scheduling
import Synchronization

/// One database file: the writer, the readers, and who may use them next.
///
/// Decisions are `Scheduling`'s; this class holds the lock around them and the connections they are about. Methods return what
/// is to be done, and the worker that called does it. While the lock is held nothing is called but those members of
/// `PoolClient` that only read or set its own deadlines and atomics (`reasonToStopWaiting`, `passesPause`, `waitDeadline`,
/// `waitDeadlineWhilePaused`, `pauseHasEnded`, `waitsWithSnapshot`): none takes a lock or makes a system call.
public final class Pool: Sendable {
    /// What the path it was told led to when it was opened: a symbolic link that is switched meanwhile leads to another database.
    public let path: String
    /// What it was opened with; of what `apply` has changed since, this says nothing.
    let limits: PoolLimits
    let changeable: ChangeableLimits
    let writerSlot: WriterSlot
    let gate = GateSignal()
    /// Which schema statements will meet, as far as that is known without a connection.
    public let schema = CommittedSchema()
    private let settings: ConnectionSettings
    let slots: [ReaderSlot]
    let state: Locked<State>
    let epoch = Atomic<Int>(0)
    /// See Pool+Pause: whether transactions that begin now are held back.
    let isPausing = Atomic<Bool>(false)
    let log: Logger
    /// What one page takes in the WAL.
    let frameBytes: Int
    private let deadlines: any DeadlineObserver
    /// Ends the process: the database cannot be served any more.
    let cannotGoOn: @Sendable (String) -> Void
    let maintenance: Maintenance
    /// The backups of this database: one runs at a time.
    public let backups: Backups
    let counters: PoolCounters
    /// Somebody wants to know what the writer's connection has counted; see Pool+Statistics.
    let writerMustTell = Atomic<Bool>(false)
    /// See Pool+WriterSnapshot.
    let writerSnapshotIsOld = Atomic<Bool>(false)
    let writerSnapshotEnds = Atomic<Int64>(.max)
    /// See Pool+Outsiders.
    let mustMakeWay = Atomic<Bool>(false)
    /// See `isHolderAwaited`.
    let holderIsAwaited = Atomic<Bool>(false)
    /// When the gathering of a group is over, in nanoseconds; 0: there is none.
    let gatheringUntil = Atomic<Int64>(0)
    /// See Pool+Files.
    let filesLook = Atomic<Int64>(0)
    let hasForeignEncoding = Atomic<Bool>(false)

    struct State {
        var writerQueue: WriterQueue
        var gathering = GroupGathering()
        var readerQueue: ReaderQueue
        /// One more read-only connection, only to prepare statements on when no reader is free: long readers may keep
        /// every reader, and a writer must still learn what its statement is. Never held for longer than that.
        var analystQueue = ReaderQueue(limit: 1)
        /// The clients that wait in either queue.
        var parked: [ClientID: any PoolClient] = [:]
        /// When it is looked which of them are still there; never while nobody waits.
        var waitingLook = Instant.distantFuture
        /// Jobs that wait for the writer or have it.
        var queuedJobs: Set<WriterJob> = []
        var policy: CheckpointPolicy
        /// The WAL as the last holder of the writer left it: all frames, and those in the database file too.
        var walFrames = (all: 0, copied: 0)
        /// Readers that were in use when a checkpoint could not finish: when the last of them is back, it is tried again.
        var blockers: Set<Int> = []
        /// Who was last granted each reader.
        var readerUsers: [ClientID]
        var checkpoints = CheckpointHistory()
        /// How often the writer was opened anew.
        var recoveries = 0
        var pause = PoolPause.none
        /// Since when the gate is closed while writers go on; see `readersHaveLeft`.
        var gateClosing: Instant?

        mutating func unpark(_ ids: [ClientID]) -> [any PoolClient] {
            ids.compactMap { parked.removeValue(forKey: $0) }
        }

        mutating func resumption(_ grant: WriterQueue.Grant?) -> Resumption? {
            switch grant {
            case .group(let ids): .group(ids.compactMap { parked.removeValue(forKey: $0)?.groupMember })
            case .transaction(let id): unpark([id]).first.map { .transaction($0) }
            case .job(let id): WriterJob(client: id).map { .job($0) }
            case nil: nil
            }
        }
    }

    /// Where a reader is kept while nobody has it checked out.
    ///
    /// `@unchecked Sendable`: only who was granted this index by the reader queue touches it.
    final class ReaderSlot: @unchecked Sendable {
        var reader: Reader?
        let snapshot = SnapshotAge()
        /// Since when its user waits for its client, in nanoseconds; 0: it does not.
        let idleSince = Atomic<Int64>(0)
        /// Somebody wants to know what this connection has counted; see Pool+Statistics.
        let mustTell = Atomic<Bool>(false)
    }

    /// The writer with what belongs to it.
    ///
    /// `@unchecked Sendable`: touched only by who holds the writer's lease, and replaced only by the recovery job, which
    /// holds it too. nil while that job has closed the old one, and when the pool is closed.
    final class WriterSlot: @unchecked Sendable {
        var writer: Writer?
        // Of every writer that is opened here, one after the other.
        let atWriter = ThreadAtWork()
        let atSync = ThreadAtWork()
        let files = ServedFiles()
    }

    var files: ServedFiles { writerSlot.files }

    /// The writer; only for whoever holds its lease. There is one except inside the recovery job, and until the pool is closed.
    public var writer: Writer { writerSlot.writer! }

    /// Who is at the writer, and at its sync when that is made beside it.
    var atWriter: ThreadAtWork { writerSlot.atWriter }
    var atSync: ThreadAtWork { writerSlot.atSync }

    /// Only for whoever holds the writer's lease.
    var pipelinedSync: PipelinedSync? { writer.pipelinedSync }

    /// Opens the writer, puts the database into WAL mode and checks that it is a database at all. Readers are opened
    /// when they are first needed.
    public init(
        path: String, settings: ConnectionSettings, limits: PoolLimits, deadlines: any DeadlineObserver, log: Logger,
        observer: (any StatementObserver)? = nil, cannotGoOn: @escaping @Sendable (String) -> Void
    ) throws(SQLiteError) {
        counters = PoolCounters(observer: observer)
        self.limits = limits
        changeable = ChangeableLimits(limits)
        self.deadlines = deadlines
        self.log = log
        self.cannotGoOn = cannotGoOn
        self.settings = settings
        writerSlot = WriterSlot()
        try Self.openWriter(into: writerSlot, path, settings, limits, changeable, schema, log, counters)
        self.path = writerSlot.writer!.places.path
        // What was lost while it was opened is not to wait for a commit.
        let wait = writerSlot.writer!.places.problem == nil ? PoolLimits.filesLookMilliseconds : 0
        let firstLook = MonotonicClock.now.advanced(byMilliseconds: wait)
        filesLook.store(firstLook.nanoseconds, ordering: .relaxed)
        frameBytes = writerSlot.writer!.pageBytes + WALFile.frameHeaderBytes
        maintenance = Maintenance(database: path, configuration: limits.maintenance, log: log)
        backups = Backups(database: self.path, files: writerSlot.files, settings: settings, log: log)
        slots = (0...limits.readers).map { _ in ReaderSlot() }
        state = Locked(
            State(
                writerQueue: WriterQueue(
                    groupLimit: limits.groupMembers, holderIdleLimitMilliseconds: limits.writerIdleMilliseconds),
                readerQueue: ReaderQueue(
                    limit: limits.readers, userIdleLimitMilliseconds: limits.writerIdleMilliseconds),
                policy: limits.checkpointPolicy(pageBytes: writerSlot.writer!.pageBytes),
                readerUsers: Array(repeating: 0, count: limits.readers + 1)))
        writerMakesWay()
    }

    private static func openWriter(
        into slot: WriterSlot, _ path: String, _ settings: ConnectionSettings, _ limits: PoolLimits,
        _ changeable: ChangeableLimits, _ schema: CommittedSchema, _ log: Logger, _ counters: PoolCounters,
        again left: DatabaseFiles? = nil, recoveries: Int = 0
    ) throws(SQLiteError) {
        if let holder = holderOfDeletedWAL(path) {
            throw SQLiteError(extendedCode: SQLiteError.Code.busy, message: deletedWAL(of: path, holder))
        }
        if let process = processWithLostFiles(path) { throw keepsLostFiles(process) }
        let isNew = try DatabaseFiles.isToBeMade(path)
        var settings = settings
        settings.synchronous = limits.durability == .full ? .full : .normal
        forgetCachedWAL(path, settings)
        let writer = try Writer(
            path: path, again: left, creates: isNew && left == nil, settings: settings, limits: limits, changeable: changeable,
            work: slot.atWriter, schema: schema, log: log, counters: counters)
        // It may have been deleted since it was asked for, and the one that is open be new.
        if let error = OutsiderLocks.holder(ofDeletedIndexOf: path).map(deletedIndex)
            ?? processWithAnotherIndex(writer.places).map(otherIndex)
        {
            writer.connection.keepWALWhenClosed()
            throw error
        }
        if let left, !writer.places.areOfSameDatabase(as: left) {
            writer.connection.keepWALWhenClosed()
            throw DatabaseFiles.replaced
        }
        slot.writer = writer
        slot.files.wereOpened(writer.files, writer.walIndex)
        writer.whenCheckpointed = { [files = slot.files] in files.wereCheckpointed($0) }
        if limits.durability == .pipelined { writer.leaveSyncs(toThreadsWith: slot.atSync, recoveries: recoveries) }
    }

    private static func deletedIndex(_ holder: String) -> SQLiteError {
        SQLiteError(
            extendedCode: SQLiteError.Code.busy,
            message: "\(holder) has the database open, but its -shm was deleted: end that process first")
    }

    private static func keepsLostFiles(_ process: Int32) -> SQLiteError {
        SQLiteError(
            extendedCode: SQLiteError.Code.busy,
            message: "\(processName(process)) has the database open, but its -wal or its -shm was deleted or moved away: "
                + "end that process first")
    }

    /// Who may only read the -shm, and opens the database while nobody else has it open, does without one and has no lock there.
    private static func otherIndex(_ process: Int32) -> SQLiteError {
        SQLiteError(
            extendedCode: SQLiteError.Code.busy,
            message: "\(processName(process)) has the database open, but not the -shm that is there, "
                + "which was deleted since or which it may only read: end that process first")
    }

    /// Never another database, which may have come there meanwhile: then this throws, and nothing of the old one is left beside it.
    ///
    /// - Parameter left: `filesToOpenAgain`, as long as the index told whose the -wal is.
    func openWriterAgain(_ left: DatabaseFiles) throws(SQLiteError) {
        let recoveries = state.withLock { $0.recoveries } + 1
        writer.connection.keepWALWhenClosed()
        files.areClosed()
        writerSlot.writer = nil
        do throws(SQLiteError) {
            Self.dropCachedWAL(of: left.path)
            schema.forget()
            try Self.openWriter(
                into: writerSlot, path, settings, limits, changeable, schema, log, counters, again: left, recoveries: recoveries)
            // One that has come while nobody had it open belongs to what comes next, and must not get frames of this one.
            guard !writer.places.hasFrames || writer.places.haveSameWAL(as: left) else {
                writer.connection.keepWALWhenClosed()
                throw DatabaseFiles.lost("another -wal has come beside it")
            }
            if try hasWrittenWALAnew(left) { return try openWriterAgain(filesToOpenAgain()) }
            guard !writer.places.haveLostWAL(since: left) else {
                writer.connection.keepWALWhenClosed()
                throw DatabaseFiles.lost(
                    "its -wal was deleted or emptied while nobody had it open, and what was committed there may be lost")
            }
        } catch {
            moveAway(left)
            throw error
        }
        writerMakesWay()
    }

    func announce(_ deadline: Instant) {
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

    /// A reader for this client, by its index, if one is free; nil: the client has to queue by `requestReader`.
    @inline(__always)
    public func takeReader(_ client: ClientID) -> Int? {
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
    public func requestReader(
        _ client: any PoolClient, onlyToPrepare: Bool = false, deadline: Instant
    ) -> Request<Int> {
        var look = Instant.distantFuture
        let request = state.withLock { state -> Request<Int> in
            if let index = state.readerQueue.take() {
                state.readerUsers[index] = client.clientID
                return .granted(index)
            }
            if state.pause != .none, let index = readerWhilePaused(client, onlyToPrepare, &state) { return .granted(index) }
            if onlyToPrepare, state.analystQueue.take() != nil { return .granted(analystIndex) }
            // Under the lock that `withdraw` takes: a cancel either finds the client in the queue or is seen here.
            let now = MonotonicClock.now
            if let reason = client.reasonToStopWaiting(now: now) { return .stopped(reason) }
            let (passes, deadline) = waitTerms(of: client, deadline, state)
            if onlyToPrepare {
                state.analystQueue.enqueue(client.clientID, deadline: deadline, now: now, passesPause: passes)
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

    var analystIndex: Int { limits.readers }

    /// Of a reader that has met pages it could not read: the next client gets a new connection.
    private func close(_ reader: Reader) {
        tell(reader.index)
        reader.endSnapshot()
        slots[reader.index].reader = nil
    }

    /// The reader at an index one was granted, with the newest snapshot; opens it on first use.
    @inline(__always)
    public func reader(at index: Int) throws(SQLiteError) -> Reader {
        guard let reader = slots[index].reader else { return try openReader(index) }
        try reader.refreshSnapshot(epoch: leaseEpoch)
        return reader
    }

    private func openReader(_ index: Int) throws(SQLiteError) -> Reader {
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
    public func releaseReader(_ index: Int) -> Resumption? {
        let slot = slots[index]
        if let reader = slot.reader {
            // It was in use while a checkpoint copied everything: kept idle, its old snapshot would keep the WAL from
            // beginning anew.
            if reader.leaseEpoch != leaseEpoch { reader.endSnapshot() }
            if slot.mustTell.load(ordering: .relaxed) { tell(index) }
            if reader.connection.hasUnreadablePages { close(reader) }
        }
        return state.withLock { state in
            var next = index == analystIndex ? state.analystQueue.release(0) : state.readerQueue.release(index)
            if next == nil, index != analystIndex, state.analystQueue.waitingCount > 0 {
                next = state.readerQueue.lend(to: &state.analystQueue)?.client
            }
            let blockersAreGone = !state.blockers.isEmpty && blockerIsBack(index, &state)
            guard let next, let client = state.parked.removeValue(forKey: next)
            else { return blockersAreGone ? checkpointIfDue(&state) : nil }
            state.readerUsers[index] = next
            return .reader(client, index)
        }
    }
}
