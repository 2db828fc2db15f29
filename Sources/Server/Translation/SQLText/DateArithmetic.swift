import Glibc
import PostgresWire

/// Refuses what PostgreSQL calculates with dates and SQLite answers without a word and wrongly: `now() - at`, `current_date + 30`,
/// `CAST(at AS date)`.
///
/// To an operator of SQLite's a text is a number as far as it begins with one, so `now() - at` is the difference of two years
/// (https://www.sqlite.org/lang_expr.html#operators_and_parse_affecting_attributes), and a type it does not know is NUMERIC to CAST
/// (https://www.sqlite.org/lang_expr.html#castexpr). Only what names a date by itself is refused. Columns are not: one that is declared
/// DATETIME may hold seconds.
enum DateArithmetic {
    static func check(_ sql: UnsafeRawBufferPointer) throws(WireError) {
        guard mayHaveSome(sql) else { return }
        let table = TokenTable(sql)
        for index in table.tokens.indices {
            if let high = momentEnd(index, table), isOperand(index, high, table) { throw refusal("a date or time") }
            if let type = castType(index, table) { throw refusedCast(type) }
        }
    }

    static func refusal(_ subject: String) -> WireError {
        WireError(
            state: .featureNotSupported, message: "\(subject) stands where SQLite calculates, and it calculates with numbers only",
            hint: "Write datetime(x, '-1 day') for x - interval '1 day', date('now', '-30 days') for current_date - 30, julianday(x) - "
                + "julianday(y) for the days between two, and strftime('%Y', x) for the year.")
    }

    private static func refusedCast(_ type: String) -> WireError {
        let hint =
            switch type.lowercased() {
            case "boolean", "bool": "'true'::boolean is read as PostgreSQL reads it."
            case "json", "jsonb": "json(x) checks a text and leaves out its spaces, and $1::\(type) gives a parameter its type."
            case "bytea": "CAST(x AS BLOB) takes a text's bytes, and '\\x6162'::bytea is read as PostgreSQL reads it."
            case "regclass": "'name'::regclass is understood in questions to the catalogs."
            default: "date(x), time(x) and datetime(x) make a date or time of SQLite's text, and $1::\(type) gives a parameter its type."
            }
        return WireError(
            state: .featureNotSupported, message: "SQLite's CAST to \(type) makes a number, as of a text's first digits", hint: hint)
    }

    /// A statement without a sign and without CAST costs some calls of memchr; others are read once, and nothing is kept.
    private static func mayHaveSome(_ sql: UnsafeRawBufferPointer) -> Bool {
        guard has(sql, "-") || has(sql, "+") || hasCast(sql) else { return false }
        var (hasSign, hasMoment, hasCast) = (false, false, false)
        var last: SQLToken?
        for token in SQLLexer(sql) {
            // The sign of a negative number stands behind no operand.
            hasSign = hasSign || (isSign(token) && last.map(endsOperand) == true)
            if token.kind == .identifier {
                hasMoment = hasMoment || isMomentWord(token) || isMomentFunction(token)
                if hasCast, isRefusedType(token) { return true }
                hasCast = hasCast || token.matches("cast")
            }
            if hasSign, hasMoment { return true }
            last = token
        }
        return false
    }

    private static func has(_ sql: UnsafeRawBufferPointer, _ byte: UnicodeScalar) -> Bool {
        sql.baseAddress.map { memchr($0, Int32(byte.value), sql.count) != nil } ?? false
    }

    private static func hasCast(_ sql: UnsafeRawBufferPointer) -> Bool {
        guard let base = sql.baseAddress else { return false }
        var start = 0
        while start < sql.count, let open = memchr(base + start, Int32(UInt8(ascii: "(")), sql.count - start) {
            start = base.distance(to: open) + 1
            var end = start - 1
            while end > 0, isSpace(sql[end - 1]) { end -= 1 }
            if end > 3, sql[end - 1] | 0x20 == UInt8(ascii: "t"), sql[end - 2] | 0x20 == UInt8(ascii: "s") { return true }
        }
        return false
    }

