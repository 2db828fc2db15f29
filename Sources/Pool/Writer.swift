import Logging
import SQLite
import Scheduling

/// The one read-write connection. It alone writes and it alone checkpoints, which is what keeps SQLite's WAL-reset bug
/// out of reach (see `Connection.checkpoint`).
///
/// `@unchecked Sendable`: see `PooledConnection`.
package final class Writer: PooledConnection, @unchecked Sendable {
    private let beginStatement: Statement
    private let commitStatement: Statement
    private let rollbackStatement: Statement
    /// Keeps the read transaction between two commits; see `takeWriteLock`.
    let pin: Statement
    private(set) var keepsSnapshot = false
    let memberSavepoint: MemberSavepoint
    let walIndex: WALIndex?
    /// As the index was when `hasCommittedAnew` was asked last.
    private var knownHeader = WALIndex.Header()
    let log: Logger
    private let work: ThreadAtWork
    private(set) var files: OpenFiles
    private var room: WALRoom?
    let changeable: ChangeableLimits
    let schema: CommittedSchema
    let pageBytes: Int
    /// What the last commit took, its sync included.
    private(set) var lastCommitNanoseconds: Int64 = 0
    /// There was none, since then, where nothing was left to commit.
    private(set) var endedWithoutCommit = false
    /// An I/O error: what SQLite has in memory and what is on the disk may differ, so this connection writes no more. "…
    /// fsync failures … mark dirty pages clean" (https://www.usenix.org/conference/atc20/presentation/rebello).
    var failure: SQLiteError? { firstFailure ?? (connection.hasLostChecks ? .outOfMemory : nil) }
    private var firstFailure: SQLiteError?
    /// Since `cutLongWAL` was called last something had no room.
    var isDiskFull = false
    /// With synchronous = pipelined. Set when the connection has been opened.
    private(set) var pipelinedSync: PipelinedSync?
    /// See Writer+Conflicts. A version that was rolled back may come again with another schema.
    var failInSchema: (version: String, isThere: Bool)?
    /// It waits for the pool's own readers, which needs no line in the log.
    var isCheckpointing = false
    /// What is known of its schema's; only for its holder.
    package var schemaSize = SchemaSize()
    /// Called after each checkpoint with what is known of the files.
    var whenCheckpointed: (OpenFiles) -> Void = { _ in }
    /// Another process keeps the write lock, and may itself wait for readers: see Pool+Outsiders.
    var makeWay: () -> Void = {}
    var memberRun = MemberRun()
    /// How often another process was in the way, for the log.
    var outsiderWaits = 0

    init(
        path: String, again left: DatabaseFiles?, creates: Bool, settings: ConnectionSettings, limits: PoolLimits,
        changeable: ChangeableLimits, work: ThreadAtWork,
        schema: CommittedSchema, log: Logger, counters: PoolCounters = PoolCounters()
    ) throws(SQLiteError) {
        self.work = work
        self.changeable = changeable
        self.schema = schema
        self.log = log
        let connection = try Connection(path: path, mode: .readWrite, settings: settings, creates: creates) {
            (connection) throws(SQLiteError) in
            // What is closed half opened may be a file that has just come beside the -wal of another.
            connection.keepWALWhenClosed()
            if let left, left.databaseInPlace == nil || connection.hasMoved { throw DatabaseFiles.replaced }
        }
        try Self.establishWAL(connection)
        beginStatement = try connection.prepareInternal("BEGIN IMMEDIATE")
        commitStatement = try connection.prepareInternal("COMMIT")
        rollbackStatement = try connection.prepareInternal("ROLLBACK")
        // It touches a single page, keeps no cursor, and always has a row to stand on.
        pin = try connection.prepareInternal("PRAGMA schema_version")
        memberSavepoint = try MemberSavepoint(connection)
        walIndex = connection.walIndex()
        files = OpenFiles(of: connection, walIndex: walIndex)
        pageBytes = Int(try connection.firstText("PRAGMA page_size") ?? "") ?? 4096
        // Where no commit waits for the disk there is nothing to gain.
        if limits.durability != .normal, let file = connection.walFile() {
            room = WALRoom(file: file, pageBytes: pageBytes)
        }
        try connection.gatherCommitFrames()
        super.init(connection: connection, limits: limits, counters: counters)
        connection.sleepLimitMilliseconds = limits.writerIdleMilliseconds
        // It lives in the connection this object owns, so it must not retain it.
        connection.callbacks.onBusy = { [unowned(unsafe) self] in self.waitForOutsider(attempt: $0) }
        connection.keepWALWhenClosed(false)
    }

    func run(_ statement: Statement) throws(SQLiteError) {
        defer { statement.reset() }
        do { _ = try statement.step() } catch {
            note(error)
            throw error
        }
    }

    /// A statement failed on this connection.
    package func note(_ error: SQLiteError) {
        if error.isInputOutput, firstFailure == nil { firstFailure = error }
        if error.code == SQLiteError.Code.full { isDiskFull = true }
    }

    /// With synchronous = pipelined: from now on commits are not on the disk when they are made.
    func leaveSyncs(toThreadsWith work: ThreadAtWork, recoveries: Int) {
        guard let file = connection.walFile() else { return }
        pipelinedSync = PipelinedSync(file: file, files: files.handOver(), work: work, recoveries: recoveries)
    }

    var places: DatabaseFiles { files.places }

    /// What is known of them by now. With synchronous = pipelined, who syncs looks after them.
    var knownFiles: OpenFiles { pipelinedSync?.knownFiles ?? files }

    /// Takes the write lock. Only another process can be in the way, and then the busy handler waits for as long as
    /// `owner` lets it; `stopReason` says why it gave up.
    package func begin(_ owner: any StatementOwner) throws(SQLiteError) {
        work.begins()
        beginRun(owner)
        defer {
            endRun()
            counters.outsiderWaitHasEnded()
        }
        try lookAtDatabaseBeforeFirstCommit()
        do { try takeWriteLock() } catch {
            // SQLite asks the progress handler once more when a statement has done everything, and then calls it
            // interrupted: the lock may have been taken. What gives it back is nobody's to stop.
            endRun()
            rollback()
            throw error
        }
        if failure == nil, let walIndex { room?.make(behind: walIndex.frames, upTo: changeable.softFrames(pageBytes: pageBytes)) }
    }

    /// All that is in the -wal was copied, so it is begun anew, which looks to a commit as if somebody had checkpointed; and what was
    /// written over the database before may pass for that.
    private func lookAtDatabaseBeforeFirstCommit() throws(SQLiteError) {
        guard failure == nil, let walIndex, walIndex.frames == walIndex.backfilledFrames, let problem = files.problemOfDatabase else {
            return
        }
        firstFailure = problem
        throw problem
    }

    /// Each transaction would begin with a read transaction of its own: four of its six file locks are for that, and they cost
    /// some 5 µs. So a statement that stands on its row keeps the read transaction over the commit, as a SELECT may that runs
    /// while its connection commits. What it sees is then what was just committed, and BEGIN IMMEDIATE only takes the write
    /// lock, or says that another process has written since: "SQLITE_BUSY_SNAPSHOT … occurs on WAL mode databases when a database
    /// connection tries to promote a read transaction into a write transaction but finds that another database connection has
    /// already written to the database" (https://www.sqlite.org/rescode.html#busy_snapshot).
    private func takeWriteLock() throws(SQLiteError) {
        if keepsSnapshot {
            do { return try run(beginStatement) } catch let error where connection.isAutocommit && stopReason == nil && !error.isInputOutput
            {
                // SQLite asks no busy handler while it keeps a snapshot, and may keep an error too.
                endSnapshot()
            }
        }
        try run(beginStatement)
        _ = try pin.step()
        keepsSnapshot = true
        let before = schemaVersion
        do { try noteSchema() } catch {
            note(error)
            endSnapshot()
            throw error
        }
        // Another process has defined something.
        if schemaVersion != before { schemaSize.forget() }
    }

    /// What needs the connection to itself (definitions, PRAGMAs, VACUUM, checkpoints) comes after this. May be called inside a
    /// transaction, which then ends with its commit.
    package func endSnapshot() {
        guard keepsSnapshot else { return }
        keepsSnapshot = false
        pin.reset()
    }

    /// Commits; when it returns, the commit is where it will be found again. With synchronous = pipelined that is so when it has been
    /// synced: see `PipelinedSync`.
    package func commit() throws(SQLiteError) {
        if let failure { throw failure }
        let began = MonotonicClock.now
        do {
            try connection.commitAtOnce { () throws(SQLiteError) in try run(commitStatement) }
        } catch {
            note(error)
            if error.isFull { try settleCommitWithoutRoom() }
            throw error
        }
        if seesDraft {
            announceSchema()
            schemaSize.settle()
        }
        let now = MonotonicClock.now
        lastCommitNanoseconds = now.nanoseconds &- began.nanoseconds
        endedWithoutCommit = false
        counters.commits.observe(nanoseconds: lastCommitNanoseconds)
        // With synchronous = pipelined, who syncs looks after the files.
        guard pipelinedSync == nil, let problem = files.problem(now: now) else { return }
        firstFailure = problem
        throw problem
    }

    /// A checkpoint, which is what may make the file shorter; how long it is afterwards is remembered.
    func checkpoint(_ mode: Connection.CheckpointMode) throws(SQLiteError) -> Connection.Checkpoint {
        endSnapshot()
        cutLongWAL(.checkpoint)
        do { return try copy(mode) } catch {
            note(error)
            guard error.isFull, cutLongWAL(.checkpointWithoutRoom) else { throw error }
        }
        return try copy(mode)
    }

    private func copy(_ mode: Connection.CheckpointMode) throws(SQLiteError) -> Connection.Checkpoint {
        files.willBeCheckpointed()
        let result: Connection.Checkpoint
        if let pipelinedSync {
            result = try pipelinedSync.exclusively { () throws(SQLiteError) in try connection.checkpoint(mode) }
        } else {
            if let problem = files.problemOfCopying { throw problem }
            result = try connection.checkpoint(mode)
        }
        files.wereCheckpointed()
        // Nothing is to be acknowledged now; if something is wrong, the next commit will find it.
        _ = files.problem()
        whenCheckpointed(files)
        return result
    }

    /// Ends the transaction, if SQLite has not done so already. It may have done so because the disk is full, and then it keeps that
    /// error, and the write lock, until nothing on this connection reads.
    package func rollback() {
        failInSchema = nil
        if seesDraft { schemaSize.forget() }
        endSnapshot()
        endTransaction()
        cutLongWAL(.rollback)
    }

    /// Where ROLLBACK fails, SQLite has mostly rolled back by itself, and there is nothing left to do. But a definition has SQLite prepare it
    /// anew, and of a client's memory there may be none left for that.
    func endTransaction() {
        guard !connection.isAutocommit else { return }
        try? run(rollbackStatement)
        guard !connection.isAutocommit else { return }
        SQLiteLibrary.beginOwnWork()
        defer { SQLiteLibrary.beginWork() }
        try? run(rollbackStatement)
        // Recovery closes the connection, and with it the transaction.
        if !connection.isAutocommit, firstFailure == nil { firstFailure = .outOfMemory }
    }

    /// Nothing is waited for, and nothing written.
    func withWriteLock<Result>(_ work: () -> Result) throws(SQLiteError) -> Result {
        try unasked { () throws(SQLiteError) in try run(beginStatement) }
        defer { endTransaction() }
        return work()
    }

    /// The file has been made shorter.
    func forgetRoom() { room?.isCut() }

    /// Ends a group's transaction that nothing was left of.
    func endWithoutCommit() {
        rollback()
        endedWithoutCommit = true
    }

    override func hasStepped() { counters.outsiderWaitHasEnded() }

    override func reasonOfOthers(now: Instant) -> StopReason? { stopsMember(now: now) ? .groupTimeLimit : nil }

    /// Whether anything was committed since this was asked before, which every commit with frames shows: a transaction may have changed
    /// nothing, and a group may have been undone. Only for whoever has the writer.
    func hasCommittedAnew() -> Bool {
        guard let walIndex else { return true }
        guard !walIndex.matches(knownHeader) else { return false }
        knownHeader = walIndex.copyHeader()
        return true
    }

    /// Frames in the WAL, and how many of them are in the database file too.
    var walFrames: (all: Int, copied: Int) {
        guard let walIndex else { return (0, 0) }
        return (walIndex.frames, walIndex.backfilledFrames)
    }
}
