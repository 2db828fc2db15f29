import PostgresWire

/// CAST to types that SQLite does not know: they are NUMERIC to it (https://www.sqlite.org/lang_expr.html#castexpr).
extension NumericCoercion {
    static func refusedCast(_ type: String) -> WireError {
        let hint =
            switch type.lowercased() {
            case "boolean", "bool": "'true'::boolean is read as PostgreSQL reads it."
            case "json", "jsonb": "json(x) checks a text and leaves out its spaces, and $1::\(type) gives a parameter its type."
            case "bytea": "CAST(x AS BLOB) takes a text's bytes, and '\\x6162'::bytea is read as PostgreSQL reads it."
            case "regclass": "'name'::regclass is understood in questions to the catalogs."
            default: "date(x), time(x) and datetime(x) make a date or time of SQLite's text, and $1::\(type) gives a parameter its type."
            }
        return WireError(
            state: .featureNotSupported, message: "SQLite's CAST to \(type) makes a number, as of a text's first digits", hint: hint)
    }

    /// The type, where it is one of PostgreSQL's that SQLite keeps as text. Of NULL a CAST makes NULL.
    static func castType(_ index: Int, _ table: TokenTable) -> String? {
        guard table.tokens[index].matches("cast"), table[index + 1]?.kind == .leftParenthesis,
            let close = table.otherParenthesis(index + 1)
        else { return nil }
        var found: Int?
        var next = index + 2
        while next < close {
            if table.tokens[next].matches("as") { found = next + 1 }
            next = table.after(next)
        }
        guard let found, found < close, isRefusedType(table.tokens[found]), isWholeType(found, close, table) else { return nil }
        let operand = found == index + 4 ? table.tokens[index + 2] : nil
        // Of a number CAST makes itself, which is a truth to SQLite.
        if isBoolean(table.tokens[found]), operand?.kind != .string { return nil }
        return operand?.matches("null") == true ? nil : table.tokens[found].name
    }

    static func isRefusedType(_ token: SQLToken) -> Bool {
        token.matches("date") || token.matches("time") || token.matches("timetz") || token.matches("timestamp")
            || token.matches("timestamptz") || token.matches("interval") || token.matches("uuid") || token.matches("json")
            || token.matches("jsonb") || token.matches("bytea") || token.matches("regclass") || isBoolean(token)
    }

    private static func isBoolean(_ token: SQLToken) -> Bool { token.matches("boolean") || token.matches("bool") }

    /// `timestamp`, `timestamp(3)` and `timestamp with time zone`; not `date text`, which is a text to SQLite.
    private static func isWholeType(_ first: Int, _ close: Int, _ table: TokenTable) -> Bool {
        var next = first + 1
        if table.tokens[next].kind == .leftParenthesis { next = table.after(next) }
        return next == close || table.tokens[next].matches("with") || table.tokens[next].matches("without")
    }
}
