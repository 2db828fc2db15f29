import PostgresWire

/// Definitions that PostgreSQL knows and that SQLite would take for something else, or not at all.
enum DefinitionCheck {
    /// Refuses what SQLite would accept and leave NULL, and says how it is spelt here.
    static func check(_ sql: UnsafeRawBufferPointer, _ head: StatementHead) throws(WireError) {
        switch head.main {
        case .create, .alter: try checkColumns(sql)
        case .drop: try checkDrop(sql)
        default: break
        }
    }

    /// SQLite takes any word for a type, so a SERIAL column would be one that nothing fills:
    /// https://www.sqlite.org/datatype3.html#determination_of_column_affinity
    private static let serials: [StaticString] = ["serial", "bigserial", "smallserial", "serial2", "serial4", "serial8"]

    private static func checkColumns(_ sql: UnsafeRawBufferPointer) throws(WireError) {
        var cursor = TokenCursor(sql)
        let isAlter = cursor.accept("alter")
        if !isAlter {
            guard cursor.accept("create") else { return }
            _ = cursor.accept("temp") || cursor.accept("temporary")
        }
        guard cursor.accept("table") else { return }
        // What comes next after `(`, `,` or ADD [COLUMN] is a column's name; what follows that is its type.
        var isNamePlace = false
        var name: String?
        var depth = 0
        while let token = cursor.token {
            cursor.advance()
            if let column = name, depth <= 1, serials.contains(where: token.matches) {
                throw refusal("\"\(column)\" is \(token.text.uppercased()), which SQLite would leave NULL", column)
            }
            if token.matches("default"), isCall(cursor) { throw bareDefault(cursor, sql) }
            if token.matches("generated"), isIdentity(cursor) { throw refusal("identity columns are not SQLite's", "id") }
            name = isNamePlace && token.isIdentifierLike ? token.name : nil
            switch token.kind {
            case .leftParenthesis: depth += 1
            case .rightParenthesis: depth -= 1
            default: break
            }
            isNamePlace =
                !isAlter && (token.kind == .leftParenthesis && depth == 1 || token.kind == .comma && depth == 1)
                || isAlter && (token.matches("add") && !cursor.sees("column") || token.matches("column"))
        }
    }

    private static func isCall(_ cursor: TokenCursor) -> Bool {
        var cursor = cursor
        guard cursor.token?.kind == .identifier else { return false }
        cursor.advance()
        return cursor.token?.kind == .leftParenthesis
    }

    /// To SQLite a bare word is a string there, and anything longer needs parentheses:
    /// https://www.sqlite.org/lang_createtable.html#the_default_clause
    private static func bareDefault(_ cursor: TokenCursor, _ sql: UnsafeRawBufferPointer) -> WireError {
        let name = cursor.token?.text ?? ""
        return WireError(
            state: .syntaxError, message: "syntax error at or near \"\(name)\": behind DEFAULT a function stands in parentheses",
            hint: "Write DEFAULT (\(name)(…)); for the time CURRENT_TIMESTAMP, which the sqlite3 shell knows, too.",
            position: cursor.token.map { ErrorTranslation.characterPosition(ofByte: $0.start, in: sql) })
    }

    /// `GENERATED {ALWAYS | BY DEFAULT} AS IDENTITY`
    private static func isIdentity(_ cursor: TokenCursor) -> Bool {
        var cursor = cursor
        if cursor.accept("by") { guard cursor.accept("default") else { return false } } else if !cursor.accept("always") { return false }
        return cursor.accept("as") && cursor.accept("identity")
    }

    private static func refusal(_ message: String, _ column: String) -> WireError {
        WireError(
            state: .featureNotSupported, message: message,
            hint: "Write \(CatalogContents.quoted(column)) INTEGER PRIMARY KEY: SQLite fills it with the next number.")
    }

    /// pgbench -i begins so, and goes on with more that SQLite has no words for.
    private static func checkDrop(_ sql: UnsafeRawBufferPointer) throws(WireError) {
        var cursor = TokenCursor(sql)
        guard cursor.accept("drop"), cursor.accept("table") else { return }
        if cursor.accept("if") { _ = cursor.accept("exists") }
        guard (try? cursor.identifier()) == "pgbench_accounts", cursor.accept(.comma) else { return }
        throw WireError(
            state: .featureNotSupported, message: "pgbench -i does not work here: its definitions are PostgreSQL's own",
            hint: "`make bench-data` in Walpool's sources makes its tables with sqlite3; then run pgbench with -n.")
    }
}
