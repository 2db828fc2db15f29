enum IsolationLevel: Sendable, Equatable { case readUncommitted, readCommitted, repeatableRead, serializable }

/// What BEGIN, SET TRANSACTION and SET SESSION CHARACTERISTICS can say; nil is "not said".
struct TransactionModes: Sendable, Equatable {
    var isolation: IsolationLevel?
    var readOnly: Bool?
}

/// SQLite's own word after BEGIN (https://www.sqlite.org/lang_transaction.html).
enum TransactionBehavior: Sendable, Equatable { case deferred, immediate, exclusive }

/// Transaction control in PostgreSQL's spelling and in SQLite's, most of which SQLite's parser would refuse.
enum TransactionStatement: Sendable, Equatable {
    case begin(TransactionModes, TransactionBehavior?)
    case commit(chain: Bool)
    case rollback(chain: Bool)
    case rollbackTo(String)
    case savepoint(String)
    case release(String)
    /// PREPARE TRANSACTION, COMMIT PREPARED, ROLLBACK PREPARED: recognised, not supported.
    case twoPhase

    /// nil when the statement is none of these.
    static func parse(
        _ statement: UnsafeRawBufferPointer
    ) throws(SQLSyntaxError) -> TransactionStatement? {
        var cursor = TokenCursor(statement)
        guard let first = cursor.token else { return nil }
        let verb = Verb(first)
        switch verb {
        case .begin, .start, .commit, .end, .rollback, .abort, .savepoint, .release, .prepare: cursor.advance()
        default: return nil
        }
        if verb == .prepare {
            // PREPARE name AS ... may name a statement `transaction`; only a string makes it two-phase commit.
            guard cursor.accept("transaction"), cursor.token?.kind == .string else { return nil }
            return .twoPhase
        }
        let result = try cursor.transactionStatement(after: verb)
        if result != .twoPhase { try cursor.expectEnd() }
        return result
    }
}

extension TokenCursor {
    fileprivate mutating func transactionStatement(
        after verb: Verb
    ) throws(SQLSyntaxError) -> TransactionStatement {
        switch verb {
        case .begin:
            let behavior = transactionBehavior()
            skipTransactionWord()
            return .begin(try transactionModes(required: false), behavior)
        case .start:
            try expect("transaction")
            return .begin(try transactionModes(required: false), nil)
        case .commit, .end:
            if verb == .commit, sees("prepared") { return .twoPhase }
            skipTransactionWord()
            return .commit(chain: try chain())
        case .savepoint:
            return .savepoint(try nameOrString())
        case .release:
            _ = acceptSavepointWord()
            return .release(try nameOrString())
        default:
            if verb == .rollback, sees("prepared") { return .twoPhase }
            skipTransactionWord()
            if verb == .rollback, accept("to") {
                _ = acceptSavepointWord()
                return .rollbackTo(try nameOrString())
            }
            return .rollback(chain: try chain())
        }
    }

    private mutating func transactionBehavior() -> TransactionBehavior? {
        if accept("deferred") { return .deferred }
        if accept("immediate") { return .immediate }
        return accept("exclusive") ? .exclusive : nil
    }

    private mutating func skipTransactionWord() {
        if !accept("work") { _ = accept("transaction") }
    }

    private mutating func chain() throws(SQLSyntaxError) -> Bool {
        guard accept("and") else { return false }
        let no = accept("no")
        try expect("chain")
        return !no
    }

    /// The word SAVEPOINT is optional, and also a legal name: `RELEASE savepoint`.
    private mutating func acceptSavepointWord() -> Bool {
        guard sees("savepoint") else { return false }
        var ahead = self
        ahead.advance()
        guard !ahead.isAtEnd else { return false }
        advance()
        return true
    }

    /// Modes may be separated by commas or by nothing
    /// (https://www.postgresql.org/docs/current/sql-begin.html: "Compatibility").
    mutating func transactionModes(required: Bool) throws(SQLSyntaxError) -> TransactionModes {
        var modes = TransactionModes()
        var mustFollow = required
        while mustFollow || !isAtEnd {
            try transactionMode(&modes)
            mustFollow = accept(.comma)
        }
        return modes
    }

    private mutating func transactionMode(_ modes: inout TransactionModes) throws(SQLSyntaxError) {
        if accept("isolation") {
            try expect("level")
            modes.isolation = try isolationLevel()
        } else if accept("read") {
            let readOnly = accept("only")
            if !readOnly { try expect("write") }
            modes.readOnly = readOnly
        } else {
            // It changes nothing: no snapshot is waited for here.
            _ = accept("not")
            try expect("deferrable")
        }
    }

    private mutating func isolationLevel() throws(SQLSyntaxError) -> IsolationLevel {
        if accept("serializable") { return .serializable }
        if accept("repeatable") {
            try expect("read")
            return .repeatableRead
        }
        try expect("read")
        if accept("committed") { return .readCommitted }
        try expect("uncommitted")
        return .readUncommitted
    }
}
