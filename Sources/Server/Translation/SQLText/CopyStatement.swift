/// COPY, as it was written (https://www.postgresql.org/docs/current/sql-copy.html). What its options come to is
/// `CopyOptions`.
struct CopyStatement: Sendable, Equatable {
    struct Table: Sendable, Equatable {
        var schema: String?
        var name: String
        /// Empty: all of them.
        var columns: [String] = []
    }

    enum Source: Sendable, Equatable {
        case table(Table)
        /// The bytes of the query between the parentheses.
        case query(Range<Int>)
    }

    /// The other end: the client, or what only PostgreSQL's superusers may name.
    enum Endpoint: Sendable, Equatable { case client, file, program }

    struct Option: Sendable, Equatable {
        enum Value: Sendable, Equatable {
            case none, all
            case text(String)
            case columns([String])
        }

        var name: String
        var value = Value.none
    }

    var source: Source
    /// FROM.
    var isInput: Bool
    var endpoint: Endpoint
    var options: [Option]

    /// How many it has, in all of its lists.
    var names: Int {
        var count = options.count
        if case .table(let table) = source { count += table.columns.count }
        for option in options { if case .columns(let columns) = option.value { count += columns.count } }
        return count
    }

    static func parse(_ statement: UnsafeRawBufferPointer) throws(SQLSyntaxError) -> CopyStatement {
        var cursor = TokenCursor(statement)
        try cursor.expect("copy")
        return try cursor.copyStatement()
    }
}

extension TokenCursor {
    fileprivate mutating func copyStatement() throws(SQLSyntaxError) -> CopyStatement {
        var options: [CopyStatement.Option] = []
        if accept("binary") { options.append(.init(name: "format", value: .text("binary"))) }
        let source = try copySource()
        let isInput = accept("from")
        if !isInput { try expect("to") }
        if isInput, case .query = source { throw failure() }
        let endpoint = try copyEndpoint()
        if accept("using") {
            try expect("delimiters")
            options.append(.init(name: "delimiter", value: .text(try copyString())))
        }
        let hasWith = accept("with")
        if accept(.leftParenthesis) {
            try copyOptions(&options)
        } else {
            let count = options.count
            while let option = try oldCopyOption() { options.append(option) }
            if hasWith && options.count == count { throw failure() }
        }
        if isInput, accept("where") {
            options.append(.init(name: "where"))
            _ = try remainder()
        }
        try expectEnd()
        return CopyStatement(source: source, isInput: isInput, endpoint: endpoint, options: options)
    }

    private mutating func copySource() throws(SQLSyntaxError) -> CopyStatement.Source {
        if accept(.leftParenthesis) {
            let items = try parenthesisedList()
            guard let first = items.first, let last = items.last else { throw failure() }
            return .query(first.lowerBound..<last.upperBound)
        }
        var table = CopyStatement.Table(name: try identifier())
        if accept(symbol: ".") { (table.schema, table.name) = (table.name, try identifier()) }
        if accept(.leftParenthesis) { table.columns = try copyColumns() }
        return .table(table)
    }

    /// Names up to the `)`, which is consumed.
    private mutating func copyColumns() throws(SQLSyntaxError) -> [String] {
        var names: [String] = []
        repeat { names.append(try identifier()) } while accept(.comma)
        try expect(.rightParenthesis)
        return names
    }

    private mutating func copyEndpoint() throws(SQLSyntaxError) -> CopyStatement.Endpoint {
        // PostgreSQL takes either word in either direction.
        if accept("stdin") || accept("stdout") { return .client }
        let endpoint: CopyStatement.Endpoint = accept("program") ? .program : .file
        _ = try copyString()
        return endpoint
    }

    /// The list in parentheses, `name [value], ...`, whose `(` has been consumed.
    private mutating func copyOptions(_ options: inout [CopyStatement.Option]) throws(SQLSyntaxError) {
        repeat {
            let name = try identifier()
            options.append(.init(name: name, value: try copyOptionValue()))
        } while accept(.comma)
        try expect(.rightParenthesis)
    }

    private mutating func copyOptionValue() throws(SQLSyntaxError) -> CopyStatement.Option.Value {
        guard let token else { throw failure() }
        if token.kind == .comma || token.kind == .rightParenthesis { return .none }
        if accept(symbol: "*") { return .all }
        if accept(.leftParenthesis) { return .columns(try copyColumns()) }
        if token.kind == .number {
            advance()
            return .text(token.text)
        }
        if token.kind == .string || startsEscapeString { return .text(try copyString()) }
        return .text(try identifier())
    }

    /// One option of the syntax before PostgreSQL 9.0; nil when none follows.
    private mutating func oldCopyOption() throws(SQLSyntaxError) -> CopyStatement.Option? {
        if accept("binary") { return .init(name: "format", value: .text("binary")) }
        if accept("csv") { return .init(name: "format", value: .text("csv")) }
        for flag in ["header", "freeze", "oids"] as [StaticString] where accept(flag) { return .init(name: "\(flag)") }
        for named in ["delimiter", "null", "quote", "escape"] as [StaticString] where accept(named) {
            _ = accept("as")
            return .init(name: "\(named)", value: .text(try copyString()))
        }
        if accept("encoding") { return .init(name: "encoding", value: .text(try copyString())) }
        guard accept("force") else { return nil }
        if accept("quote") {
            if accept(symbol: "*") { return .init(name: "force_quote", value: .all) }
            return .init(name: "force_quote", value: .columns(try unparenthesisedColumns()))
        }
        let isNot = accept("not")
        try expect("null")
        return .init(name: isNot ? "force_not_null" : "force_null", value: .columns(try unparenthesisedColumns()))
    }

    private mutating func unparenthesisedColumns() throws(SQLSyntaxError) -> [String] {
        var names = [try identifier()]
        while accept(.comma) { names.append(try identifier()) }
        return names
    }

    // MARK: Strings

    /// `E'…'`: to SQLite's tokenizer a name with a string directly behind it.
    private var startsEscapeString: Bool {
        guard let token, token.matches("e") else { return false }
        var ahead = self
        ahead.advance()
        return ahead.token?.kind == .string && ahead.token?.start == token.end
    }

    /// A string, with C's escapes when it is written `E'\t'`, the usual spelling of a tab as a delimiter.
    private mutating func copyString() throws(SQLSyntaxError) -> String {
        guard startsEscapeString else { return try string() }
        advance()
        let start = self
        guard let content = EscapeString.content(try string()) else { throw start.failure() }
        return content
    }
}
