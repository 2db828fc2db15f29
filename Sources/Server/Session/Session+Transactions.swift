import Pool
import PostgresWire
import SQLite
import Scheduling

/// Transactions: PostgreSQL's blocks on SQLite's means.
///
/// READ COMMITTED (the default) pins nothing before its first write: each SELECT is its own read on any reader. The
/// first write takes the writer with BEGIN IMMEDIATE, and from there on every statement runs on the writer.
/// REPEATABLE READ, SERIALIZABLE, READ ONLY and SQLite's BEGIN DEFERRED keep one snapshot on one reader; a write is
/// possible as long as nobody else has written since.
extension Session {
    /// A failed block takes nothing but its end.
    @inline(__always)
    func requireUsableTransaction(for query: Query) throws(WireError) {
        guard state.transaction.hasFailed else { return }
        switch query.kind {
        case .transaction(.commit), .transaction(.rollback), .transaction(.rollbackTo): return
        default:
            throw WireError(
                state: .inFailedSQLTransaction,
                message: "current transaction is aborted, commands ignored until end of transaction block")
        }
    }

    func run(_ statement: TransactionStatement, tag: StaticString) throws(WireError) -> Wait? {
        switch statement {
        case .begin(let modes, let behavior):
            if let wait = try beginBlock(modes, behavior) { return wait }
            complete(tag)
        case .commit(let chain):
            commitMark = out.end
            let ended = state.transaction
            if chain { try requireBlock("COMMIT AND CHAIN") }
            if state.transaction.hasFailed {
                rollbackBlock()
                complete("ROLLBACK")
            } else {
                try commitBlock()
                complete("COMMIT")
            }
            if chain { try chainBlock(after: ended) }
        case .rollback(let chain):
            let ended = state.transaction
            if chain { try requireBlock("ROLLBACK AND CHAIN") }
            if !state.transaction.isExplicit { warnNoTransaction() }
            rollbackBlock()
            complete("ROLLBACK")
            if chain { try chainBlock(after: ended) }
        case .savepoint(let name):
            try savepoint(name)
            complete("SAVEPOINT")
        case .release(let name):
            try release(name)
            complete("RELEASE")
        case .rollbackTo(let name):
            try rollback(to: name)
            complete("ROLLBACK")
        case .twoPhase:
            throw WireError(state: .featureNotSupported, message: "two-phase commit is not supported")
        }
        return nil
    }

    func complete(_ tag: StaticString) {
        // A commit's error takes the place of its tag, not the one of what comes after it.
        if !memberHasEnded || writerMode != .group { commitMark = out.end }
        out.commandComplete(tag)
    }

    // MARK: Blocks

    private func beginBlock(_ modes: TransactionModes, _ behavior: TransactionBehavior?) throws(WireError) -> Wait? {
        guard !state.transaction.isExplicit else {
            out.notice(
                WireError(
                    severity: .warning, state: .activeSQLTransaction,
                    message: "there is already a transaction in progress"))
            try setTransaction(modes)
            return nil
        }
        if modes.readOnly == false { try requireWriterRole(to: "set the transaction's mode to read-write") }
        let isReadOnly = modes.readOnly ?? state.settings.defaultReadOnly
        if behavior == .immediate || behavior == .exclusive {
            if isReadOnly {
                throw WireError(
                    state: .readOnlySQLTransaction, message: "a read-only transaction cannot take the writer")
            }
            if let wait = try acquireWriter() { return wait }
        }
        var transaction = Transaction()
        transaction.isExplicit = true
        countTransactionBeginning()
        transaction.isReadOnly = isReadOnly
        transaction.isolation = modes.isolation ?? state.settings.defaultIsolation
        transaction.pinsSnapshot =
            writerMode == .none
            && (isReadOnly || behavior == .deferred || transaction.isolation == .repeatableRead
                || transaction.isolation == .serializable)
        transaction.settingsAtBegin = state.settings
        transaction.settingsToKeep = state.settings
        if state.settings.transactionTimeoutMilliseconds > 0 {
            transaction.deadline =
                MonotonicClock.now.advanced(byMilliseconds: state.settings.transactionTimeoutMilliseconds)
        }
        transaction.passesPause = beginsBeforePause()
        state.transaction = transaction
        return nil
    }

