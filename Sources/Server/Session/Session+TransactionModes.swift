import PostgresWire

/// How a transaction reads and whether it may write: SET TRANSACTION, and what BEGIN, savepoints and AND CHAIN make of it.
extension Session {
    /// By the names of the settings, `SET transaction_read_only = on`.
    func setTransactionMode(_ name: String, _ value: String) throws(WireError) {
        var modes = TransactionModes()
        if name == "transaction_read_only" {
            modes.readOnly = try Settings.boolean(name, value)
        } else if let level = IsolationLevel(name: value) {
            modes.isolation = level
        } else {
            throw WireError(
                state: .invalidParameterValue, message: "invalid value for parameter \"\(name)\": \"\(value)\"")
        }
        try setTransaction(modes)
    }

    /// What a BEGIN inside the block asks for, too. Without a block it is for what else its query string or pipeline does.
    func setTransaction(_ modes: TransactionModes) throws(WireError) {
        if !state.transaction.isExplicit, isAloneInMessage {
            out.notice(
                WireError(
                    severity: .warning, state: .noActiveSQLTransaction,
                    message: "SET TRANSACTION can only be used in transaction blocks"))
            if state.query != nil { return }
        }
        if modes.readOnly == false { try requireWriterRole(to: "set the transaction's mode to read-write") }
        if !state.transaction.hasModes {
            (state.transaction.isReadOnly, state.transaction.isolation) = (isReadOnly, isolation)
            state.transaction.hasModesOfMessage = true
        }
        try requireChangeable(modes)
        if let isolation = modes.isolation { state.transaction.isolation = isolation }
        if let readOnly = modes.readOnly { state.transaction.isReadOnly = readOnly }
        // Who names a level after BEGIN DEFERRED asks for what that means, unless there is a snapshot already.
        if modes.isolation != nil, !hasBegun { state.transaction.isDeferred = false }
        renewPinning()
    }

    /// Of what runs now: the transaction's, if one has its own, and else the session's defaults.
    var isReadOnly: Bool { state.transaction.hasModes ? state.transaction.isReadOnly : state.settings.defaultReadOnly }
    var isolation: IsolationLevel { state.transaction.hasModes ? state.transaction.isolation : state.settings.defaultIsolation }

    private var hasBegun: Bool { state.transaction.hasQueried || readerIndex != nil || writerMode != .none }

    /// PostgreSQL's rules (check_transaction_isolation and check_transaction_read_only in src/backend/commands/variable.c).
    private func requireChangeable(_ modes: TransactionModes) throws(WireError) {
        func refused(_ message: String) -> WireError { WireError(state: .activeSQLTransaction, message: message) }
        if let isolation = modes.isolation, isolation != state.transaction.isolation {
            if hasBegun { throw refused("SET TRANSACTION ISOLATION LEVEL must be called before any query") }
            if !state.transaction.savepoints.isEmpty {
                throw refused("SET TRANSACTION ISOLATION LEVEL must not be called in a subtransaction")
            }
        }
        guard state.transaction.isReadOnly, modes.readOnly == false else { return }
        if !state.transaction.savepoints.isEmpty {
            throw refused("cannot set transaction read-write mode inside a read-only transaction")
        }
        if hasBegun { throw refused("transaction read-write mode must be set before any query") }
    }

    /// A savepoint's transaction may have become READ ONLY; the one around it has not, whether the savepoint is released or rolled back to
    /// (CommitSubTransaction and AbortSubTransaction in PostgreSQL's src/backend/access/transam/xact.c).
    func takeModesBack(toSavepoint index: Int) {
        guard state.transaction.isReadOnly != state.transaction.savepoints[index].isReadOnly else { return }
        state.transaction.isReadOnly = state.transaction.savepoints[index].isReadOnly
        renewPinning()
    }

    private func renewPinning() {
        state.transaction.pinsSnapshot = state.transaction.wantsSnapshot && writerMode == .none
        releaseReaderIfUnused()
    }

    /// ReadyForQuery, without a block: the next message knows nothing of what this one has set.
    @inline(__always)
    func endModesOfMessage() {
        if state.transaction.hasModesOfMessage { forgetModesOfMessage() }
    }

    @inline(never)
    private func forgetModesOfMessage() {
        var transaction = Transaction()
        transaction.settings = state.transaction.settings
        transaction.passesPause = state.transaction.passesPause
        state.transaction = transaction
        releaseReaderIfUnused()
    }

    /// AND CHAIN: "a new transaction is immediately started with the same transaction characteristics"
    /// (https://www.postgresql.org/docs/current/sql-commit.html). The writer it does not take at once, as IMMEDIATE did: that may be
    /// something to wait for, and COMMIT has been done.
    func chainBlock(after ended: Transaction) throws(WireError) {
        var modes = TransactionModes()
        modes.isolation = ended.isolation
        modes.readOnly = ended.isReadOnly
        _ = try beginBlock(modes, ended.isDeferred ? .deferred : nil)
    }
}

extension Transaction {
    /// Otherwise the session's defaults hold.
    var hasModes: Bool { isExplicit || hasModesOfMessage }

    /// Its reads are to see one snapshot.
    var wantsSnapshot: Bool { isReadOnly || isDeferred || isolation == .repeatableRead || isolation == .serializable }
}
