/// Which values of a statement `<` and the like ask of, or of what `->`, `||` and `-` make of them: that is jsonb again, if they are. `->>`
/// takes a text or a number out.
///
/// What is asked of a row is asked of each of its values. So a parenthesis has one answer, which is looked for once, and the time that all
/// take grows with the length of the text.
struct OrderedOperands {
    let table: TokenTable
    private let extent: OperandExtent
    /// For each token the parenthesis around it, or -1.
    private var enclosing: ContiguousArray<Int32> = []
    /// Each `(` that may be a row's: it is no call's, no list's of IN, and has no clause in it.
    private var rows: Set<Int> = []
    private var answers: [Int: Bool] = [:]
    /// So many operators are followed from a value, on either side: each of thousands would be read for all the others. What stands behind
    /// more of them counts as ordered.
    private static let mostLinks = 32

    /// nil where nothing is compared by its order.
    init?(_ table: TokenTable) {
        guard table.tokens.contains(where: \.isOrdering) else { return nil }
        self.table = table
        extent = OperandExtent(table: table)
        enclosing.reserveCapacity(table.count)
        var open: [Int] = []
        for (index, token) in table.tokens.enumerated() {
            if token.kind == .rightParenthesis, !open.isEmpty { open.removeLast() }
            enclosing.append(Int32(open.last ?? -1))
            if token.kind == .leftParenthesis {
                open.append(index)
                let before = table[index - 1]
                if !table.isCall(index), before?.matches("over") != true, before?.matches("in") != true { rows.insert(index) }
            } else if let last = open.last, token.isClauseWord, !(token.matches("from") && table[index - 1]?.matches("distinct") == true) {
                rows.remove(last)
            }
        }
    }

    /// - Parameter operand: a token's index.
    mutating func contains(_ operand: Int) -> Bool {
        var openers: [Int] = []
        var (low, high) = (operand, operand)
        var answer: Bool?
        while answer == nil {
            answer = answerBeside(&low, &high)
            guard answer == nil else { break }
            guard let opener = opener(around: low...high), let close = table.otherParenthesis(opener) else { break }
            answer = answers[opener]
            openers.append(opener)
            (low, high) = (opener, close)
        }
        for opener in openers { answers[opener] = answer ?? false }
        return answer ?? false
    }

    /// What the operators say that the operand stands between; nil: none of them compares. It becomes all that they join to it.
    private func answerBeside(_ low: inout Int, _ high: inout Int) -> Bool? {
        for link in 0... {
            if table[high + 1]?.matches("collate") == true { high += 2 }
            guard let next = table[high + 1], next.joinsJSON else { break }
            if link == Self.mostLinks { return true }
            let isSigned = table[high + 2].map { $0.isSymbol("-") || $0.isSymbol("+") } ?? false
            guard let end = extent.primaryEnd(high + (isSigned ? 3 : 2)) else { break }
            high = end - 1
        }
        if let next = table[high + 1] {
            if next.isSymbol("->>") { return false }
            if next.isOrdering || next.matches("not") && table[high + 2]?.matches("between") == true { return true }
        }
        for link in 0... {
            guard let before = table[low - 1], before.joinsJSON else { break }
            if link == Self.mostLinks { return true }
            guard let start = extent.primaryStart(low - 2) else { break }
            low = start
        }
        guard let before = table[low - 1] else { return nil }
        if before.isSymbol("->>") { return false }
        return before.isOrdering || before.matches("and") && table.partner[low - 1] >= 0 ? true : nil
    }

    /// The parenthesis in which the operand stands by itself, as one of a row's values, or as all that is selected.
    private func opener(around operand: ClosedRange<Int>) -> Int? {
        guard let before = table[operand.lowerBound - 1], let after = table[operand.upperBound + 1] else { return nil }
        let opener = Int(enclosing[operand.lowerBound])
        guard opener >= 0, after.kind == .rightParenthesis || after.kind == .comma else { return nil }
        if before.matches("select") {
            let isAll = opener == operand.lowerBound - 2 && after.kind == .rightParenthesis
            return isAll && table[opener - 1]?.matches("exists") != true && table[opener - 1]?.matches("in") != true ? opener : nil
        }
        guard before.kind == .leftParenthesis || before.kind == .comma else { return nil }
        return rows.contains(opener) ? opener : nil
    }
}

extension SQLToken {
    /// What asks which of two values comes first.
    var isOrdering: Bool { isSymbol("<") || isSymbol("<=") || isSymbol(">") || isSymbol(">=") || matches("between") }

    /// Operators whose result is jsonb, if the left operand is.
    var joinsJSON: Bool { isSymbol("->") || isSymbol("||") || isSymbol("-") }
}
