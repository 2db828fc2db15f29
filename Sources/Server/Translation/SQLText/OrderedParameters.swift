import PostgresWire

/// Where parameters of a statement are compared by their order: `v > $1`, `v BETWEEN $1 AND $2`.
enum OrderedParameters {
    struct Place: Equatable {
        let number: Int
        /// What stands behind it there: `$1::jsonb`.
        let cast: TypeOID?
    }

    static func places(_ statement: UnsafeRawBufferPointer) -> [Place] {
        let table = TokenTable(statement)
        var result: [Place] = []
        var highest = 0
        for parameter in table.parameters {
            let bytes = table.tokens[parameter.index].bytes
            let (number, type) =
                switch ParameterName(bytes) {
                case .numbered(let number, let type): (number, type)
                default: (highest + 1, nil)
                }
            highest = max(highest, number)
            guard isOrdered(parameter.index, table) else { continue }
            let cast = type.flatMap { TypeOID(sqlName: String(decoding: bytes[$0], as: UTF8.self)) }
            result.append(Place(number: number, cast: cast))
        }
        return result
    }

    private static func isOrdered(_ index: Int, _ table: TokenTable) -> Bool {
        guard let place = table.withParentheses(index) else { return false }
        let (low, high) = (place.lowerBound, place.upperBound)
        if table[high + 1]?.takesValueOutOfJSON == true { return false }
        if let left = table[low - 1], left.isOrdering || left.matches("and") && table.partner[low - 1] >= 0 { return true }
        guard let right = table[high + 1] else { return false }
        return right.isOrdering || right.matches("not") && table[high + 2]?.matches("between") == true
    }
}

extension TokenTable {
    /// Where a parameter stands, with the parentheses that hold nothing else; nil: they are a call's, which gives another value.
    func withParentheses(_ index: Int) -> ClosedRange<Int>? {
        var (low, high) = (index, index)
        while self[low - 1]?.kind == .leftParenthesis, otherParenthesis(low - 1) == high + 1 {
            if let name = self[low - 2], name.isIdentifierLike, !name.isReservedWord { return nil }
            (low, high) = (low - 1, high + 1)
        }
        return low...high
    }
}

extension SQLToken {
    /// What asks which of two values comes first.
    var isOrdering: Bool { isSymbol("<") || isSymbol("<=") || isSymbol(">") || isSymbol(">=") || matches("between") }

    /// What stands before it is an operand of its own, and the result a text or a number: `x > $1 ->> 'a'`. Those of `->`, `||` and `-`
    /// are jsonb again.
    var takesValueOutOfJSON: Bool { isSymbol("->>") }
}
