/// The one INSERT that SQLAlchemy writes for PostgreSQL only: several rows whose generated keys it wants back in order.
///
/// `INSERT INTO t (a) SELECT p0::TYPE FROM (VALUES ($1::TYPE, 0), …) AS imp_sen(p0, sen_counter) ORDER BY sen_counter
/// RETURNING id`. SQLite names no columns behind a table's alias; it calls those of VALUES column1, column2, …
/// (https://www.sqlite.org/lang_select.html#the_values_clause). The types stand at the parameters as well.
enum SentinelInsert {
    /// The statement as SQLite takes it, nil for every other.
    static func rewritten(_ sql: UnsafeRawBufferPointer) -> [UInt8]? {
        // Nearly all INSERTs, some of them long, end here.
        guard mentionsAlias(sql) else { return nil }
        let tokens = Array(SQLLexer(sql))
        guard let alias = tokens.firstIndex(where: { $0.matches("imp_sen") }), alias > 0, tokens[alias - 1].matches("as"),
            let select = tokens.firstIndex(where: { $0.matches("select") }),
            let from = tokens.firstIndex(where: { $0.matches("from") }), select < from, from < alias,
            let (names, close) = columnNames(tokens, alias + 1), close + 3 < tokens.count,
            tokens[close + 1].matches("order"), tokens[close + 2].matches("by"),
            let order = names.firstIndex(of: tokens[close + 3].name)
        else { return nil }
        let indexes = Dictionary(zip(names, names.indices), uniquingKeysWith: min)
        var result: [UInt8] = Array(sql[..<tokens[select].end])
        var isFirst = true
        for item in items(Array(tokens[(select + 1)..<from])) {
            // `p0` alone, or with its type.
            guard let name = item.first?.name, let index = indexes[name],
                item.count == 1 || item[1].firstByte == UInt8(ascii: ":")
            else { return nil }
            result += Array((isFirst ? " column" : ", column").utf8) + Array(String(index + 1).utf8)
            isFirst = false
        }
        result += Array(" ".utf8) + Array(sql[tokens[from].start..<tokens[alias - 1].start])
        result += Array("ORDER BY column\(order + 1)".utf8) + Array(sql[tokens[close + 3].end...])
        return result
    }

    /// Looks for the name's underscore, which is quicker than reading tokens.
    private static func mentionsAlias(_ sql: UnsafeRawBufferPointer) -> Bool {
        guard sql.count > 7 else { return false }
        var position = 3
        while position + 4 <= sql.count, let found = sql.firstIndex(of: "_", from: position) {
            position = found + 1
            if sql[..<position].suffix(4).elementsEqual("imp_".utf8), sql[position...].starts(with: "sen".utf8) { return true }
        }
        return false
    }

    private static func columnNames(_ tokens: [SQLToken], _ open: Int) -> ([String], Int)? {
        guard open < tokens.count, tokens[open].kind == .leftParenthesis,
            let close = tokens[open...].firstIndex(where: { $0.kind == .rightParenthesis })
        else { return nil }
        return (tokens[(open + 1)..<close].filter(\.isIdentifierLike).map(\.name), close)
    }

    private static func items(_ tokens: [SQLToken]) -> [[SQLToken]] {
        tokens.split { $0.kind == .comma }.map(Array.init)
    }
}
