/// A result type that SQLite cannot contradict, except by NULL.
enum StaticType: Sendable, Equatable {
    case int8, float8, text, bytea
    /// The literal NULL: PostgreSQL's type `unknown`.
    case unknown
}

/// The types of a SELECT's result columns as far as the text of the statement decides them, for a Describe that
/// comes before there is any row. Real columns, the rowid included, are left to `sqlite3_column_decltype`.
enum SelectListTypes {
    /// nil when nothing can be said of the list: a `*`, a compound SELECT, another statement, or another number of
    /// expressions than `columnCount`, the number SQLite has found.
    static func infer(_ statement: UnsafeRawBufferPointer, columnCount: Int) -> [StaticType?]? {
        let table = TokenTable(statement)
        guard let items = items(table), items.count == columnCount else { return nil }
        let classifier = ExpressionClassifier(table: table)
        return items.map { classifier.classify(withoutAlias($0, table)).flatMap(StaticType.init) }
    }

    private static func items(_ table: TokenTable) -> [Range<Int>]? {
        guard var index = selectIndex(table).map({ $0 + 1 }) else { return nil }
        if let word = table[index], word.matches("distinct") || word.matches("all") { index += 1 }
        var items: [Range<Int>] = []
        var start = index
        var listEnded = false
        while index < table.count {
            let token = table.tokens[index]
            if token.matches("union") || token.matches("intersect") || token.matches("except") { return nil }
            if !listEnded {
                let ends = token.kind == .semicolon || endsList(table, index)
                if ends || token.kind == .comma {
                    items.append(start..<index)
                    start = index + 1
                }
                listEnded = ends
            }
            index = table.after(index)
        }
        if !listEnded { items.append(start..<table.count) }
        return items.contains { isStar($0, table) } ? nil : items
    }

    /// The main SELECT: the first token, or the word after a common table expression's `)`.
    private static func selectIndex(_ table: TokenTable) -> Int? {
        guard let first = table[0] else { return nil }
        if first.matches("select") { return 0 }
        guard first.matches("with") else { return nil }
        var index = 1
        while index < table.count {
            let token = table.tokens[index]
            if token.kind == .identifier, table.tokens[index - 1].kind == .rightParenthesis, !token.matches("as") {
                return token.matches("select") ? index : nil
            }
            index = table.after(index)
        }
        return nil
    }

    private static func endsList(_ table: TokenTable, _ index: Int) -> Bool {
        let token = table.tokens[index]
        // The FROM of IS [NOT] DISTINCT FROM is an operator's.
        if token.matches("from") {
            return !(table[index - 1]?.matches("distinct") ?? false)
        }
        return token.matches("where") || token.matches("group") || token.matches("having") || token.matches("order")
            || token.matches("limit")
    }

    private static func isStar(_ item: Range<Int>, _ table: TokenTable) -> Bool {
        guard let last = item.last, table.tokens[last].isSymbol("*") else { return false }
        return item.count == 1 || table.tokens[last - 1].isSymbol(".")
    }

    /// `expression [AS] name`: the AS of a CAST is in parentheses, and two operands do not stand side by side.
    private static func withoutAlias(_ item: Range<Int>, _ table: TokenTable) -> Range<Int> {
        guard item.count > 1, let last = item.last else { return item }
        if table.tokens[last - 1].matches("as") { return item.dropLast(2) }
        let token = table.tokens[last]
        let canName = token.kind == .quotedIdentifier || token.kind == .string
            || (token.kind == .identifier && !token.isReservedWord)
        return canName && table.endsOperand(last - 1) ? item.dropLast() : item
    }
}

extension StaticType {
    fileprivate init?(_ expression: ExpressionClass) {
        switch expression {
        case .null: self = .unknown
        case .int8: self = .int8
        case .float8: self = .float8
        case .text: self = .text
        case .bytea: self = .bytea
        case .numeric, .textOrBytes: return nil
        }
    }
}
