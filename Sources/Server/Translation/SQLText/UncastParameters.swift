/// Which parameters stand somewhere without a cast behind them: `$1`, and not `$1::date`. A test for NULL does not ask what type it is.
struct UncastParameters {
    private let table: TokenTable
    /// Which `=` are SET's: looked for once, where one has to be known.
    private lazy var assignments = table.assignments

    static func numbers(_ statement: UnsafeRawBufferPointer) -> Set<Int> {
        var parameters = UncastParameters(table: TokenTable(statement))
        var result: Set<Int> = []
        for parameter in parameters.table.parameters {
            let bytes = parameters.table.tokens[parameter.index].bytes
            guard case .numbered(let number, type: nil) = ParameterName(bytes), !result.contains(number) else { continue }
            if !parameters.isTestedForNull(parameter.index) { result.insert(number) }
        }
        return result
    }

    private init(table: TokenTable) { self.table = table }

    /// `$1 IS NULL`, `(CAST($1 AS text)) IS NOT DISTINCT FROM NULL`; not `j -> $1 IS NULL`, which asks that of another value.
    private mutating func isTestedForNull(_ index: Int) -> Bool {
        guard var place = table.withParentheses(index...index) else { return false }
        let (low, high) = (place.lowerBound, place.upperBound)
        if table[low - 2]?.matches("cast") == true, table[low - 1]?.kind == .leftParenthesis, table[high + 1]?.matches("as") == true,
            let close = table.otherParenthesis(low - 1)
        {
            guard let cast = table.withParentheses(low - 2...close) else { return false }
            place = cast
        }
        return isNullTest(behind: place.upperBound) && begins(place.lowerBound)
    }

    private func isNullTest(behind last: Int) -> Bool {
        func word(_ offset: Int, _ word: StaticString) -> Bool { table[last + offset]?.matches(word) == true }
        if word(1, "isnull") || word(1, "notnull") { return true }
        if word(1, "not") { return word(2, "null") }
        guard word(1, "is") else { return false }
        let next = word(2, "not") ? 3 : 2
        return word(next, "null") || word(next, "distinct") && word(next + 1, "from") && word(next + 2, "null")
    }

    /// Whether an expression begins there, so that nothing before it binds tighter than IS.
    private mutating func begins(_ index: Int) -> Bool {
        guard let before = table[index - 1] else { return true }
        if before.isSymbol("=") { return assignments.contains(index - 1) }
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

    /// The `=` of SET's list: `SET a = $1, (b, c) = (1, 2)`.
    var assignments: Set<Int> {
        var result: Set<Int> = []
        /// For the statement and each open parenthesis: whether it is in such a list, and at a column that has not been given its value.
        var levels = [(isInList: false, isAtColumn: false)]
        for (index, token) in tokens.enumerated() {
            let last = levels.count - 1
            switch token.kind {
            case .leftParenthesis: levels.append((false, false))
            case .rightParenthesis: if last > 0 { levels.removeLast() }
            case .comma: levels[last].isAtColumn = levels[last].isInList
            case .identifier where token.matches("set"): levels[last] = (true, true)
            case .identifier where levels[last].isInList && endsAssignments(index): levels[last] = (false, false)
            default:
                guard levels[last].isAtColumn, token.isSymbol("=") else { continue }
                result.insert(index)
                levels[last].isAtColumn = false
            }
        }
        return result
    }

    /// What comes behind such a list; IS DISTINCT FROM is in it.
    private func endsAssignments(_ index: Int) -> Bool {
        let word = tokens[index]
        return word.matches("where") || word.matches("returning") || word.matches("from") && self[index - 1]?.matches("distinct") != true
    }
}
