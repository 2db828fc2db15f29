/// The statements of a PostgreSQL session that concern the session and not the database.
enum SessionStatement: Sendable, Equatable {
    enum Scope: Sendable, Equatable { case session, local }
    enum Discarded: Sendable, Equatable { case all, plans, temporary, sequences }

    /// One setting; `values` is nil for DEFAULT. PostgreSQL's special forms come under the names of the settings
    /// they stand for: `timezone`, `client_encoding`, `search_path`, `role`, `session_authorization`.
    case set(Scope, name: String, values: [String]?)
    case setTransaction(TransactionModes)
    case setTransactionSnapshot(String)
    case setSessionCharacteristics(TransactionModes)
    /// SET CONSTRAINTS {ALL | names} {DEFERRED | IMMEDIATE}.
    case setConstraints(deferred: Bool)
    case reset(String)
    case resetAll
    case show(String)
    case showAll
    case discard(Discarded)
    /// nil is ALL (or `*`), here and in the next two.
    case deallocate(String?)
    case close(String?)
    case unlisten(String?)
    case listen(String)
    case notify(channel: String, payload: String)
    case declare(CursorDeclaration)
    case fetch(CursorFetch)
    /// The parameter types are as written, `statement` is a byte range.
    case prepare(name: String, types: [String], statement: Range<Int>)
    /// Each argument is the byte range of its expression.
    case execute(name: String, arguments: [Range<Int>])

    /// nil when the statement is none of these.
    static func parse(_ statement: UnsafeRawBufferPointer) throws(SQLSyntaxError) -> SessionStatement? {
        var cursor = TokenCursor(statement)
        guard let first = cursor.token else { return nil }
        cursor.advance()
        let result: SessionStatement
        switch Verb(first) {
        case .set: result = try cursor.set()
        case .reset: result = try cursor.reset()
        case .show: result = try cursor.show()
        case .discard: result = .discard(try cursor.discarded())
        case .deallocate:
            _ = cursor.accept("prepare")
            result = .deallocate(try cursor.nameOrAll())
        case .close: result = .close(try cursor.nameOrAll())
        case .unlisten: result = .unlisten(cursor.accept(symbol: "*") ? nil : try cursor.identifier())
        case .listen: result = .listen(try cursor.identifier())
        case .notify: result = try cursor.notify()
        case .declare: result = .declare(try cursor.cursorDeclaration())
        case .fetch: result = .fetch(try cursor.cursorFetch(isMove: false))
        case .move: result = .fetch(try cursor.cursorFetch(isMove: true))
        case .prepare:
            var ahead = cursor
            if ahead.accept("transaction"), ahead.token?.kind == .string { return nil }
            result = try cursor.prepare()
        case .execute: result = try cursor.execute()
        default: return nil
        }
        try cursor.expectEnd()
        return result
    }
}

extension TokenCursor {
    fileprivate mutating func nameOrAll() throws(SQLSyntaxError) -> String? {
        accept("all") ? nil : try identifier()
    }

    fileprivate mutating func discarded() throws(SQLSyntaxError) -> SessionStatement.Discarded {
        if accept("all") { return .all }
        if accept("plans") { return .plans }
        if accept("sequences") { return .sequences }
        if !accept("temp") { try expect("temporary") }
        return .temporary
    }

    fileprivate mutating func notify() throws(SQLSyntaxError) -> SessionStatement {
        let channel = try identifier()
        let payload = accept(.comma) ? try string() : ""
        return .notify(channel: channel, payload: payload)
    }

    fileprivate mutating func prepare() throws(SQLSyntaxError) -> SessionStatement {
        let name = try identifier()
        let types = accept(.leftParenthesis) ? try parenthesisedList() : []
        try expect("as")
        let statement = try remainder()
        return .prepare(name: name, types: types.map(text), statement: statement)
    }

    fileprivate mutating func execute() throws(SQLSyntaxError) -> SessionStatement {
        let name = try identifier()
        let arguments = accept(.leftParenthesis) ? try parenthesisedList() : []
        return .execute(name: name, arguments: arguments)
    }
}
