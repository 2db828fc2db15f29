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
        guard let list = SelectList(table) else { return nil }
        let classifier = ExpressionClassifier(table: table, seeksBooleans: true)
        return list.spread(columnCount: columnCount) { item in
            let expression = list.withoutAlias(item)
            // What it is made of may say more of it than that it is a text.
            if isTruncation(expression, table) { return nil }
            return moment(expression, table) ?? classifier.classify(expression).flatMap(StaticType.init)
        }
    }

    private static func isTruncation(_ item: Range<Int>, _ table: TokenTable) -> Bool {
        item.first.map { table.tokens[$0].matches("date_trunc") && isCall($0, item, table) } ?? false
    }

    /// Whether the item is a call of the function that it begins with.
    private static func isCall(_ first: Int, _ item: Range<Int>, _ table: TokenTable) -> Bool {
        table[first + 1]?.kind == .leftParenthesis && table.after(first + 1) == item.upperBound
    }

    /// CURRENT_DATE, CURRENT_TIMESTAMP, now() and its like, and date(), whose result is a date in PostgreSQL, too.
    private static func moment(_ item: Range<Int>, _ table: TokenTable) -> StaticType? {
        guard let first = item.first, case let token = table.tokens[first], token.kind == .identifier else { return nil }
        if item.count == 1 { return token.matches("current_date") ? .date : token.matches("current_timestamp") ? .timestamptz : nil }
        if token.matches("date"), isCall(first, item, table) { return .date }
        guard item.count == 3, table.tokens[first + 1].kind == .leftParenthesis, table.tokens[first + 2].kind == .rightParenthesis
        else { return nil }
        let isNow =
            token.matches("now") || token.matches("clock_timestamp") || token.matches("statement_timestamp")
            || token.matches("transaction_timestamp")
        return isNow ? .timestamptz : nil
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
