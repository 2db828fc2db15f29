import PostgresWire

/// Columns as texts.
extension PostgresSpelling {
    /// `"book"."title"::text`, as Django writes it for LIKE: CAST does the same of texts and integers. Of other types it does not: PostgreSQL
    /// rounds where SQLite cuts, and knows what is a date.
    mutating func castName(_ token: SQLToken) -> Bool {
        guard byte(token.end) == UInt8(ascii: ":"), !token.isReservedWord || token.mayBeName, !token.matches("true"),
            !token.matches("false")
        else { return false }
        let before = lexer
        guard let type = typeName(token.end), type.type == .text || type.type == .varchar, sql[type.end - 1] != UInt8(ascii: ")") else {
            lexer = before
            return false
        }
        let isPart = last?.isSymbol(".") == true
        let (start, leading) = isPart ? (nameStart ?? token.start, beforeName) : (token.start, last)
        var text = Array("CAST(".utf8) + sql[start..<token.end] + Array(" AS TEXT)".utf8)
        if isWholeItem(behind: leading) { text += Array(" AS ".utf8) + token.bytes }
        replace(start..<type.end, by: text)
        return true
    }

    /// Whether what is between this token and the lexer is a column of a result, and has no other name: then it is called as before.
    private func isWholeItem(behind before: SQLToken?) -> Bool {
        guard let before, let place = places.last, place.openCases == 0, place.clause == .select || place.clause == .returning,
            before.kind == .comma || ["select", "distinct", "returning"].contains(where: before.matches)
        else { return false }
        var ahead = lexer
        guard let next = ahead.next() else { return true }
        return next.kind == .comma || next.kind == .rightParenthesis || next.kind == .semicolon || next.matches("from")
    }
}
