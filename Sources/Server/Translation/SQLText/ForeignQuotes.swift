import PostgresWire

/// Quotes that end elsewhere for SQLite than for PostgreSQL, whose drivers write values into the text.
///
/// What somebody has sent as a value must not become SQL. So a text that SQLite would cut into other tokens than its sender meant is
/// refused, whatever the statement is. `PostgresSpelling` has rewritten the arrays and strings that it understands by then.
enum ForeignQuotes {
    static func check(_ sql: UnsafeRawBufferPointer) throws(WireError) {
        guard mayHaveSome(sql) else { return }
        var last: SQLToken?
        for token in SQLLexer(sql) {
            if token.kind == .illegal, token.firstByte == UInt8(ascii: "[") { throw bracket }
            if token.kind == .string, let last, last.matches("e"), last.end == token.start { throw escapes }
            last = token
        }
    }

    private static func mayHaveSome(_ sql: UnsafeRawBufferPointer) -> Bool {
        if PostgresSpelling.next("[", in: sql, 0) != nil { return true }
        var start = 1
        while let quote = PostgresSpelling.next("'", in: sql, start) {
            if lowerASCII(sql[quote - 1]) == UInt8(ascii: "e") { return true }
            start = quote + 1
        }
        return false
    }

    /// See `SQLLexer.bracket`.
    private static let bracket = WireError(
        state: .syntaxError, message: "syntax error at or near \"[\"",
        hint: "Arrays are written ARRAY[1, 2], those in arrays ARRAY[ARRAY[1], ARRAY[2]], at most \(PostgresSpelling.depthLimit) deep. "
            + "SQLite has no subscripts: doc ->> '$.key' reads JSON. A name with an apostrophe is written in \"double quotes\".")

    /// To SQLite `E'\\''` is a name E, and a string that ends at the second quote.
    private static let escapes = WireError(
        state: .syntaxError, message: "syntax error at or near \"E'\"",
        hint: "Of escapes \\\\, \\b, \\f, \\n, \\r and \\t are understood, and in definitions none. A quote in a string is written twice.")
}