    private func commitBlock() throws(WireError) {
        guard state.transaction.isExplicit else {
            warnNoTransaction()
            closePortals()
            return try commitWork()
        }
        closePortals()
        do { try commitWork() } catch {
            endBlock(settings: state.transaction.settingsAtBegin)
            throw error
        }
        endBlock(settings: state.transaction.settingsToKeep)
    }

    private func rollbackBlock() {
        closePortals()
        undo()
        endBlock(settings: state.transaction.settingsAtBegin)
    }

    /// - Parameter settings: those that hold from here on.
    private func endBlock(settings: Settings?) {
        if let settings { goBack(to: settings) }
        state.transaction = Transaction()
        notePassage()
        releaseReaderIfUnused()
    }

    /// These settings hold again, and the client hears of those that PostgreSQL reports.
    func goBack(to settings: Settings) {
        // Nearly always nothing was set. Equal is not the same, though: text may be composed in two ways.
        guard settings != state.settings else { return state.settings = settings }
        let before = Settings.reported.map { state.settings.value($0) }
        state.settings = settings
        for (name, value) in zip(Settings.reported, before) where state.settings.value(name) != value { report(name) }
    }

    /// AND CHAIN: "a new transaction is immediately started with the same transaction characteristics".
    /// https://www.postgresql.org/docs/current/sql-commit.html
    private func chainBlock(after ended: Transaction) throws(WireError) {
        var modes = TransactionModes()
        modes.isolation = ended.isolation
        modes.readOnly = ended.isReadOnly
        _ = try beginBlock(modes, nil)
    }

    private func warnNoTransaction() {
        out.notice(
            WireError(
                severity: .warning, state: .noActiveSQLTransaction, message: "there is no transaction in progress"))
    }

    // MARK: The writer

    /// Sees to it that the session may write; nil when it may.
    func acquireWriter() throws(WireError) -> Wait? {
        if writerMode != .none { return nil }
        try requireWriterRole(to: "take the writer")
        if hasWriterGrant {
            hasWriterGrant = false
            try beginLease()
            return nil
        }
        if let loss = state.transaction.snapshotLoss { throw snapshotError(loss) }
        if state.transaction.pinsSnapshot, let reader, !reader.isNewest { throw Self.snapshotError }
        if !state.transaction.pinsSnapshot { releaseReaderIfUnused() }
        let shape = segmentShape()
        isSingleStatement = shape == .single
        // One that runs again must not meet a portal that stands in the middle of its rows.
        let isMember = shape != .partial && !state.transaction.pinsSnapshot && portalsOnReader == 0
        if let wait = waitUntilRepliesAreSent() { return wait }
        beginWait()
        countRequest()
        let now = MonotonicClock.now
        openParking(now: now)
        if let readerIndex { parkedSnapshotBegan.store(pool.snapshotBegan(readerIndex)?.nanoseconds ?? 1, ordering: .relaxed) }
        switch pool.requestWriter(self, isMember ? .member : .transaction, deadline: waitDeadline, now: now) {
        case .parked:
            return .parked
        case .stopped(let reason):
            closeParking()
            throw ErrorTranslation.wireError(reason)
        case .granted:
            closeParking()
            parkedSince = 0
        }
        if isMember { return .group }
        try beginLease()
        return nil
    }

    /// The writer is granted to this session alone, until its transaction ends.
    private func beginLease() throws(WireError) {
        // For another process; with what it has waited in the queue, unless a wait for a reader came between.
        beginWait()
        do { try pool.writer.begin(self) } catch {
            let reason = pool.writer.wasStopped(by: error) ? pool.writer.stopReason : nil
            releaseWriter()
            throw reason.map { ErrorTranslation.wireError($0) } ?? ErrorTranslation.wireError(error)
        }
        endWait()
        beginWriterTime()
        writerMode = .lease
        if state.transaction.pinsSnapshot {
            // Between the request and the lock others may have written. Now nobody can.
            guard reader?.isNewest ?? true else {
                pool.writer.rollback()
                releaseWriter()
                throw Self.snapshotError
            }
            releaseReaderIfUnused()
        }
        try establishSavepoints()
    }

    private static let snapshotError = WireError(
        state: .serializationFailure, message: "could not serialize access due to concurrent update",
        detail: "Another transaction wrote since this one's snapshot began.",
        hint: "Run the transaction again; READ COMMITTED or BEGIN IMMEDIATE does not meet this.")

