import SQLite

/// Parts of the definitions that SQLite keeps as text.
extension CatalogContents {
    static func quoted(_ name: String) -> String {
        let isPlain =
            name.utf8.first.map { $0 == UInt8(ascii: "_") || ($0 &- UInt8(ascii: "a")) < 26 } == true
            && name.utf8.allSatisfy { $0 == UInt8(ascii: "_") || ($0 &- UInt8(ascii: "a")) < 26 || isDigit($0) }
        return isPlain && !SQLWord.isKeyword(name) ? name : SQLQuoting.identifier(name)
    }

    /// What a view selects: what stands behind AS.
    static func query(ofView sql: String) -> String {
        sql.withBytes { bytes in
            let start = SQLLexer(bytes).first { $0.matches("as") }?.end ?? 0
            let text = String(decoding: bytes[start...], as: UTF8.self)
            return " " + String(text.drop { $0.isWhitespace }) + ";"
        }
    }

    /// An index's keys as text: a column's name, or an expression as it was written.
    static func expressions(of index: ServedSchema.Index) -> [String] {
        let names = index.columns.map { $0.name.map(quoted) }
        guard let sql = index.sql, names.contains(where: { $0 == nil }) else { return names.map { $0 ?? "" } }
        let written = sql.withBytes { keys(of: $0) }
        return names.enumerated().map { position, name in name ?? (position < written.count ? written[position] : "") }
    }

    /// The texts between the commas of CREATE INDEX … ON t (…), without ASC or DESC.
    private static func keys(of sql: UnsafeRawBufferPointer) -> [String] {
        var cursor = TokenCursor(sql)
        while cursor.token != nil, !cursor.accept(.leftParenthesis) { cursor.advance() }
        return ((try? cursor.parenthesisedList()) ?? []).map { range in
            var end = range.upperBound
            let tokens = Array(SQLLexer(UnsafeRawBufferPointer(rebasing: sql[range])))
            if let last = tokens.last, last.matches("asc") || last.matches("desc") { end = range.lowerBound + last.start }
            var text = String(decoding: sql[range.lowerBound..<end], as: UTF8.self)
            while text.last?.isWhitespace == true { text.removeLast() }
            return text
        }
    }

    /// A partial index's condition.
    static func condition(of index: ServedSchema.Index) -> String? {
        index.sql?.withBytes { bytes in
            var depth = 0
            for token in SQLLexer(bytes) {
                if token.kind == .leftParenthesis { depth += 1 }
                if token.kind == .rightParenthesis { depth -= 1 }
                if depth == 0, token.matches("where") {
                    let text = String(decoding: bytes[token.end...], as: UTF8.self)
                    return String(text.drop { $0.isWhitespace })
                }
            }
            return nil
        }
    }
}
