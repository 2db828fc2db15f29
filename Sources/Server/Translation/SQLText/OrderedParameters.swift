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
            guard table.isOrdered(parameter.index...parameter.index) else { continue }
            let cast = type.flatMap { TypeOID(sqlName: String(decoding: bytes[$0], as: UTF8.self)) }
            result.append(Place(number: number, cast: cast))
        }
        return result
    }

}

extension TokenTable {
    /// So many operators in a row, and values of a row, are read: whoever sends thousands would have all of them read for each.
    private static let mostOfChain = 64

    /// Whether `<` and the like ask of a value, or of what `->`, `||` and `-` make of it, which is jsonb again if it is, where it comes among
    /// others. `->>` takes a text or a number out.
    func isOrdered(_ operand: ClosedRange<Int>) -> Bool {
        let extent = OperandExtent(table: self)
        var (low, high) = (operand.lowerBound, operand.upperBound)
        for _ in 0..<Self.mostOfChain {
            if let next = self[high + 1], next.isSymbol("->") || next.isSymbol("||") || next.isSymbol("-") {
                guard let end = extent.primaryEnd(high + 2) else { return false }
                high = end - 1
            } else if self[high + 1]?.isSymbol("->>") == true {
                return false
            } else if let before = self[low - 1], before.isSymbol("||"), let start = extent.primaryStart(low - 2) {
                low = start
            } else if isBesideOrdering(low...high) {
                return true
            } else {
                guard let opener = opener(around: low...high), !isCall(opener), let close = otherParenthesis(opener) else { return false }
                (low, high) = (opener, close)
            }
        }
        return false
    }

    private func isBesideOrdering(_ operand: ClosedRange<Int>) -> Bool {
        let (before, after) = (operand.lowerBound - 1, operand.upperBound + 1)
        if let left = self[before], left.isOrdering || left.matches("and") && partner[before] >= 0 { return true }
        guard let right = self[after] else { return false }
        return right.isOrdering || right.matches("not") && self[after + 1]?.matches("between") == true
    }

    /// The parenthesis in which the operand stands by itself, as one of a row's values, or as all that is selected.
    private func opener(around operand: ClosedRange<Int>) -> Int? {
        guard let after = self[operand.upperBound + 1], after.kind == .rightParenthesis || after.kind == .comma else { return nil }
        var index = operand.lowerBound - 1
        guard let before = self[index] else { return nil }
        if before.matches("select"), after.kind == .rightParenthesis, self[index - 1]?.kind == .leftParenthesis { return index - 1 }
        guard before.kind == .leftParenthesis || before.kind == .comma else { return nil }
        for _ in 0..<Self.mostOfChain {
            guard let token = self[index] else { return nil }
            if token.kind == .leftParenthesis { return index }
            index = token.kind == .rightParenthesis ? (otherParenthesis(index) ?? index) - 1 : index - 1
        }
        return nil
    }
}

extension SQLToken {
    /// What asks which of two values comes first.
    var isOrdering: Bool { isSymbol("<") || isSymbol("<=") || isSymbol(">") || isSymbol(">=") || matches("between") }
}
