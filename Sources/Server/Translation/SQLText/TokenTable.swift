/// A statement's tokens with what reading around in them needs: where each parenthesis closes, which AND belongs to
/// a BETWEEN, and where the parameters are. Built in one pass; skipping a parenthesised group then costs nothing.
struct TokenTable {
    struct Parameter {
        let index: Int
        /// The `(` around it, or -1.
        let opener: Int
        /// How many commas lie between that `(` and the parameter.
        let ordinal: Int
    }

    private struct Level {
        let opener: Int
        var commas = 0
        let betweens: Int
        let cases: Int
    }

    private(set) var tokens: ContiguousArray<SQLToken> = []
    /// The other parenthesis, for the AND of a BETWEEN its BETWEEN, for a CASE its END; -1 for everything else.
    private(set) var partner: ContiguousArray<Int32> = []
    private(set) var parameters: [Parameter] = []
    /// The `(` of the rows of VALUES outside of any parenthesis, in order of their appearance.
    private(set) var valuesRows: Set<Int> = []

    var count: Int { tokens.count }

    init(_ statement: UnsafeRawBufferPointer) {
        var levels = [Level(opener: -1, betweens: 0, cases: 0)]
        var (betweens, cases): ([Int], [Int]) = ([], [])
        for token in SQLLexer(statement) {
            let index = tokens.count
            tokens.append(token)
            partner.append(-1)
            switch token.kind {
            case .leftParenthesis:
                if levels.count == 1, opensValuesRow(index) { valuesRows.insert(index) }
                levels.append(Level(opener: index, betweens: betweens.count, cases: cases.count))
            case .rightParenthesis where levels.count > 1:
                let level = levels.removeLast()
                betweens.removeLast(betweens.count - level.betweens)
                cases.removeLast(cases.count - level.cases)
                partner[index] = Int32(level.opener)
                partner[level.opener] = Int32(index)
            case .comma:
                levels[levels.count - 1].commas += 1
            case .identifier where token.matches("between"):
                betweens.append(index)
            case .identifier where token.matches("and") && betweens.count > levels[levels.count - 1].betweens:
                partner[index] = Int32(betweens.removeLast())
            case .identifier where token.matches("case"):
                cases.append(index)
            case .identifier where cases.count > levels[levels.count - 1].cases && endsCase(index):
                partner[cases.removeLast()] = Int32(index)
            case .parameter:
                let level = levels[levels.count - 1]
                parameters.append(Parameter(index: index, opener: level.opener, ordinal: level.commas))
            default: break
            }
        }
    }

    private func opensValuesRow(_ index: Int) -> Bool {
        guard index > 0 else { return false }
        if tokens[index - 1].matches("values") { return true }
        guard index > 1, tokens[index - 1].kind == .comma, partner[index - 2] >= 0 else { return false }
        return valuesRows.contains(Int(partner[index - 2]))
    }

    subscript(index: Int) -> SQLToken? { tokens.indices.contains(index) ? tokens[index] : nil }

    /// Where the group that starts or ends at `index` ends or starts.
    func otherParenthesis(_ index: Int) -> Int? {
        // The AND of a BETWEEN has a partner, too.
        guard let token = self[index], token.kind == .leftParenthesis || token.kind == .rightParenthesis, partner[index] >= 0 else {
            return nil
        }
        return Int(partner[index])
    }

    /// Whether the parenthesis opens what is given to a function.
    func isCall(_ opener: Int) -> Bool { self[opener - 1].map { $0.isIdentifierLike && !$0.isReservedWord } ?? false }

    /// The index after `index` on the same level: a parenthesised group is stepped over.
    func after(_ index: Int) -> Int {
        if tokens[index].kind == .leftParenthesis, let close = otherParenthesis(index) { return close + 1 }
        return index + 1
    }

    /// END may name a column, too, but not behind an operand.
    private func endsCase(_ index: Int) -> Bool { tokens[index].matches("end") && (endsOperand(index - 1) || isPostfix(index - 1)) }

    /// The END of the CASE at `index`.
    func endOfCase(_ index: Int) -> Int? {
        guard let token = self[index], token.matches("case"), partner[index] >= 0 else { return nil }
        return Int(partner[index])
    }

