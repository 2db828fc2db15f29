/// The SELECTs that drivers and their pools send unasked and that the session answers without SQLite, perhaps several questions in one.
struct ChatterQuery: Sendable, Equatable {
    enum Question: Sendable, Equatable {
        case version, currentSchema, currentDatabase, backendPID, isInRecovery, advisoryUnlockAll
        case currentUser, sessionUser
        case setConfig(name: String, value: String, isLocal: Bool)
        case currentSetting(name: String, missingOK: Bool)
    }

    struct Item: Sendable, Equatable {
        let question: Question
        /// The result column's name: the alias, or the function's name as PostgreSQL gives it.
        let column: String
    }

    let items: [Item]
    /// What a target list may have in PostgreSQL (https://www.postgresql.org/docs/current/limits.html).
    fileprivate static let mostItems = 1664

    init(_ items: [Item]) { self.items = items }
    init(question: Question, column: String) { items = [Item(question: question, column: column)] }

    var columns: [String] { items.map(\.column) }

    /// nil for every other statement, nearly always decided by its second token.
    static func parse(_ statement: UnsafeRawBufferPointer) -> ChatterQuery? {
        var cursor = TokenCursor(statement)
        guard cursor.accept("select"), let second = cursor.token, mayBeginChatter(second) else { return nil }
        return try? cursor.chatterQuery()
    }

    private static func mayBeginChatter(_ token: SQLToken) -> Bool {
        guard token.kind == .identifier, token.bytes.count >= 4 else { return false }
        switch lowerASCII(token.firstByte) {
        case UInt8(ascii: "p"): return lowerASCII(token.bytes[1]) == UInt8(ascii: "g")
        case UInt8(ascii: "c"): return lowerASCII(token.bytes[1]) == UInt8(ascii: "u")
        case UInt8(ascii: "s"): return lowerASCII(token.bytes[1]) == UInt8(ascii: "e")
        case UInt8(ascii: "u"): return token.matches("user")
        case UInt8(ascii: "v"): return token.matches("version")
        default: return false
        }
    }
}

extension TokenCursor {
    fileprivate mutating func chatterQuery() throws(SQLSyntaxError) -> ChatterQuery {
        var items = [try chatterItem()]
        // DBeaver asks for two at once when it connects.
        while items.count < ChatterQuery.mostItems, accept(.comma) { items.append(try chatterItem()) }
        try expectEnd()
        return ChatterQuery(items)
    }

    private mutating func chatterItem() throws(SQLSyntaxError) -> ChatterQuery.Item {
        let qualified = accept("pg_catalog")
        if qualified, !accept(symbol: ".") { throw failure() }
        let name = try identifier()
        let question: ChatterQuery.Question
        if accept(.leftParenthesis) {
            question = try chatterFunction(name)
            try expect(.rightParenthesis)
        } else if !qualified, let keyword = Self.chatterKeyword(name) {
            question = keyword
        } else {
            throw failure()
        }
        return ChatterQuery.Item(question: question, column: accept("as") ? try identifier() : name)
    }

    /// The SQL-standard ones are written without parentheses
    /// (https://www.postgresql.org/docs/current/functions-info.html).
    private static func chatterKeyword(_ name: String) -> ChatterQuery.Question? {
        switch name {
        case "current_user", "current_role", "user": .currentUser
        case "session_user": .sessionUser
        case "current_schema": .currentSchema
        case "current_catalog": .currentDatabase
        default: nil
        }
    }

    private mutating func chatterFunction(_ name: String) throws(SQLSyntaxError) -> ChatterQuery.Question {
        switch name {
        case "version": return .version
        case "current_schema": return .currentSchema
        case "current_database": return .currentDatabase
        case "pg_backend_pid": return .backendPID
        case "pg_is_in_recovery": return .isInRecovery
        case "pg_advisory_unlock_all": return .advisoryUnlockAll
        case "set_config":
            let setting = try string()
            try expect(.comma)
            let value = try string()
            try expect(.comma)
            return .setConfig(name: setting, value: value, isLocal: try boolean())
        case "current_setting":
            let setting = try string()
            return .currentSetting(name: setting, missingOK: accept(.comma) ? try boolean() : false)
        default: throw failure()
        }
    }

    private mutating func boolean() throws(SQLSyntaxError) -> Bool {
        guard let token else { throw failure() }
        let word = token.kind == .string || token.kind == .identifier ? token.name : ""
        switch word {
        case "true", "t", "on":
            advance()
            return true
        case "false", "f", "off":
            advance()
            return false
        default: throw failure()
        }
    }
}
