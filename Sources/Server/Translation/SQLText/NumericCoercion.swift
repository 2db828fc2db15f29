import Glibc
import PostgresWire

/// Refuses what PostgreSQL calculates and SQLite makes a number of without a word: `now() - at`, `current_date + 30`,
/// `CAST(at AS date)`, `CAST('true' AS boolean)`.
enum NumericCoercion {
    static func check(_ sql: UnsafeRawBufferPointer) throws(WireError) {
        guard mayHaveSome(sql) else { return }
        let table = TokenTable(sql)
        var casts = 0
        for index in table.tokens.indices {
            if let high = momentEnd(index, table), isOperand(index, high, table) { throw refusalOfMoment }
            guard table.tokens[index].matches("cast") else { continue }
            casts += 1
            if let type = castType(index, table, isOneOfMany: casts > readWhole) { throw refusedCast(type) }
        }
    }

    /// So many CASTs are read with all that they hold: they may stand in each other, and each is read from its beginning.
    private static let readWhole = 100
    /// And of those behind them only so many levels of what they hold.
    static let depthOfOthers = 4

    /// A statement without a sign and without CAST costs some calls of memchr; others are read once, and nothing is kept.
    private static func mayHaveSome(_ sql: UnsafeRawBufferPointer) -> Bool {
        guard sql.firstIndex(of: "-") != nil || sql.firstIndex(of: "+") != nil || hasCast(sql) else { return false }
        var (hasSign, hasMoment, hasCast) = (false, false, false)
        var last: SQLToken?
        for token in SQLLexer(sql) {
            // The sign of a negative number stands behind no operand.
            hasSign = hasSign || (isSign(token) && last.map { $0.endsOperand || $0.mayBeName } == true)
            if token.kind == .identifier {
                hasMoment = hasMoment || isMomentWord(token) || isMomentFunction(token)
                hasCast = hasCast || token.matches("cast")
            }
            if hasCast, last?.matches("as") == true, isRefusedType(token) { return true }
            if hasCast, isBrackets(token) || token.matches("array") { return true }
            if hasSign, hasMoment { return true }
            last = token
        }
        return false
    }

    private static func hasCast(_ sql: UnsafeRawBufferPointer) -> Bool {
        var start = 0
        while let open = sql.firstIndex(of: "(", from: start) {
            start = open + 1
            var end = open
            while end > 0, isSpace(sql[end - 1]) { end -= 1 }
            // A comment between them may hide the word, or a byte order mark, which is space to SQLite.
            if end > 1, sql[end - 1] == UInt8(ascii: "/"), sql[end - 2] == UInt8(ascii: "*") { return true }
            if end > 0, sql[end - 1] >= 0x80 { return true }
            if end > 3, sql[end - 1] | 0x20 == UInt8(ascii: "t"), sql[end - 2] | 0x20 == UInt8(ascii: "s") { return true }
        }
        return false
    }
}
