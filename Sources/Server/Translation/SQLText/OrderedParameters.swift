/// Which parameters of a statement are compared by their order: `v > $1`, `v BETWEEN $1 AND $2`.
enum OrderedParameters {
    static func numbers(_ statement: UnsafeRawBufferPointer) -> Set<Int> {
        let table = TokenTable(statement)
        var result: Set<Int> = []
        var highest = 0
        for parameter in table.parameters {
            let number =
                switch ParameterName(table.tokens[parameter.index].bytes) {
                case .numbered(let number, _): number
                default: highest + 1
                }
            highest = max(highest, number)
            if isOrdered(parameter.index, table) { result.insert(number) }
        }
        return result
    }

    private static func isOrdered(_ index: Int, _ table: TokenTable) -> Bool {
        var (low, high) = (index, index)
        while table[low - 1]?.kind == .leftParenthesis, table.otherParenthesis(low - 1) == high + 1 {
            // A call gives another value.
            if let name = table[low - 2], name.isIdentifierLike, !name.isReservedWord { return false }
            (low, high) = (low - 1, high + 1)
        }
        if table[high + 1]?.bindsTighterThanOrder == true { return false }
        if let left = table[low - 1], left.isOrdering || left.matches("and") && table.partner[low - 1] >= 0 { return true }
        guard let right = table[high + 1] else { return false }
        return right.isOrdering || right.matches("not") && table[high + 2]?.matches("between") == true
    }
}

extension SQLToken {
    /// What asks which of two values comes first.
    var isOrdering: Bool { isSymbol("<") || isSymbol("<=") || isSymbol(">") || isSymbol(">=") || matches("between") }

    /// What stands before it is an operand of its own: `x > $1 ->> 'a'`.
    var bindsTighterThanOrder: Bool { isSymbol("->>") || isSymbol("->") || isSymbol("||") || isArithmetic }
}
