/// Finds the operand of a comparison on one side of it. nil whenever what is met is not plainly understood.
struct OperandExtent {
    let table: TokenTable
    /// A column has its schema's and its table's name before it.
    private static let mostDots = 2
    /// A call has one FILTER and one OVER.
    private static let mostWindows = 2

    /// The operand whose last token is at `last`.
    func ending(at last: Int) -> Range<Int>? {
        var index = last
        while true {
            guard let start = primaryStart(index) else { return nil }
            index = start
            guard var before = table[index - 1] else { return index..<(last + 1) }
            while joins(before) {
                if table.endsOperand(index - 2) { break }
                // A unary operator belongs to the operand.
                index -= 1
                guard let next = table[index - 1] else { return index..<(last + 1) }
                before = next
            }
            if joins(before) {
                index -= 2
                continue
            }
            return begins(after: index - 1) ? index..<(last + 1) : nil
        }
    }

    /// The operand whose first token is at `first`.
    func starting(at first: Int) -> Range<Int>? {
        var index = first
        while let token = table[index] {
            if token.isSymbol("-") || token.isSymbol("+") || token.isSymbol("~") {
                index += 1
                continue
            }
            guard let next = primaryEnd(index) else { return nil }
            index = next
            guard let after = table[index], !ends(after) else { return first..<index }
            guard joins(after) else { return nil }
            index += 1
        }
        return nil
    }

    private func joins(_ token: SQLToken) -> Bool {
        token.isArithmetic || token.isSymbol("~") || token.isSymbol("||") || token.isSymbol("->") || token.isSymbol("->>")
    }

    /// The primary expression, with what belongs to it, whose last token is at `last`.
    func primaryStart(_ last: Int, windows: Int = 0) -> Int? {
        guard windows <= Self.mostWindows, let token = table[last], table.endsOperand(last) else { return nil }
        var start = last
        if token.kind == .rightParenthesis {
            guard let open = table.otherParenthesis(last) else { return nil }
            start = open
            if let name = table[open - 1], name.kind == .identifier, !name.isReservedWord { start -= 1 }
        }
        for _ in 0..<Self.mostDots {
            guard let dot = table[start - 1], dot.isSymbol("."), table[start - 2]?.isIdentifierLike ?? false else { break }
            start -= 2
        }
        guard let before = table[start - 1], before.matches("over") || before.matches("filter") else {
            // A FILTER or OVER of its own would have been read as a call's name.
            return table[start]?.matches("filter") == true ? nil : start
        }
        return primaryStart(start - 2, windows: windows + 1)
    }

    /// Behind the primary expression whose first token is at `first`.
    func primaryEnd(_ first: Int) -> Int? {
        guard let token = table[first] else { return nil }
        if token.kind == .leftParenthesis { return table.otherParenthesis(first).map { $0 + 1 } }
        guard token.isLiteral || token.kind == .parameter || token.isIdentifierLike else { return nil }
        // What can only be an operator elsewhere is a name here.
        guard !token.isReservedWord || token.matches("null") || token.mayBeName else { return nil }
        var index = first + 1
        for _ in 0..<Self.mostDots where table[index]?.isSymbol(".") ?? false && table[index + 1]?.isIdentifierLike ?? false { index += 2 }
        if table[index]?.kind == .leftParenthesis { index = table.after(index) }
        for _ in 0..<Self.mostWindows {
            // Behind anything but a call they are names.
            guard table[index - 1]?.kind == .rightParenthesis, let word = table[index], let next = table[index + 1],
                word.matches("over") || word.matches("filter"),
                next.kind == .leftParenthesis || (word.matches("over") && next.isIdentifierLike && !next.isReservedWord)
            else { break }
            index = table.after(index + 1)
        }
        return index
    }

    /// What may stand right before an operand without being part of its expression.
    func begins(after index: Int) -> Bool {
        let token = table.tokens[index]
        switch token.kind {
        case .leftParenthesis, .comma, .semicolon: return true
        case .identifier:
            if token.matches("and") { return table.partner[index] < 0 }
            return token.matches("where") || token.matches("on") || token.matches("having") || token.matches("or")
                || token.matches("not") || token.matches("when") || token.matches("then") || token.matches("else")
                || token.matches("case") || token.matches("select") || token.matches("distinct")
                || token.matches("all") || token.matches("by") || token.matches("set") || token.matches("returning")
        default: return false
        }
    }

    /// What may stand right after one.
    func ends(_ token: SQLToken) -> Bool {
        switch token.kind {
        case .rightParenthesis, .comma, .semicolon: true
        case .identifier:
            token.matches("and") || token.matches("or") || token.matches("where") || token.matches("group")
                || token.matches("order") || token.matches("having") || token.matches("limit")
                || token.isCompoundOperator
                || token.matches("then") || token.matches("when") || token.matches("else") || token.matches("end")
                || token.matches("returning") || token.matches("as") || token.matches("from") || token.matches("on")
                || token.matches("join") || token.matches("left") || token.matches("inner") || token.matches("cross")
                || token.matches("asc") || token.matches("desc")
        default: false
        }
    }
}
