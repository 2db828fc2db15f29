/// Which parameters stand somewhere without a cast behind them: `$1`, and not `$1::date`. A test for NULL does not ask what type it is.
enum UncastParameters {
    static func numbers(_ statement: UnsafeRawBufferPointer) -> Set<Int> {
        let table = TokenTable(statement)
        var result: Set<Int> = []
        for parameter in table.parameters {
            guard case .numbered(let number, type: nil) = ParameterName(table.tokens[parameter.index].bytes) else { continue }
            if !isTestedForNull(parameter.index, table) { result.insert(number) }
        }
        return result
    }

    /// `$1 IS NULL`, `(CAST($1 AS text)) IS NOT DISTINCT FROM NULL`; not `j -> $1 IS NULL`, which asks that of another value.
    private static func isTestedForNull(_ index: Int, _ table: TokenTable) -> Bool {
        var operand = index...index
        if table[index - 1]?.kind == .leftParenthesis, table[index - 2]?.matches("cast") == true, table[index + 1]?.matches("as") == true,
            let close = table.otherParenthesis(index - 1)
        {
            operand = index - 2...close
        }
        guard let place = table.withParentheses(operand), begins(place.lowerBound, table) else { return false }
        func word(_ offset: Int, _ word: StaticString) -> Bool { table[place.upperBound + offset]?.matches(word) == true }
        if word(1, "isnull") || word(1, "notnull") { return true }
        if word(1, "not") { return word(2, "null") }
        guard word(1, "is") else { return false }
        let next = word(2, "not") ? 3 : 2
        return word(next, "null") || word(next, "distinct") && word(next + 1, "from") && word(next + 2, "null")
    }

    /// Whether an expression begins there, so that nothing before it binds tighter than IS.
    private static func begins(_ index: Int, _ table: TokenTable) -> Bool {
        guard let before = table[index - 1] else { return true }
        if before.isSymbol("=") { return table.isAssignment(index - 1) }
        if before.matches("not"), table[index - 2]?.matches("is") == true { return false }
        return OperandExtent(table: table).begins(after: index - 1)
    }
}

extension TokenTable {
    /// Where an operand stands, with the parentheses that hold nothing else; nil: they are a call's, which gives another value.
    func withParentheses(_ operand: ClosedRange<Int>) -> ClosedRange<Int>? {
        var (low, high) = (operand.lowerBound, operand.upperBound)
        while self[low - 1]?.kind == .leftParenthesis, otherParenthesis(low - 1) == high + 1 {
            if isCall(low - 1) { return nil }
            (low, high) = (low - 1, high + 1)
        }
        return low...high
    }

    /// Whether the parenthesis opens what is given to a function.
    func isCall(_ opener: Int) -> Bool { self[opener - 1].map { $0.isIdentifierLike && !$0.isReservedWord } ?? false }

    /// Whether the `=` is one of SET's: `SET a = $1, (b, c) = (1, 2)`.
    func isAssignment(_ equals: Int) -> Bool {
        let last = equals - 1
        guard let target = self[last] else { return false }
        let first = target.kind == .rightParenthesis ? otherParenthesis(last) ?? last : last
        guard let before = self[first - 1], target.kind == .rightParenthesis || target.isIdentifierLike else { return false }
        return before.matches("set") || before.kind == .comma && isInSet(first - 1)
    }

    private func isInSet(_ comma: Int) -> Bool {
        var index = comma
        while let token = self[index], token.kind != .leftParenthesis {
            if token.matches("set") { return true }
            if token.endsAssignments { return false }
            index = token.kind == .rightParenthesis ? (otherParenthesis(index) ?? index) - 1 : index - 1
        }
        return false
    }
}

extension SQLToken {
    /// What stands between SET's list and a comma that is not of it.
    fileprivate var endsAssignments: Bool {
        matches("where") || matches("from") || matches("returning") || matches("select") || matches("on") || matches("having")
            || matches("by")
    }
}