    func releaseWriter() {
        writerMode = .none
        writerDeadline = .distantFuture
        isIdleHolder = false
        if let next = pool.releaseWriter() { enqueue(next) }
    }

    /// Commits what the session has written, as the end of its transaction: a block, or a statement by itself.
    func commitWork() throws(WireError) {
        switch writerMode {
        case .none:
            return
        case .lease:
            worker?.willBlock(isAlone: pool.syncsWithinCommit)
            do { try pool.writer.commit() } catch {
                worker?.isBackFromDisk()
                pool.writer.rollback()
                releaseWriter()
                throw commitError(error)
            }
            worker?.isBackFromDisk()
            let commit = pool.commitToSync()
            releaseWriter()
            guard let commit else { return }
            try answerWhenDurable(commit)
            counters?.setMark(MonotonicClock.now)
        case .group:
            try endMember()
        }
    }

    /// With synchronous = pipelined others write meanwhile. Where the reply is complete with this commit, or with the Sync
    /// behind it, the session is parked until then; otherwise its thread waits.
    private func answerWhenDurable(_ commit: UnsyncedCommit) throws(WireError) {
        guard isLastOfItsReply else { return try waitUntilDurable(commit) }
        // What has been sent cannot be taken back: an error comes behind it.
        if commitMark < out.start { commitMark = out.end }
        unsynced = (commit, state.transaction.settingsAtBegin)
        isUnsynced = true
        isInCommit = true
    }

    /// Nothing but ReadyForQuery follows what is being handled.
    private var isLastOfItsReply: Bool {
        guard !isCopyingIn else { return false }
        if let query = state.query { return query.next >= query.statements.count - 1 }
        guard
            case .message(let type, _, let next) = FrameDecoder.next(
                in: input.bytes, at: state.inputPosition, maximumBodyLength: SessionLimits.messageBytes)
        else { return false }
        if type == UInt8(ascii: "S") { return true }
        guard
            type == UInt8(ascii: "E"),
            case .message(UInt8(ascii: "S"), _, _) = FrameDecoder.next(
                in: input.bytes, at: next, maximumBodyLength: SessionLimits.messageBytes)
        else { return false }
        return true
    }

    private func waitUntilDurable(_ commit: UnsyncedCommit) throws(WireError) {
        worker?.willBeLong()
        do { try commit.waitUntilDurable() } catch {
            if let recovery = pool.syncFailed(commit) { enqueue(recovery) }
            throw commitError(error)
        }
    }

    func commitError(_ error: SQLiteError) -> WireError {
        guard error.isInputOutput else { return ErrorTranslation.wireError(error) }
        var unknown = ErrorTranslation.wireError(error)
        unknown.state = .transactionResolutionUnknown
        // Why is in the message: a failed sync, or a file that was found to be lost.
        unknown.hint = "Whether the commit took place is unknown: look before you send it again."
        return unknown
    }

    /// Undoes what the session has written in this transaction, if anything.
    func undo() {
        switch writerMode {
        case .none: break
        case .lease:
            pool.writer.rollback()
            releaseWriter()
        case .group:
            undoMember()
        }
    }

    /// A statement has failed. An implicit transaction is over; a block waits for its ROLLBACK, and keeps the writer
    /// only if ROLLBACK TO could still save something of it.
    func failTransaction() {
        if hasWriterGrant {
            hasWriterGrant = false
            releaseWriter()
        }
        guard state.transaction.isExplicit else { return undo() }
        state.transaction.hasFailed = true
        let wasEndedBySQLite = writerMode != .none && pool.writer.connection.isAutocommit
        if state.transaction.savepoints.isEmpty || wasEndedBySQLite || writerMode == .group {
            state.transaction.savepoints = []
            // Nothing may stand on the writer when it is given back.
            closePortals()
            undo()
            state.transaction.pinsSnapshot = false
            releaseReaderIfUnused()
        }
    }

    /// The session ends.
    func abandonTransaction() {
        closePortals()
        if hasWriterGrant {
            hasWriterGrant = false
            releaseWriter()
        }
        undo()
        state.transaction = Transaction()
        notePassage()
        releaseReader()
    }
}
