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
            defer { last = token }
            if token.kind == .illegal, token.firstByte == UInt8(ascii: "[") { throw bracket }
            guard let last else { continue }
            if isSubscript(token, behind: last) { throw bracket }
            guard token.kind == .string else { continue }
            if last.matches("e"), last.end == token.start { throw escapes }
            if last.kind == .string || last.kind == .blob, sql[last.end..<token.start].contains(where: isNewline) { throw continued }
        }
    }

    private static func mayHaveSome(_ sql: UnsafeRawBufferPointer) -> Bool {
        if sql.firstIndex(of: "[") != nil { return true }
        var start = 1
        while let quote = sql.firstIndex(of: "'", from: start) {
            if lowerASCII(sql[quote - 1]) == UInt8(ascii: "e") || isFirstOfLine(quote, in: sql) { return true }
            start = quote + 1
        }
        return false
    }

    private static func isFirstOfLine(_ index: Int, in sql: UnsafeRawBufferPointer) -> Bool {
        var before = index - 1
        while before >= 0, isSpace(sql[before]) {
            if isNewline(sql[before]) { return true }
            before -= 1
        }
        return false
    }

    private static func isNewline(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }

    /// `list[1]`, `list[1:2]` or `list[$1]`, which SQLite reads as the column under the name `1`: it would give the whole list. With a
    /// space before the bracket it is a name like any other.
    private static func isSubscript(_ token: SQLToken, behind last: SQLToken) -> Bool {
        guard token.kind == .quotedIdentifier, token.firstByte == UInt8(ascii: "["), last.end == token.start,
            last.isIdentifierLike || last.kind == .rightParenthesis || last.kind == .parameter || last.kind == .string
        else { return false }
        let first = token.bytes[1]
        return isDigit(first) || "$:?-".utf8.contains(first)
    }

    /// Of a whole message, before it is cut into statements: where a comment ends for SQLite, it must end for PostgreSQL.
    ///
    /// "These block comments nest, as specified in the SQL standard but unlike C"
    /// (https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-COMMENTS), and to its lexer a carriage return ends a
    /// line, too. What stands behind such a comment is a statement to the one, and a comment, or what a quote opens in it, to the other.
    static func checkComments(_ sql: UnsafeRawBufferPointer) throws(WireError) {
        guard mayEndElsewhere(sql) else { return }
        var end = 0
        for token in SQLLexer(sql) {
            guard endsAlike(sql[end..<token.start]) else { throw comment }
            end = token.end
        }
        guard endsAlike(sql[end...]) else { throw comment }
    }

    /// A carriage return, or two beginnings of comments.
    private static func mayEndElsewhere(_ sql: UnsafeRawBufferPointer) -> Bool {
        if sql.firstIndex(of: "\r") != nil { return true }
        var (start, count) = (0, 0)
        while count < 2, let slash = sql.firstIndex(of: "/", from: start) {
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
        hint: "SQLite's comments do not nest, and a carriage return alone ends no line. Write no /* in a /* comment */, "
            + "and end lines with \\n.")

    /// See `SQLLexer.bracket`.
    private static let bracket = WireError(
        state: .syntaxError, message: "syntax error at or near \"[\"",
        hint: "Arrays are written ARRAY[1, 2], those in arrays ARRAY[ARRAY[1], ARRAY[2]], at most \(PostgresSpelling.depthLimit) deep. "
            + "SQLite has no subscripts: doc ->> '$.key' reads JSON. A name with a quote in it is written in \"double quotes\".")

    /// To SQLite `E'\''` is a name E, and a string that ends at the second quote.
    private static let escapes = WireError(
        state: .syntaxError, message: "syntax error at or near \"E'\"",
        hint: "Of escapes \\\\, \\b, \\f, \\n, \\r and \\t are understood, and in definitions none. A quote in a string is written twice.")

    /// "Two string constants that are only separated by whitespace with at least one newline are concatenated"
    /// (https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-STRINGS), by the first one's rules for escapes. To
    /// SQLite the second is the name of a column.
    private static let continued = WireError(
        state: .syntaxError, message: "a string that continues on another line is another column's name to SQLite",
        hint: "Write it as one string, or join the parts by ||. The name of a column has AS before it, or stands on the same line.")
}
