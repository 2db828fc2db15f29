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
            switch patternEnd(index + 1, table) {
            case .found(let end): places.append(table.tokens[end - 1].end)
            case .escaped, .missing, .plain: break
            case .unclear(let hint):
                throw WireError(
                    state: .featureNotSupported, message: "the end of LIKE's pattern is not understood",
                    hint: "\(hint): like_escape is backslash.",
                    position: ErrorTranslation.characterPosition(ofByte: table.tokens[index].start, in: sql))
            }
        }
        guard !places.isEmpty else { return nil }
        var result: [UInt8] = []
        var taken = 0
        for place in places.sorted() {
            result += sql[taken..<place]
            result += " ESCAPE '\\'".utf8
            // An alias may be a string.
            if place < sql.count, sql[place] == UInt8(ascii: "'") { result.append(UInt8(ascii: " ")) }
            taken = place
        }
        return result + sql[taken...]
    }

    /// Not the function of that name, nor what stands behind nothing that can be matched. A table called so has no pattern behind it.
    private static func isOperator(_ index: Int, _ table: TokenTable) -> Bool {
        guard table.tokens[index].matches("like") else { return false }
        let last = table[index - 1]?.matches("not") == true ? index - 2 : index - 1
        return (table.endsOperand(last) || table.isPostfix(last)) && !isCommonTable(index, table)
    }

    /// `WITH RECURSIVE like(a) AS (…)`.
    private static func isCommonTable(_ index: Int, _ table: TokenTable) -> Bool {
        guard let word = table[index - 1], word.matches("with") || word.matches("recursive") else { return false }
        guard table[index + 1]?.kind == .leftParenthesis, case let next = table.after(index + 1), table[next]?.matches("as") == true
        else { return false }
        return table[next + 1].map { $0.kind == .leftParenthesis || $0.matches("not") || $0.matches("materialized") } ?? false
    }

    private enum PatternEnd {
        /// The index behind the pattern.
        case found(Int)
        case escaped
        /// A string without a backslash: it means the same, and is what a partial index or an ON CONFLICT has.
        case plain
        /// SQLite complains.
        case missing
        case unclear(hint: String)
    }

    /// Behind the operand, and what binds more tightly than LIKE.
    private static func patternEnd(_ first: Int, _ table: TokenTable) -> PatternEnd {
        let extent = OperandExtent(table: table)
        var index = first
        while true {
            while let sign = table[index], sign.isSymbol("-") || sign.isSymbol("+") || sign.isSymbol("~") { index += 1 }
            guard let token = table[index], token.kind != .rightParenthesis, token.kind != .comma, token.kind != .semicolon else {
                return .missing
            }
            // A parenthesis that nothing closes is not for here to complain of either, nor a CASE without an END.
            guard let end = table.endOfCase(index).map({ $0 + 1 }) ?? extent.primaryEnd(index) else {
                return token.matches("not") || token.matches("exists") ? .unclear(hint: "Put the pattern in parentheses") : .missing
            }
            index = end
            while table[index]?.matches("collate") == true, table[index + 1]?.isIdentifierLike == true { index += 2 }
            let isPlain = index == first + 1 && token.kind == .string && !token.bytes.contains(UInt8(ascii: "\\"))
            guard let next = table[index] else { return isPlain ? .plain : .found(index) }
            if next.matches("escape") { return .escaped }
            // They bind more tightly to SQLite, and less to PostgreSQL.
            if next.isSymbol("<") || next.isSymbol("<=") || next.isSymbol(">") || next.isSymbol(">=") {
                return .unclear(hint: "Write ESCAPE '\\' behind the pattern")
            }
            guard next.isArithmetic || next.isSymbol("||") || next.isSymbol("->") || next.isSymbol("->>") else {
                return isPlain ? .plain : .found(index)
            }
            index += 1
        }
    }
}
