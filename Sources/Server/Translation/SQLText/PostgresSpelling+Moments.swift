import PostgresWire

/// `DATE '2024-01-02'`, `TIME '…'`, `TIMESTAMP '…'`: what JDBC's `{d …}`, `{t …}` and `{ts …}` become, and the standard's own spelling.
///
/// To SQLite a string behind an expression in a select list, or behind a table, is a name for it: `SELECT date '2024-01-02' FROM t` is
/// the column date, called 2024-01-02. There it stays that; elsewhere SQLite's grammar has no such thing.
/// https://www.sqlite.org/syntax/result-column.html, https://www.sqlite.org/quirks.html
extension PostgresSpelling {
    /// What may stand behind an expression.
    struct Place {
        private(set) var clause = Clause.other
        private(set) var openCases = 0

        enum Clause { case select, returning, tables, other }

        mutating func note(_ word: SQLToken) {
            if word.matches("select") { self = Place(clause: .select) }
            if word.matches("returning") { self = Place(clause: .returning) }
            if word.matches("from") || word.matches("join") { self = Place(clause: .tables) }
            if Self.others.contains(where: word.matches) { self = Place() }
            if word.matches("case") { openCases += 1 }
            if word.matches("end") { openCases = max(0, openCases - 1) }
        }

        private static let others: [StaticString] = [
            "where", "group", "having", "order", "limit", "offset", "window", "set", "values", "union", "except", "intersect",
        ]
    }

    /// The last letters of `date`, `time`, `timestamp`, `timestamptz` and `with time zone`.
    static func mayBeBehindType(_ quote: Int, in sql: UnsafeRawBufferPointer) -> Bool {
        var end = quote
        while end > 0, isSpace(sql[end - 1]) { end -= 1 }
        guard end > 3 else { return false }
        switch (lowerASCII(sql[end - 3]), lowerASCII(sql[end - 2]), lowerASCII(sql[end - 1])) {
        case (0x61, 0x74, 0x65), (0x69, 0x6D, 0x65), (0x61, 0x6D, 0x70), (0x70, 0x74, 0x7A), (0x6F, 0x6E, 0x65): return true
        default: return false
        }
    }

    /// True when the word was such a type, and its literal has been read.
    mutating func literalBehindType(_ word: SQLToken) -> Bool {
        guard word.matches("date") || word.matches("time") || word.matches("timestamp") || word.matches("timestamptz"),
            last?.isSymbol(".") != true, let type = extended(word.name, word.end), type.type.element == nil
        else { return false }
        var ahead = lexer.moved(to: type.end)
        guard let text = ahead.next(), text.kind == .string, !mayBeName(text, ahead.next()) else { return false }
        literal(Array(text.name.utf8), type.type, at: word.start..<text.end)
        lexer = lexer.moved(to: text.end)
        return true
    }

    /// Whether SQLite would take the string for a name of what is before it.
    private mutating func mayBeName(_ text: SQLToken, _ next: SQLToken?) -> Bool {
        guard let place = places.last, place.openCases == 0 else { return false }
        switch place.clause {
        case .other: return false
        case .tables: return !(last?.kind == .operatorOrPunctuation || Self.operators.contains { last?.matches($0) == true })
        case .select where places.count == 1 && !readsTable(behind: text): return false
        case .select, .returning: return Self.endsName(next)
        }
    }

    /// Without a table there is no column that could be meant. Looked for once, or a text of such literals would be read to its end for
    /// each of them.
    private mutating func readsTable(behind text: SQLToken) -> Bool {
        if let known = hasFromAhead { return known }
        let found = lexer.moved(to: text.end).contains { $0.matches("from") }
        hasFromAhead = found
        return found
    }

    private static let operators: [StaticString] = ["on", "and", "or", "not", "between", "is", "like", "in"]

    private static func endsName(_ next: SQLToken?) -> Bool {
        guard let next else { return true }
        switch next.kind {
        case .comma, .rightParenthesis, .semicolon: return true
        case .identifier: return ends.contains(where: next.matches)
        default: return false
        }
    }

    private static let ends: [StaticString] = [
        "from", "where", "group", "having", "order", "limit", "window", "union", "except", "intersect",
    ]
}
