/// `max(a, b)`, `min(a, b)`, `greatest(a, b)` and `least(a, b)` as `coalesce(a, b)`, for a program that says of what type they are.
///
/// They take any number of arguments, and in a program it is not seen how many; coalesce() is made of instructions that move its
/// arguments, and what it gives is one of them, too. Only of what results the answer holds: a parameter's class counts in max() and
/// not in coalesce().
enum ScalarExtremes {
    /// nil when there are none.
    static func replaced(in sql: UnsafeRawBufferPointer) -> [UInt8]? {
        let table = TokenTable(sql)
        var result: [UInt8] = []
        var taken = 0
        for (index, token) in table.tokens.enumerated() where isCall(index, token, table) {
            result += sql[taken..<token.start]
            result += Array("coalesce".utf8)
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
        token.matches("max") || token.matches("min") || token.matches("greatest") || token.matches("least")
    }
}