    private static func endsOperand(_ token: SQLToken) -> Bool {
        switch token.kind {
        case .quotedIdentifier, .string, .blob, .number, .parameter, .rightParenthesis: true
        case .identifier: token.matches("null") || token.matches("end") || !token.isReservedWord
        default: false
        }
    }

    // MARK: Operands of + and -

    /// The last token of the date or time that begins here.
    private static func momentEnd(_ index: Int, _ table: TokenTable) -> Int? {
        let token = table.tokens[index]
        guard token.kind == .identifier, table[index - 1]?.isSymbol(".") != true else { return nil }
        if isMomentWord(token) { return index }
        guard isMomentFunction(token), table[index + 1]?.kind == .leftParenthesis else { return nil }
        return table.otherParenthesis(index + 1)
    }

    /// Whether it is added or subtracted, perhaps in parentheses that are no call's.
    private static func isOperand(_ first: Int, _ last: Int, _ table: TokenTable) -> Bool {
        var (low, high) = (first, last)
        while true {
            if let right = table[high + 1], isSign(right) { return true }
            if let left = table[low - 1], isSign(left), let before = table[low - 2], endsOperand(before) { return true }
            guard table[low - 1]?.kind == .leftParenthesis, table.otherParenthesis(low - 1) == high + 1 else { return false }
            if let before = table[low - 2], before.isIdentifierLike, !before.isReservedWord { return false }
            (low, high) = (low - 1, high + 1)
        }
    }

    private static func isSign(_ token: SQLToken) -> Bool { token.isSymbol("+") || token.isSymbol("-") }

    private static func isMomentWord(_ token: SQLToken) -> Bool {
        token.matches("current_date") || token.matches("current_time") || token.matches("current_timestamp")
    }

    private static func isMomentFunction(_ token: SQLToken) -> Bool {
        token.matches("now") || token.matches("date") || token.matches("time") || token.matches("datetime")
            || token.matches("date_trunc") || token.matches("clock_timestamp") || token.matches("statement_timestamp")
            || token.matches("transaction_timestamp")
    }

    // MARK: CAST

    /// The type, where it is one of PostgreSQL's that SQLite keeps as text. Of NULL a CAST makes NULL.
    private static func castType(_ index: Int, _ table: TokenTable) -> String? {
        guard table.tokens[index].matches("cast"), table[index + 1]?.kind == .leftParenthesis,
            let close = table.otherParenthesis(index + 1)
        else { return nil }
        var found: Int?
        var next = index + 2
        while next < close {
            if table.tokens[next].matches("as") { found = next + 1 }
            next = table.after(next)
        }
        guard let found, found < close, isRefusedType(table.tokens[found]), isWholeType(found, close, table) else { return nil }
        let operand = found == index + 4 ? table.tokens[index + 2] : nil
        // Of a number CAST makes itself, which is a truth to SQLite.
        if isBoolean(table.tokens[found]), operand?.kind != .string { return nil }
        return operand?.matches("null") == true ? nil : table.tokens[found].name
    }

    private static func isRefusedType(_ token: SQLToken) -> Bool {
        token.matches("date") || token.matches("time") || token.matches("timetz") || token.matches("timestamp")
            || token.matches("timestamptz") || token.matches("interval") || token.matches("uuid") || token.matches("json")
            || token.matches("jsonb") || token.matches("bytea") || token.matches("regclass") || isBoolean(token)
    }

    private static func isBoolean(_ token: SQLToken) -> Bool { token.matches("boolean") || token.matches("bool") }

    /// `timestamp`, `timestamp(3)` and `timestamp with time zone`; not `date text`, which is a text to SQLite.
    private static func isWholeType(_ first: Int, _ close: Int, _ table: TokenTable) -> Bool {
        var next = first + 1
        if table.tokens[next].kind == .leftParenthesis { next = table.after(next) }
        return next == close || table.tokens[next].matches("with") || table.tokens[next].matches("without")
    }
}
