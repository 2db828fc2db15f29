import Pool
import PostgresWire
import SQLite
import Scheduling

/// The writer: how a session gets it, commits with it, and gives it back.
extension Session {
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
        if state.transaction.pinsSnapshot, let reader, !reader.isNewest { throw Self.concurrentUpdate }
        if !state.transaction.pinsSnapshot { releaseReaderIfUnused() }
        let shape = segmentShape()
        member.isSingleStatement = shape == .single
        // One that runs again must not meet a portal that stands in the middle of its rows.
        let isMember = shape != .partial && !state.transaction.pinsSnapshot && portalsOnReader == 0
        if let wait = waitUntilRepliesAreSent() { return wait }
        beginWait()
        countRequest()
        let now = MonotonicClock.now
        openParking(now: now)
        if let readerIndex { parked.snapshotBegan.store(pool.snapshotBegan(readerIndex)?.nanoseconds ?? 1, ordering: .relaxed) }
        switch pool.requestWriter(self, isMember ? .member : .transaction, deadline: waitDeadline, now: now) {
        case .parked:
            return .parked
        case .stopped(let reason):
            closeParking()
            throw waitError(reason)
        case .granted:
            closeParking()
            accounting.parkedSince = 0
        }
        if isMember { return .group }
        try beginLease()
        return nil
    }

    /// The writer is granted to this session alone, until its transaction ends.
    func beginLease() throws(WireError) {
        // For another process; with what it has waited in the queue, unless a wait for a reader came between.
        beginWait()
        do { try pool.writer.begin(self) } catch {
            let reason = pool.writer.wasStopped(by: error) ? pool.writer.stopReason : nil
            releaseWriter()
            throw reason.map(waitError) ?? ErrorTranslation.wireError(error)
        }
        endWait()
        beginWriterTime()
        writerMode = .lease
        if state.transaction.pinsSnapshot {
            // Between the request and the lock others may have written. Now nobody can.
            guard reader?.isNewest ?? true else {
                pool.writer.rollback()
                releaseWriter()
                throw Self.concurrentUpdate
            }
            releaseReaderIfUnused()
        }
        try establishSavepoints()
    }

    /// Why it was not waited for any longer; NOWAIT has words of its own.
    func waitError(_ reason: StopReason) -> WireError {
        var error = ErrorTranslation.wireError(reason)
        if reason == .lockTimeout, running.isImpatient { error.message = "could not obtain the writer, which is not free" }
        return error
    }

    static let concurrentUpdate = WireError(
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
            do { try requireOpenTransaction() } catch {
                undo()
                throw error
            }
            worker?.willBlock(isAlone: pool.syncsWithinCommit)
            do { try pool.writer.commit() } catch {
                worker?.isBackFromDisk()
                pool.writer.rollback()
                releaseWriter()
                throw commitError(error)
            }
            worker?.isBackFromDisk()
            guard let commit = pool.commitToSync() else { return releaseWriter() }
            try leave(commit)
            counters?.setMark(MonotonicClock.now)
        case .group:
            try endMember()
        }
    }

    /// With synchronous = pipelined others may write while this commit goes to the disk. If nothing but ReadyForQuery follows, the session
    /// is parked until then; otherwise its thread waits. Only one thread may wait without the writer. Any other keeps the writer
    /// meanwhile, as with `full`, so that such commits never take all threads.
    private func leave(_ commit: UnsyncedCommit) throws(WireError) {
        guard !isLastOfItsReply else {
            releaseWriter()
            return answerWhenDurable(commit)
        }
        let isBesideWriter = pool.beginsWaitBesideWriter()
        if isBesideWriter { releaseWriter() }
        defer { if isBesideWriter { pool.endsWaitBesideWriter() } else { releaseWriter() } }
        try waitUntilDurable(commit)
    }

    /// SQLite ends a transaction over an I/O error also where it only reads, as who looked at the statement has: what is done now would be
    /// committed by itself, and the rest of the transaction is no more. So this is asked behind what prepares, before what runs; SAVEPOINT
    /// would begin another transaction.
    @inline(__always)
    func requireOpenTransaction() throws(WireError) {
        if pool.writer.connection.isAutocommit { throw lostTransaction() }
    }

    /// - Parameter lease: what is to run, given back if it may not.
    @inline(__always)
    func requireOpenTransaction(for lease: PreparedLease) throws(WireError) {
        guard pool.writer.connection.isAutocommit else { return }
        pool.writer.giveBack(lease)
        throw lostTransaction()
    }

    @inline(never)
    private func lostTransaction() -> WireError {
        let error = SQLiteError(
            extendedCode: SQLiteError.Code.inputOutput, message: "SQLite has rolled the transaction back after an error of the disk")
        // Nothing is tried again on this connection.
        pool.writer.note(SQLiteError(extendedCode: SQLiteError.Code.readFailed, message: error.message))
        return ErrorTranslation.wireError(error)
    }

    private func answerWhenDurable(_ commit: UnsyncedCommit) {
        // What has been sent cannot be taken back: an error comes behind it.
        if marks.commit < out.start { marks.commit = out.end }
        unsynced = (commit, state.transaction.settings.before)
        isUnsynced = true
        member.isInCommit = true
        // It may be so of the group that the session was in last.
        member.leavesNothing = false
    }

    /// Nothing but ReadyForQuery follows what is being handled.
    var isLastOfItsReply: Bool {
        guard !isCopyingIn else { return false }
        if let query = state.query { return query.next >= query.statements.count - 1 }
        guard case .message(let type, _, let next) = frame(at: state.inputPosition) else { return false }
        if type == .sync { return true }
        guard type == .execute, case .message(.sync, _, _) = frame(at: next) else { return false }
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
}
