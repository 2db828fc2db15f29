import Logging
import POSIX
import SQLite
import Scheduling
import Synchronization

/// One database file: the writer, the readers, and who may use them next.
///
/// Decisions are `Scheduling`'s; this class holds the lock around them and the connections they are about. Methods return what
/// is to be done, and the worker that called does it. While the lock is held nothing is called but those members of
/// `PoolClient` that only read or set its own deadlines and atomics (`reasonToStopWaiting`, `passesPause`, `waitDeadline`,
/// `waitDeadlineWhilePaused`, `pauseHasEnded`, `waitsWithSnapshot`): none takes a lock or makes a system call.
package final class Pool: Sendable {
    /// What the path it was told led to when it was opened: a symbolic link that is switched meanwhile leads to another database.
    package let path: String
    /// What it was opened with; of what `apply` has changed since, this says nothing.
    let limits: PoolLimits
    let changeable: ChangeableLimits
    let writerSlot: WriterSlot
    let gate = GateSignal()
    /// Which schema statements will meet, as far as that is known without a connection.
    package let schema = CommittedSchema()
    let settings: ConnectionSettings
    let slots: [ReaderSlot]
    let state: Locked<State>
    let epoch = Atomic<Int>(0)
    /// See Pool+Pause: whether transactions that begin now are held back.
    let isPausing = Atomic<Bool>(false)
    let log: Logger
    /// What one page takes in the WAL.
    let frameBytes: Int
    private let deadlines: any DeadlineObserver
    /// Sees to who gets a reader in the middle of a job.
    let resume: @Sendable ([Resumption]) -> Void
    /// Ends the process: the database cannot be served any more.
    let cannotGoOn: @Sendable (String) -> Void
    let maintenance: Maintenance
    /// The backups of this database: one runs at a time.
    package let backups: Backups
    let counters: PoolCounters
    /// Somebody wants to know what the writer's connection has counted; see Pool+Statistics.
    let writerMustTell = Atomic<Bool>(false)
    /// See Pool+WriterSnapshot.
    let writerSnapshotIsOld = Atomic<Bool>(false)
    let writerSnapshotEnds = Atomic<Int64>(.max)
    /// See Pool+Outsiders.
    let mustMakeWay = Atomic<Bool>(false)
    /// See `beginsWaitBesideWriter`.
    let hasWaiterBesideWriter = Atomic<Bool>(false)
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
        var preparingQueue = ReaderQueue(limit: 1)
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
        /// Since when the gate is closed while writers go on; see `drainReaders`.
        var gateClosing: Instant?
        /// Who has the writer has said that it will take long.
        var isHolderLong = false

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
        /// For as long as this process may have the database open.
        var lock: DatabaseLock?

        deinit {
            // In this order: closing the lock's descriptor drops all locks that SQLite has on the file.
            writer = nil
            lock = nil
        }
    }

    var files: ServedFiles { writerSlot.files }

    /// The writer; only for whoever holds its lease. There is one except inside the recovery job, and until the pool is closed.
    package var writer: Writer { writerSlot.writer! }

    /// Who is at the writer, and at its sync when that is made beside it.
    var atWriter: ThreadAtWork { writerSlot.atWriter }
    var atSync: ThreadAtWork { writerSlot.atSync }

    /// Only for whoever holds the writer's lease.
    var pipelinedSync: PipelinedSync? { writer.pipelinedSync }

    /// Opens the writer, puts the database into WAL mode and checks that it is a database at all. Readers are opened
    /// when they are first needed.
    package init(
        path: String, settings: ConnectionSettings, limits: PoolLimits, deadlines: any DeadlineObserver, log: Logger,
        observer: (any StatementObserver)? = nil, resume: @escaping @Sendable ([Resumption]) -> Void,
        cannotGoOn: @escaping @Sendable (String) -> Void
    ) throws(SQLiteError) {
        counters = PoolCounters(observer: observer)
        self.limits = limits
        changeable = ChangeableLimits(limits)
        self.deadlines = deadlines
        self.log = log
        self.resume = resume
        self.cannotGoOn = cannotGoOn
        self.settings = settings
        writerSlot = WriterSlot()
        let isNew = DatabaseFiles.holdsNothing(path)
        writerSlot.lock = try DatabaseLock.take(path, log)
        try Self.openWriter(into: writerSlot, path, settings, limits, changeable, schema, log, counters)
        try writerSlot.lockOpened(log)
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
        lookForWALsLeftAside()
        if isNew { tellOfNewDatabase() }
    }

    func announce(_ deadline: Instant) {
        if deadline < .distantFuture { deadlines.announce(deadline) }
    }
}
