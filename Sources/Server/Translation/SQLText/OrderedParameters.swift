import PostgresWire

/// Where parameters of a statement are compared by their order: `v > $1`, `v BETWEEN $1 AND $2`.
enum OrderedParameters {
    struct Place: Equatable {
        let number: Int
        /// What stands behind it there: `$1::jsonb`.
        let cast: TypeOID?
    }

    static func places(_ statement: UnsafeRawBufferPointer) -> [Place] {
        var operands = OrderedOperands(TokenTable(statement))
        guard operands.mayBeSome else { return [] }
        var result: [Place] = []
        var highest = 0
        for parameter in operands.table.parameters {
            let bytes = operands.table.tokens[parameter.index].bytes
            let (number, type) =
                switch ParameterName(bytes) {
                case .numbered(let number, let type): (number, type)
                default: (highest + 1, nil)
                }
            highest = max(highest, number)
            guard operands.contains(parameter.index) else { continue }
            let cast = type.flatMap { TypeOID(sqlName: String(decoding: bytes[$0], as: UTF8.self)) }
            result.append(Place(number: number, cast: cast))
        }
        return result
    }
}

/// Which values of a statement `<` and the like ask of, or of what `->`, `||` and `-` make of them: that is jsonb again, if they are. `->>`
/// takes a text or a number out.
struct OrderedOperands {
    let table: TokenTable
    private let extent: OperandExtent
    /// How far is read around one value.
    private static let mostSteps = 64
    /// And around all: each may stand in the same long chain, or as deep in parentheses.
    private var stepsLeft: Int

    init(_ table: TokenTable) {
        self.table = table
        extent = OperandExtent(table: table)
        stepsLeft = 4 * table.count + 4096
    }

    var mayBeSome: Bool { table.tokens.contains(where: \.isOrdering) }

    /// - Parameter operand: a token's index.
    mutating func contains(_ operand: Int) -> Bool {
        var (low, high) = (operand, operand)
        for _ in 0..<Self.mostSteps where stepsLeft > 0 {
            stepsLeft -= 1
            if let next = table[high + 1], next.joinsJSON {
                let isSigned = table[high + 2].map { $0.isSymbol("-") || $0.isSymbol("+") } ?? false
                guard let end = extent.primaryEnd(high + (isSigned ? 3 : 2)) else { return false }
                high = end - 1
            } else if table[high + 1]?.isSymbol("->>") == true {
                return false
            } else if isBeforeOrdering(high) {
                return true
            } else if let before = table[low - 1], before.isSymbol("||") || before.isSymbol("->"), let start = extent.primaryStart(low - 2)
            {
                low = start
            } else if isBehindOrdering(low) {
                return true
            } else {
                guard let opener = opener(around: low...high), let close = table.otherParenthesis(opener) else { return false }
                (low, high) = (opener, close)
            }
        }
        return false
    }

    private func isBehindOrdering(_ low: Int) -> Bool {
        table[low - 1].map { $0.isOrdering || $0.matches("and") && table.partner[low - 1] >= 0 } ?? false
    }

    private func isBeforeOrdering(_ high: Int) -> Bool {
        guard let right = table[high + 1] else { return false }
        return right.isOrdering || right.matches("not") && table[high + 2]?.matches("between") == true
    }

    /// The parenthesis in which the operand stands by itself, as one of a row's values, or as all that is selected; nil also where it is a
    /// function's or a clause's.
    private mutating func opener(around operand: ClosedRange<Int>) -> Int? {
        guard let after = table[operand.upperBound + 1], after.kind == .rightParenthesis || after.kind == .comma else { return nil }
        var index = operand.lowerBound - 1
        guard let before = table[index] else { return nil }
        if before.matches("select"), after.kind == .rightParenthesis { return table[index - 1]?.kind == .leftParenthesis ? index - 1 : nil }
        guard before.kind == .leftParenthesis || before.kind == .comma else { return nil }
        for _ in 0..<Self.mostSteps where stepsLeft > 0 {
            stepsLeft -= 1
            guard let token = table[index], !token.isClauseWord else { return nil }
            if token.kind == .leftParenthesis { return table.isCall(index) || table[index - 1]?.matches("over") == true ? nil : index }
            index = token.kind == .rightParenthesis ? (table.otherParenthesis(index) ?? index) - 1 : index - 1
        }
        return nil
    }
}

extension SQLToken {
    /// What asks which of two values comes first.
    var isOrdering: Bool { isSymbol("<") || isSymbol("<=") || isSymbol(">") || isSymbol(">=") || matches("between") }

    /// Operators whose result is jsonb, if the left operand is.
    var joinsJSON: Bool { isSymbol("->") || isSymbol("||") || isSymbol("-") }
}