    /// The same, if it is in the range.
    func endOfCase(_ index: Int, in range: Range<Int>) -> Int? { endOfCase(index).flatMap { range.contains($0) ? $0 : nil } }

    func isPostfix(_ index: Int) -> Bool {
        self[index].map { $0.matches("isnull") || $0.matches("notnull") } ?? false
    }

    /// Whether an expression can end with this token, so that an operator after it is a binary one.
    func endsOperand(_ index: Int) -> Bool {
        guard let token = self[index] else { return false }
        return token.endsOperand || (token.mayBeName && isName(index))
    }

    /// A word that may be an operator or a clause, too, is a name where that has nothing before it: `WHERE filter LIKE 'x'`.
    ///
    /// - Parameter looksBehindNot: once; a chain of such words is not followed.
    private func isName(_ index: Int, looksBehindNot: Bool = true) -> Bool {
        guard let before = self[index - 1], !before.endsOperand, !isPostfix(index - 1) else { return false }
        // Of several such words behind each other nothing is said, but for the BY of a clause.
        if before.mayBeName { return isBy(index - 1) }
        let word = tokens[index]
        guard before.matches("not"), !word.matches("filter"), !word.matches("over"), !word.matches("by") else { return !isBy(index) }
        // `x NOT LIKE y`, or `NOT like`.
        guard let operand = self[index - 2] else { return true }
        guard operand.mayBeName else { return !operand.endsOperand && !isPostfix(index - 2) }
        return looksBehindNot && !isName(index - 2, looksBehindNot: false)
    }

    /// That of GROUP BY, ORDER BY, PARTITION BY.
    private func isBy(_ index: Int) -> Bool {
        guard tokens[index].matches("by"), let before = self[index - 1] else { return false }
        return before.matches("group") || before.matches("order") || before.matches("partition")
    }
}

extension SQLToken {
    /// Whether an expression can end with it, wherever it stands.
    var endsOperand: Bool {
        switch kind {
        case .quotedIdentifier, .string, .blob, .number, .parameter, .rightParenthesis: true
        case .identifier: matches("null") || matches("end") || !isReservedWord
        default: false
        }
    }

    /// Of the reserved words those that SQLite takes as names, too, where they can be nothing else ("fallback" in its grammar,
    /// https://www.sqlite.org/src/file/src/parse.y).
    var mayBeName: Bool {
        kind == .identifier
            && (matches("filter") || matches("over") || matches("like") || matches("glob") || matches("regexp") || matches("match")
                || matches("by"))
    }

    /// It connects the SELECTs of a compound one.
    var isCompoundOperator: Bool { matches("union") || matches("intersect") || matches("except") }

    /// The keywords of SQLite's expressions and clauses that end no operand. But for `mayBeName` they can name nothing.
    var isReservedWord: Bool {
        isExpressionWord || isClauseWord
    }

    private var isExpressionWord: Bool {
        matches("and") || matches("or") || matches("not") || matches("is") || matches("in") || matches("like")
            || matches("glob") || matches("regexp") || matches("match") || matches("between") || matches("isnull")
            || matches("notnull") || matches("null") || matches("collate") || matches("escape") || matches("exists")
            || matches("case") || matches("when") || matches("then") || matches("else") || matches("over")
            || matches("filter") || matches("distinct") || matches("as") || matches("end")
    }

    var isClauseWord: Bool {
        matches("select") || matches("from") || matches("where") || matches("on") || matches("having")
            || matches("group") || matches("order") || matches("by") || matches("limit") || matches("set")
            || matches("values") || matches("returning") || isCompoundOperator || matches("join") || matches("using")
            || matches("all") || matches("into")
    }

    var isComparison: Bool {
        isSymbol("=") || isSymbol("==") || isSymbol("<>") || isSymbol("!=") || isSymbol("<") || isSymbol("<=")
            || isSymbol(">") || isSymbol(">=")
    }

    /// Operators whose result is a number whatever their operands are.
    var isArithmetic: Bool {
        isSymbol("+") || isSymbol("-") || isSymbol("*") || isSymbol("/") || isSymbol("%") || isBitwise
    }

    var isBitwise: Bool { isSymbol("&") || isSymbol("|") || isSymbol("<<") || isSymbol(">>") }
}
