/// SET, RESET and SHOW (https://www.postgresql.org/docs/current/sql-set.html).
extension TokenCursor {
    mutating func set() throws(SQLSyntaxError) -> SessionStatement {
        if accept("constraints") { return try setConstraints() }
        if accept("transaction") { return try setTransaction() }
        let scope = try settingScope()
        if scope == .local, accept("transaction") { return try setTransaction() }
        if scope == .session, accept("characteristics") {
            try expect("as")
            try expect("transaction")
            return .setSessionCharacteristics(try transactionModes(required: true))
        }
        if let special = try specialSetting() { return .set(scope, name: special.name, values: special.values) }
        let name = try settingName()
        if !accept(symbol: "=") { try expect("to") }
        return .set(scope, name: name, values: try settingValues())
    }

    /// SESSION and LOCAL are scopes unless they are the name being set.
    private mutating func settingScope() throws(SQLSyntaxError) -> SessionStatement.Scope {
        guard sees("session") || sees("local") else { return .session }
        // `SET SESSION AUTHORIZATION x` and `SET SESSION SESSION AUTHORIZATION x` differ in the scope only.
        var ahead = self
        ahead.advance()
        if sees("session"), ahead.sees("authorization") { return .session }
        let scope: SessionStatement.Scope = sees("local") ? .local : .session
        advance()
        return scope
    }

    private mutating func setConstraints() throws(SQLSyntaxError) -> SessionStatement {
        if !accept("all") {
            repeat { _ = try settingName() } while accept(.comma)
        }
        if accept("deferred") { return .setConstraints(deferred: true) }
        try expect("immediate")
        return .setConstraints(deferred: false)
    }

    private mutating func setTransaction() throws(SQLSyntaxError) -> SessionStatement {
        if accept("snapshot") { return .setTransactionSnapshot(try string()) }
        return .setTransaction(try transactionModes(required: true))
    }

    private mutating func specialSetting() throws(SQLSyntaxError) -> (name: String, values: [String]?)? {
        var ahead = self
        ahead.advance()
        if ahead.token?.isSymbol("=") ?? true || ahead.sees("to") { return nil }
        if sees("time"), ahead.accept("zone") {
            self = ahead
            return ("timezone", accept("local") || accept("default") ? nil : [try timeZone()])
        }
        if accept("names") { return ("client_encoding", accept("default") ? nil : [try string()]) }
        if accept("schema") { return ("search_path", [try string()]) }
        if accept("role") { return ("role", accept("none") || accept("default") ? nil : [try nameOrString()]) }
        if sees("session"), ahead.accept("authorization") {
            self = ahead
            return ("session_authorization", accept("default") ? nil : [try nameOrString()])
        }
        return nil
    }

    private mutating func timeZone() throws(SQLSyntaxError) -> String {
        guard accept("interval") else { return try settingValue() }
        let value = try string()
        // HOUR TO MINUTE and its like say how to read the string; what it says is plain without them.
        while token?.kind == .identifier { advance() }
        return value
    }

    /// SQLite takes a string as a savepoint's name, and PostgreSQL as a role's.
    mutating func nameOrString() throws(SQLSyntaxError) -> String {
        token?.kind == .string ? try string() : try identifier()
    }

    /// `name` or `extension.name`, joined by dots.
    private mutating func settingName() throws(SQLSyntaxError) -> String {
        var name = try identifier()
        while accept(symbol: ".") { name += "." + (try identifier()) }
        return name
    }

    private mutating func settingValues() throws(SQLSyntaxError) -> [String]? {
        if accept("default") { return nil }
        var values = [try settingValue()]
        while accept(.comma) { values.append(try settingValue()) }
        return values
    }

    private mutating func settingValue() throws(SQLSyntaxError) -> String {
        let sign = accept(symbol: "-") ? "-" : ""
        let signed = sign != "" || accept(symbol: "+")
        guard let token, token.kind == .number || (!signed && (token.kind == .string || token.isIdentifierLike))
        else { throw failure() }
        advance()
        return sign + token.name
    }

    mutating func reset() throws(SQLSyntaxError) -> SessionStatement {
        if accept("all") { return .resetAll }
        return .reset(try shownName())
    }

    mutating func show() throws(SQLSyntaxError) -> SessionStatement {
        if accept("all") { return .showAll }
        return .show(try shownName())
    }

    private mutating func shownName() throws(SQLSyntaxError) -> String {
        let name = try settingName()
        switch name {
        case "time" where accept("zone"): return "timezone"
        case "session" where accept("authorization"): return "session_authorization"
        case "transaction" where accept("isolation"):
            try expect("level")
            return "transaction_isolation"
        default: return name
        }
    }

    func text(_ range: Range<Int>) -> String { String(decoding: bytes(range), as: UTF8.self) }
}
