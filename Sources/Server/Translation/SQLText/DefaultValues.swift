import PostgresWire

/// `INSERT INTO t (id, a) VALUES (DEFAULT, $1)`, as Drizzle and TypeORM write it for every column that was left out. SQLite
/// has no such word, and needs none: a column that is not named gets its default (https://www.sqlite.org/lang_insert.html).
enum DefaultValues {
    /// The INSERT without the columns that are DEFAULT in all of its rows; nil for every other statement.
    static func rewritten(_ sql: UnsafeRawBufferPointer) throws(WireError) -> [UInt8]? {
        guard mayHaveSome(sql) else { return nil }
        let table = TokenTable(sql)
        guard let values = topLevelValues(table) else { return nil }
        var rows: [[Range<Int>]] = []
        var index = values + 1
        while let close = closing(index, table) {
            rows.append(items(index + 1, close, table))
            guard table[close + 1]?.kind == .comma else { break }
            index = close + 2
        }
        func isDefault(_ item: Range<Int>) -> Bool { item.count == 1 && table.tokens[item.lowerBound].matches("default") }
        guard rows.contains(where: { $0.contains(where: isDefault) }), let end = closing(index, table) else { return nil }
        guard let open = columnList(before: values, table) else {
            throw refusal("DEFAULT needs the names of the columns", "Name those that get a value: INSERT INTO t (a, b) VALUES …")
        }
        let columns = items(open + 1, values - 1, table)
        // SQLite says what is wrong with those that have a comma too many.
        guard rows.allSatisfy({ $0.count == columns.count && !$0.contains(where: \.isEmpty) }), !columns.contains(where: \.isEmpty)
        else { return nil }
        let kept = columns.indices.filter { column in !rows.allSatisfy { isDefault($0[column]) } }
        guard rows.allSatisfy({ row in !kept.contains { isDefault(row[$0]) } }) else {
            throw refusal(
                "DEFAULT is a column's value in some of the rows and not in all",
                "Give the rows that want its default an INSERT of their own, without the column.")
        }
        guard rows.count == 1 || !kept.isEmpty else {
            throw refusal("several rows are all DEFAULT", "Send INSERT INTO t DEFAULT VALUES for each of them.")
        }
        func list(_ items: [Range<Int>]) -> [UInt8] {
            let texts = kept.map { Array(sql[table.tokens[items[$0].lowerBound].start..<table.tokens[items[$0].upperBound - 1].end]) }
            return Array("(".utf8) + texts.joined(separator: ", ".utf8) + Array(")".utf8)
        }
        let head = Array(sql[..<table.tokens[open].start]), tail = Array(sql[table.tokens[end].end...])
        if kept.isEmpty {
            // https://www.sqlite.org/syntax/insert-stmt.html: there it is for VALUES and SELECT.
            if table[end + 1]?.matches("on") == true {
                throw refusal("ON CONFLICT stands behind columns that are all DEFAULT", "Name one of them with a value.")
            }
            // The parenthesis needs no space before it, and the word does.
            return head + Array(isApart(head.last) ? "DEFAULT VALUES".utf8 : " DEFAULT VALUES".utf8)
                + (isApart(tail.first) ? [] : [UInt8(ascii: " ")]) + tail
        }
        return head + list(columns) + Array(" VALUES ".utf8) + rows.map(list).joined(separator: ", ".utf8) + tail
    }

    /// Whether nothing that stands there can become a part of a word.
    private static func isApart(_ byte: UInt8?) -> Bool {
        guard let byte else { return true }
        return byte <= UInt8(ascii: " ") || byte == UInt8(ascii: ";")
    }

    private static func refusal(_ message: String, _ hint: String) -> WireError {
        WireError(state: .featureNotSupported, message: message, hint: hint)
    }

    /// Looks for the word's f, which is quicker than reading tokens.
    private static func mayHaveSome(_ sql: UnsafeRawBufferPointer) -> Bool {
        for letter in ["f", "F"] as [UnicodeScalar] {
            var position = 2
            while position + 5 <= sql.count, let found = sql.firstIndex(of: letter, from: position) {
                position = found + 1
                if sql[(position - 3)...].prefix(7).lazy.map(lowerASCII).elementsEqual("default".utf8) { return true }
            }
        }
        return false
    }

    private static func topLevelValues(_ table: TokenTable) -> Int? {
        var index = 0
        while let token = table[index] {
            if token.matches("select") { return nil }
            if token.matches("values") { return table[index - 1]?.matches("default") == true ? nil : index }
            index = table.after(index)
        }
        return nil
    }

    /// The `(` of the names before VALUES.
    private static func columnList(before values: Int, _ table: TokenTable) -> Int? {
        guard table[values - 1]?.kind == .rightParenthesis else { return nil }
        return table.otherParenthesis(values - 1)
    }

    private static func closing(_ open: Int, _ table: TokenTable) -> Int? {
        guard table[open]?.kind == .leftParenthesis else { return nil }
        return table.otherParenthesis(open)
    }

    /// The tokens between commas.
    private static func items(_ first: Int, _ close: Int, _ table: TokenTable) -> [Range<Int>] {
        var items: [Range<Int>] = []
        var (start, index) = (first, first)
        while index < close {
            if table.tokens[index].kind == .comma {
                items.append(start..<index)
                start = index + 1
            }
            index = table.after(index)
        }
        return first < close ? items + [start..<close] : items
    }
}
