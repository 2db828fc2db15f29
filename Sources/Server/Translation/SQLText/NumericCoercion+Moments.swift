import PostgresWire

/// Dates and times beside + and -.
///
/// To an operator of SQLite's a text is a number as far as it begins with one, so `now() - at` is the difference of two years
/// (https://www.sqlite.org/lang_expr.html#operators_and_parse_affecting_attributes). Only what names a date by itself is refused.
/// Columns are not: one that is declared DATETIME may hold seconds.
extension NumericCoercion {
    static func refusal(ofArithmeticWith type: TypeOID) -> WireError {
        refusal("a value of type \(type.sqlName)", hint: hint(forArithmeticWith: type))
    }

    /// Of what is a date or time by its name.
    static var refusalOfMoment: WireError { refusal("a date or time", hint: hint(forArithmeticWith: .timestamp)) }

    private static func refusal(_ subject: String, hint: String?) -> WireError {
        WireError(
            state: .featureNotSupported, message: "\(subject) stands where SQLite calculates, and it calculates with numbers only",
            hint: hint)
    }

    /// nil: there is nothing to calculate.
    static func hint(forArithmeticWith type: TypeOID) -> String? {
        switch type {
        case .json, .jsonb: "Write json_remove(x, '$.key') for x - 'key', and x ->> '$.key' for a number in it."
        case _ where PostgresSpelling.isMoment(type):
            "Write datetime(x, '-1 day') for x - interval '1 day', date('now', '-30 days') for current_date - 30, julianday(x) - "
                + "julianday(y) for the days between two, and strftime('%Y', x) for the year."
        default: nil
        }
    }

    /// The last token of the date or time that begins here.
    static func momentEnd(_ index: Int, _ table: TokenTable) -> Int? {
        let token = table.tokens[index]
        guard token.kind == .identifier, table[index - 1]?.isSymbol(".") != true else { return nil }
        if isMomentWord(token) { return index }
        guard isMomentFunction(token), table[index + 1]?.kind == .leftParenthesis else { return nil }
        return table.otherParenthesis(index + 1)
    }

    /// Whether it is added or subtracted, perhaps in parentheses that are no call's.
    static func isOperand(_ first: Int, _ last: Int, _ table: TokenTable) -> Bool {
        var (low, high) = (first, last)
        while true {
            if let right = table[high + 1], isSign(right) { return true }
            if let left = table[low - 1], isSign(left), table.endsOperand(low - 2) { return true }
            guard table[low - 1]?.kind == .leftParenthesis, table.otherParenthesis(low - 1) == high + 1 else { return false }
            if let before = table[low - 2], before.isIdentifierLike, !before.isReservedWord { return false }
            (low, high) = (low - 1, high + 1)
        }
    }

    static func isSign(_ token: SQLToken) -> Bool { token.isSymbol("+") || token.isSymbol("-") }

    static func isMomentWord(_ token: SQLToken) -> Bool {
        token.matches("current_date") || token.matches("current_time") || token.matches("current_timestamp")
    }

    static func isMomentFunction(_ token: SQLToken) -> Bool {
        token.matches("now") || token.matches("date") || token.matches("time") || token.matches("datetime")
            || token.matches("date_trunc") || token.matches("clock_timestamp") || token.matches("statement_timestamp")
            || token.matches("transaction_timestamp")
    }
}
