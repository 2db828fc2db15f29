import SQLite

/// `unnest()` in a select list.
extension PostgresSpelling {
    /// Several advance together: "If there is more than one set-returning function in the query's select list, the behavior is similar to what
    /// you get from putting the functions into a single LATERAL ROWS FROM( ... ) FROM-clause item"
    /// (https://www.postgresql.org/docs/current/xfunc-sql.html#XFUNC-SQL-FUNCTIONS-RETURNING-SET).
    mutating func unnestedColumns(_ first: SQLToken) -> Bool {
        var columns: [[UInt8]] = []
        var arguments: [[UInt8]] = []
        // Nothing is rewritten before all of it is understood: what is not is read again from the inside.
        var (word, end) = (first, first.end)
        while true {
            guard word.matches("unnest"), let call = call(word), call.arguments.count == 1 else { return false }
            var ahead = lexer.moved(to: call.end)
            guard let alias = Self.alias(&ahead), alias.columns.isEmpty else { return false }
            columns.append(Self.named(Unnest.column(columns.count), alias.name.isEmpty ? Array("unnest".utf8) : alias.name))
            arguments += call.arguments
            end = max(call.end, alias.end)
            guard let next = ahead.next(), next.kind == .comma else { break }
            guard let other = ahead.next() else { return false }
            word = other
        }
        // With another table each of its rows would be as many.
        var behind = lexer.moved(to: end)
        guard let next = behind.next() else {
            return takeColumns(columns, arguments, first, end)
        }
        let isAlone = next.kind == .rightParenthesis || next.kind == .semicolon || Self.behindColumns.contains(where: next.matches)
        return isAlone && takeColumns(columns, arguments, first, end)
    }

    private mutating func takeColumns(_ columns: [[UInt8]], _ arguments: [[UInt8]], _ word: SQLToken, _ end: Int) -> Bool {
        guard arguments.count <= Unnest.most else { return false }
        take(Array(columns.joined(separator: ", ".utf8)) + Array(" FROM ".utf8) + spelled(arguments), word, upTo: end)
        return true
    }

    private static let behindColumns: [StaticString] = ["on", "order", "limit", "offset", "returning", "union", "except", "intersect"]
}
