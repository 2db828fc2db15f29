/// Casts of constants behind DEFAULT.
extension PostgresSpelling {
    /// `DEFAULT 'new'::text`, which Alembic writes into each downgrade because the catalogs have it so, without the cast: to SQLite a
    /// cast is no part of a definition's DEFAULT.
    ///
    /// - Returns: nil where there is none.
    static func definition(_ sql: UnsafeRawBufferPointer) -> [UInt8]? {
        var start = 0
        while let colon = sql.firstIndex(of: ":", from: start), colon + 1 < sql.count, sql[colon + 1] != sql[colon] { start = colon + 1 }
        guard sql.firstIndex(of: ":", from: start) != nil else { return nil }
        var spelling = PostgresSpelling(sql: sql, lexer: SQLLexer(sql))
        while let token = spelling.lexer.next() {
            guard token.matches("default"), var value = spelling.lexer.next() else { continue }
            if value.kind == .leftParenthesis {
                guard let inner = spelling.lexer.next() else { break }
                value = inner
            }
            switch value.kind {
            case .string: spelling.string(value, content: Array(value.name.utf8), from: value.start)
            case .number: spelling.dropType(behind: value)
            default: if value.matches("null") || value.matches("true") || value.matches("false") { spelling.dropType(behind: value) }
            }
        }
        return spelling.refusal == nil ? spelling.whole() : nil
    }
}
