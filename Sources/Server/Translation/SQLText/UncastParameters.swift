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

    /// `$1 IS NULL`, `($1) IS NOT DISTINCT FROM NULL`; not `j -> $1 IS NULL`, which asks that of another value.
    private static func isTestedForNull(_ index: Int, _ table: TokenTable) -> Bool {
        guard let place = table.withParentheses(index), begins(place.lowerBound, table) else { return false }
        func word(_ offset: Int, _ word: StaticString) -> Bool { table[place.upperBound + offset]?.matches(word) == true }
        if word(1, "isnull") || word(1, "notnull") { return true }
        if word(1, "not") { return word(2, "null") }
        guard word(1, "is") else { return false }
        let next = word(2, "not") ? 3 : 2
        return word(next, "null") || word(next, "distinct") && word(next + 1, "from") && word(next + 2, "null")
    }

    /// Whether an expression begins there, so that nothing before it binds tighter than IS.
    private static func begins(_ index: Int, _ table: TokenTable) -> Bool {
        guard let before = table[index - 1], before.kind != .leftParenthesis, before.kind != .comma else { return true }
        if before.matches("and") { return table.partner[index - 1] < 0 }
        if before.matches("not") { return table[index - 2]?.matches("is") != true }
        return before.matches("or") || before.matches("where") || before.matches("on") || before.matches("having") || before.matches("case")
            || before.matches("when") || before.matches("then") || before.matches("else") || before.matches("select")
            || before.matches("returning") || before.matches("by")
    }
}
