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
            throw .inFailedTransaction
        }
    }

    func run(_ statement: TransactionStatement, tag: StaticString) throws(WireError) -> Wait? {
        switch statement {
        case .begin(let modes, let behavior):
            if modes.readOnly == false { try requireWriterRole(to: "set the transaction's mode to read-write") }
            if let wait = try beginBlock(modes, behavior) { return wait }
            complete(tag)
        case .commit(let chain):
            marks.commit = out.end
            let ended = state.transaction
            if chain { try requireBlock("COMMIT AND CHAIN") }
            if let wait = try keepForCommit() { return wait }
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
        noteReplyToCommit()
        out.commandComplete(tag)
    }

    // MARK: Blocks

    func beginBlock(_ modes: TransactionModes, _ behavior: TransactionBehavior?) throws(WireError) -> Wait? {
        guard !state.transaction.isExplicit else {
            out.notice(
                WireError(
                    severity: .warning, state: .activeSQLTransaction,
                    message: "there is already a transaction in progress"))
            try setTransaction(modes)
            return nil
        }
        // The block takes in what of its message or pipeline comes before it.
        let isReadOnly = modes.readOnly ?? self.isReadOnly
        if behavior == .immediate || behavior == .exclusive {
            if isReadOnly {
                throw WireError(
                    state: .readOnlySQLTransaction, message: "a read-only transaction cannot take the writer")
            }
            if let wait = try acquireWriter() { return wait }
        }
        var transaction = Transaction()
        transaction.block = .open
        countTransactionBeginning()
        transaction.isReadOnly = isReadOnly
        transaction.isolation = modes.isolation ?? isolation
        transaction.isDeferred = behavior == .deferred
        transaction.pinsSnapshot = transaction.wantsSnapshot && writerMode == .none
        transaction.settings = state.transaction.settings
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
            try commitAndClosePortals()
            endModesOfMessage()
            return keepSettings()
        }
        do { try commitAndClosePortals() } catch {
            closePortals()
            takeSettingsBack()
            endBlock()
            throw error
        }
        keepSettings()
        endBlock()
    }

    /// What COMMIT may have to wait for. Where that fails, the transaction is over as with any COMMIT that fails.
    private func keepForCommit() throws(WireError) -> Wait? {
        guard !state.portals.isEmpty, !state.transaction.hasFailed else { return nil }
        if state.transaction.isExplicit { state.transaction.block = .committing }
        return try keepCursorsToHold()
    }

    /// Commits what has been written, and ends the portals of the transaction.
    @inline(__always)
    func commitAndClosePortals() throws(WireError) {
        closePortals(but: .holdable)
        try commitWork()
        holdCursors()
    }

    private func rollbackBlock() {
        closePortals()
        undo()
        takeSettingsBack()
        endBlock()
    }

    private func endBlock() {
        state.transaction = Transaction()
        notePassage()
        releaseReaderIfUnused()
    }

    private func warnNoTransaction() {
        out.notice(
            WireError(
                severity: .warning, state: .noActiveSQLTransaction, message: "there is no transaction in progress"))
    }

    // MARK: Failing

    /// A statement has failed. An implicit transaction is over; a block waits for its ROLLBACK, and keeps the writer
    /// only if ROLLBACK TO could still save something of it.
    func failTransaction() {
        if hasWriterGrant {
            hasWriterGrant = false
            releaseWriter()
        }
        guard state.transaction.isExplicit else {
            takeSettingsBack()
            return undo()
        }
        guard state.transaction.block != .committing else { return rollbackBlock() }
        state.transaction.block = .failed
        let wasEndedBySQLite = writerMode != .none && pool.writer.connection.isAutocommit
        if state.transaction.savepoints.isEmpty || wasEndedBySQLite || writerMode == .group {
            state.transaction.savepoints = []
            takeSettingsBack()
            // Nothing may stand on the writer when it is given back.
            closePortals()
            undo()
            state.transaction.pinsSnapshot = false
            releaseReaderIfUnused()
        } else {
            takeSettingsBack(toSavepoint: state.transaction.savepoints.count - 1)
        }
    }

    /// The session ends.
    func abandonTransaction() {
        closePortals(but: .none)
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

extension WireError {
    static var inFailedTransaction: WireError {
        WireError(
            state: .inFailedSQLTransaction,
            message: "current transaction is aborted, commands ignored until end of transaction block")
    }
}
