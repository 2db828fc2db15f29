import PostgresWire

/// A result type that SQLite cannot contradict, except by NULL.
enum StaticType: Sendable, Equatable {
    case int8, bool, float8, text, bytea
    /// The literal NULL: PostgreSQL's type `unknown`.
    case unknown
    /// bool if the columns in it are declared BOOLEAN, which the text does not say.
    case perhapsBool
    /// The time of now: text, as SQLite has it, that is announced as this with result_typing = declared.
    case date, timestamptz
}

/// The types of a SELECT's result columns as far as the text of the statement decides them, for a Describe that
/// comes before there is any row. Real columns, the rowid included, are left to `sqlite3_column_decltype`.
enum SelectListTypes {
    /// nil when nothing can be said of the list: a compound SELECT, another statement, or another number of
    /// expressions than `columnCount`, the number SQLite has found. Of `*` nothing is said, nor of what is between two of them.
    static func infer(_ statement: UnsafeRawBufferPointer, columnCount: Int) -> [StaticType?]? {
        let table = TokenTable(statement)
        guard let items = items(table) else { return nil }
        let classifier = ExpressionClassifier(table: table, seeksBooleans: true)
        func type(_ item: Range<Int>) -> StaticType? {
            let expression = withoutAlias(item, table)
            return now(expression, table) ?? classifier.classify(expression).flatMap(StaticType.init)
        }
        guard let star = items.firstIndex(where: { isStar($0, table) }), let last = items.lastIndex(where: { isStar($0, table) }) else {
            return items.count == columnCount ? items.map(type) : nil
        }
        let (head, tail) = (items[..<star].map(type), items[(last + 1)...].map(type))
        let stars = columnCount - head.count - tail.count
        return stars > 0 ? head + Array(repeating: nil, count: stars) + tail : nil
    }

    /// CURRENT_DATE, CURRENT_TIMESTAMP, now() and its like.
    private static func now(_ item: Range<Int>, _ table: TokenTable) -> StaticType? {
        guard let first = item.first, case let token = table.tokens[first], token.kind == .identifier else { return nil }
        if item.count == 1 { return token.matches("current_date") ? .date : token.matches("current_timestamp") ? .timestamptz : nil }
        guard item.count == 3, table.tokens[first + 1].kind == .leftParenthesis, table.tokens[first + 2].kind == .rightParenthesis
        else { return nil }
        let isNow =
            token.matches("now") || token.matches("clock_timestamp") || token.matches("statement_timestamp")
            || token.matches("transaction_timestamp")
        return isNow ? .timestamptz : nil
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
        return items
    }

    /// The main SELECT, the first token or the word after a common table expression's `)`, or a writing statement's RETURNING, which
    /// is a word that names nothing to SQLite.
    private static func selectIndex(_ table: TokenTable) -> Int? {
        guard let first = table[0] else { return nil }
        if first.matches("select") { return 0 }
        var verb = 0
        if first.matches("with") {
            repeat {
                verb = table.after(verb)
                guard let token = table[verb] else { return nil }
                if token.matches("select") { return verb }
            } while !isWriting(table.tokens[verb]) || table.tokens[verb - 1].kind != .rightParenthesis
        }
        guard isWriting(table.tokens[verb]) else { return nil }
        while verb < table.count, !table.tokens[verb].matches("returning") { verb = table.after(verb) }
        return verb < table.count ? verb : nil
    }

    private static func isWriting(_ token: SQLToken) -> Bool {
        token.matches("insert") || token.matches("replace") || token.matches("update") || token.matches("delete")
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
        let canName =
            token.kind == .quotedIdentifier || token.kind == .string
            || (token.kind == .identifier && !token.isReservedWord)
        return canName && table.endsOperand(last - 1) ? item.dropLast() : item
    }
}

extension StaticType {
    /// With result_typing = declared.
    var ownType: TypeOID? {
        switch self {
        case .date: .date
        case .timestamptz: .timestamptz
        default: nil
        }
    }

    fileprivate init?(_ expression: ExpressionClass) {
        switch expression {
        case .null: self = .unknown
        case .int8: self = .int8
        case .bool: self = .bool
        case .float8: self = .float8
        case .text: self = .text
        case .bytea: self = .bytea
        case .perhapsBoolean: self = .perhapsBool
        case .numeric, .textOrBytes: return nil
        }
    }
}
