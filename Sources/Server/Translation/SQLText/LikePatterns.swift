import PostgresWire
import SQLite

/// `x LIKE 'my\_file'` as PostgreSQL has it, for `like_escape = backslash`: "The default escape character is the backslash"
/// (https://www.postgresql.org/docs/current/functions-matching.html#FUNCTIONS-LIKE). SQLite has none: "If the optional ESCAPE clause is
/// present …" (https://www.sqlite.org/lang_expr.html#like). Django and Rails rely on PostgreSQL's for what users search for.
enum LikePatterns {
    /// The setting `like_escape`.
    enum Escape: String, Sendable {
        case none, backslash
    }

    /// With ESCAPE behind each pattern that has none; nil: there is no such pattern.
    ///
    /// - Throws: `.featureNotSupported` where nobody here can tell where a pattern ends.
    static func escaped(_ sql: UnsafeRawBufferPointer) throws(WireError) -> [UInt8]? {
        guard SQLWord.stands("like", in: sql) else { return nil }
        let table = TokenTable(sql)
        // Of patterns in which others stand the outer ones end behind those.
        var places: [Int] = []
        for index in table.tokens.indices where isOperator(index, table) {
            guard let end = patternEnd(index + 1, table) else {
                throw WireError(
                    state: .featureNotSupported, message: "the end of LIKE's pattern is not understood",
                    hint: "Put the pattern in parentheses, or write ESCAPE '\\' behind it: like_escape is backslash.",
                    position: ErrorTranslation.characterPosition(ofByte: table.tokens[index].start, in: sql))
            }
            if table[end]?.matches("escape") != true { places.append(table.tokens[end - 1].end) }
        }
        guard !places.isEmpty else { return nil }
        var result: [UInt8] = []
        var taken = 0
        for place in places.sorted() {
            result += sql[taken..<place]
            result += " ESCAPE '\\'".utf8
            taken = place
        }
        return result + sql[taken...]
    }

    /// Not the function of that name, nor a column's.
    private static func isOperator(_ index: Int, _ table: TokenTable) -> Bool {
        guard table.tokens[index].matches("like"), table[index + 1] != nil else { return false }
        let before = table[index - 1]?.matches("not") == true ? index - 2 : index - 1
        return table.endsOperand(before) || table[before]?.matches("isnull") == true || table[before]?.matches("notnull") == true
    }

    /// Behind the operand, and what binds more tightly than LIKE.
    private static func patternEnd(_ first: Int, _ table: TokenTable) -> Int? {
        let extent = OperandExtent(table: table)
        var index = first
        while true {
            while let sign = table[index], sign.isSymbol("-") || sign.isSymbol("+") || sign.isSymbol("~") { index += 1 }
            // Not a CASE that stands in no parentheses: of many in each other all would be read for each.
            guard let end = extent.primaryEnd(index) else { return nil }
            index = end
            while table[index]?.matches("collate") == true, table[index + 1]?.isIdentifierLike == true { index += 2 }
            guard let next = table[index], next.isArithmetic || next.isSymbol("||") || next.isSymbol("->") || next.isSymbol("->>") else {
                return index
            }
            index += 1
        }
    }
}
