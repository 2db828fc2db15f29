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

    /// Of a whole message, before it is cut into statements: where a comment ends for SQLite, it must end for PostgreSQL.
    ///
    /// "These block comments nest, as specified in the SQL standard but unlike C"
    /// (https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-COMMENTS), and to its lexer a carriage return ends a
    /// line, too. What a quote opens behind such a comment the one reads as a string, and the other as what is between two.
    static func checkComments(_ sql: UnsafeRawBufferPointer) throws(WireError) {
        guard PostgresSpelling.next("'", in: sql, 0) != nil, mayEndElsewhere(sql) else { return }
        var end = 0
        for token in SQLLexer(sql) {
            guard endsAlike(sql[end..<token.start]) else { throw comment }
            end = token.end
        }
        guard endsAlike(sql[end...]) else { throw comment }
    }

    /// A carriage return, or two beginnings of comments.
    private static func mayEndElsewhere(_ sql: UnsafeRawBufferPointer) -> Bool {
        if PostgresSpelling.next("\r", in: sql, 0) != nil { return true }
        var (start, count) = (0, 0)
        while count < 2, let slash = PostgresSpelling.next("/", in: sql, start) {
            start = slash + 1
            if start < sql.count, sql[start] == UInt8(ascii: "*") { count += 1 }
        }
        return count > 1
    }

    /// What is nothing but space and comments to SQLite is that to PostgreSQL.
    private static func endsAlike(_ gap: Slice<UnsafeRawBufferPointer>) -> Bool {
        var rest = gap[...]
        var depth = 0
        while let byte = rest.popFirst() {
            switch (byte, rest.first) {
            case (UInt8(ascii: "/"), UInt8(ascii: "*")):
                depth += 1
                rest.removeFirst()
            case (UInt8(ascii: "*"), UInt8(ascii: "/")) where depth > 0:
                depth -= 1
                rest.removeFirst()
            case _ where depth > 0: break
            case (UInt8(ascii: "-"), UInt8(ascii: "-")):
                rest = rest.drop { $0 != 0x0A && $0 != 0x0D }
            // A byte order mark is space to SQLite.
            default: guard isSpace(byte) || byte >= 0x80 else { return false }
            }
        }
        return depth == 0
    }

    private static let comment = WireError(
        state: .syntaxError, message: "a comment ends elsewhere for SQLite than for PostgreSQL",
        hint: "SQLite's comments do not nest, and a carriage return alone ends no line. Write no /* in a /* comment */, and end lines with \\n.")

    /// See `SQLLexer.bracket`.
    private static let bracket = WireError(
        state: .syntaxError, message: "syntax error at or near \"[\"",
        hint: "Arrays are written ARRAY[1, 2], those in arrays ARRAY[ARRAY[1], ARRAY[2]], at most \(PostgresSpelling.depthLimit) deep. "
            + "SQLite has no subscripts: doc ->> '$.key' reads JSON. A name with a quote in it is written in \"double quotes\".")

    /// To SQLite `E'\''` is a name E, and a string that ends at the second quote.
    private static let escapes = WireError(
        state: .syntaxError, message: "syntax error at or near \"E'\"",
        hint: "Of escapes \\\\, \\b, \\f, \\n, \\r and \\t are understood, and in definitions none. A quote in a string is written twice.")
}
