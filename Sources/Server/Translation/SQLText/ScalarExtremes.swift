/// `max(a, b)`, `min(a, b)` and `least(a, b)` as `greatest(a, b)`, for a program that says of what type they and their arguments are.
///
/// They take any number of arguments, and in a program it is not seen how many; of greatest() it is, of which there are forms with a
/// fixed number (`PlainFunctions.shownExtremes`).
enum ScalarExtremes {
    /// nil when there are none.
    static func replaced(in sql: UnsafeRawBufferPointer) -> [UInt8]? {
        let table = TokenTable(sql)
        var result: [UInt8] = []
        var taken = 0
        for (index, token) in table.tokens.enumerated() where isCall(index, token, table) {
            result += sql[taken..<token.start]
            result += Array("greatest".utf8)
            taken = token.end
        }
        guard taken > 0 else { return nil }
        return result + sql[taken...]
    }

    private static func isCall(_ index: Int, _ token: SQLToken, _ table: TokenTable) -> Bool {
        guard token.kind == .identifier, isName(token), table[index - 1]?.isSymbol(".") != true,
            table[index + 1]?.kind == .leftParenthesis, let close = table.otherParenthesis(index + 1)
        else { return false }
        // With one argument it is the aggregate.
        var next = index + 2
        while next < close {
            if table.tokens[next].kind == .comma { return true }
            next = table.after(next)
        }
        return false
    }

    private static func isName(_ token: SQLToken) -> Bool {
        token.matches("max") || token.matches("min") || token.matches("least")
    }
}
