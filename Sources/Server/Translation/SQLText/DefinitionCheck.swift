import PostgresWire
import SQLite

/// Definitions that PostgreSQL knows and that SQLite would take for something else, or not at all.
enum DefinitionCheck {
    /// What is wrong with a definition, as far as a table of that name is there, or is not.
    struct Condition: Sendable {
        let table: String
        /// False: a CREATE TABLE IF NOT EXISTS is right if the table is there. Programs that say so at each start have made it otherwise.
        let isRefusedIfThere: Bool
        let refusal: WireError
    }

    /// Refuses what SQLite would accept and leave NULL, and says how it is spelt here.
    static func check(_ sql: UnsafeRawBufferPointer, _ head: StatementHead) throws(WireError) -> Condition? {
        switch head.main {
        case .create, .alter: return try checkColumns(sql)
        case .drop: try checkDrop(sql)
        default: break
        }
        return nil
    }

    /// SQLite takes any word for a type, so a SERIAL column would be one that nothing fills:
    /// https://www.sqlite.org/datatype3.html#determination_of_column_affinity
    private static let serials: [StaticString] = ["serial", "bigserial", "smallserial", "serial2", "serial4", "serial8"]

    private static func checkColumns(_ sql: UnsafeRawBufferPointer) throws(WireError) -> Condition? {
        var cursor = TokenCursor(sql)
        let isAlter = cursor.accept("alter")
        if !isAlter {
            guard cursor.accept("create") else { return nil }
            _ = cursor.accept("temp") || cursor.accept("temporary")
        }
        guard cursor.accept("table") else { return nil }
        let table = isAlter ? nil : conditional(&cursor)
        // What comes next after `(`, `,` or ADD [COLUMN] is a column's name; what follows that is its type.
        var isNamePlace = false
        var name: String?
        var depth = 0
        var condition: Condition?
        while let token = cursor.token {
            cursor.advance()
            if let column = name, depth <= 1, serials.contains(where: token.matches) {
                let refusal = refusal("\"\(column)\" is \(token.text.uppercased()), which SQLite would leave NULL", column)
                guard let table else { throw refusal }
                return Condition(table: table, isRefusedIfThere: false, refusal: refusal)
            }
            if !isAlter, isNamePlace, token.matches("like"), let other = likeness(cursor) {
                guard other.mayBeType else { throw refusedLikeness(other.name) }
                condition = Condition(table: other.name, isRefusedIfThere: true, refusal: refusedLikeness(other.name))
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
        return condition
    }

    /// The name behind IF NOT EXISTS.
    private static func conditional(_ cursor: inout TokenCursor) -> String? {
        guard cursor.accept("if"), cursor.accept("not"), cursor.accept("exists"), var name = cursor.token else { return nil }
        cursor.advance()
        if cursor.accept(symbol: "."), let own = cursor.token {
            name = own
            cursor.advance()
        }
        return name.isIdentifierLike ? name.name : nil
    }

    /// `LIKE table [INCLUDING …]`, which SQLite takes for a column that is called so: its type is then no table's name.
    private static func likeness(_ cursor: TokenCursor) -> (name: String, mayBeType: Bool)? {
        var cursor = cursor
        var mayBeType = true
        guard var other = cursor.token, other.isIdentifierLike else { return nil }
        cursor.advance()
        if cursor.accept(symbol: "."), let own = cursor.token, own.isIdentifierLike {
            (other, mayBeType) = (own, false)
            cursor.advance()
        }
        let ends = cursor.token.map { $0.kind == .rightParenthesis || $0.kind == .comma } ?? false
        let hasOptions = cursor.sees("including") || cursor.sees("excluding")
        return ends || hasOptions ? (other.name, mayBeType && !hasOptions) : nil
    }

    private static func refusedLikeness(_ other: String) -> WireError {
        WireError(
            state: .featureNotSupported, message: "CREATE TABLE (LIKE …) is not SQLite's, which would make a column called \"like\"",
            hint: "Take the other table's definition, which SELECT sql FROM sqlite_schema WHERE name = \(SQLQuoting.literal(other)) gives.")
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
