/// The names a statement gives to expressions of its own: `sum(n) AS s`, `WITH c(x) AS (...)`.
///
/// Such a name looks like a column and has no affinity, so comparing a parameter with it decides nothing. Names of
/// plain columns under an alias keep the column's affinity and are not among these.
struct ComputedNames {
    private var names: Set<String> = []

    init(_ table: TokenTable) {
        for index in table.tokens.indices where index > 0 {
            let token = table.tokens[index]
            if token.matches("as") {
                addAlias(table, index)
            } else if token.isIdentifierLike {
                addImplicitAlias(table, index)
            }
        }
    }

    func contains(_ token: SQLToken) -> Bool { !names.isEmpty && names.contains(Self.key(token)) }

    private static func key(_ token: SQLToken) -> String { token.name.lowercased() }

    private mutating func addAlias(_ table: TokenTable, _ index: Int) {
        guard let name = table[index + 1] else { return }
        if name.kind == .leftParenthesis || name.matches("materialized") || name.matches("not") {
            // A common table expression: the columns of its list, if it has one.
            guard let open = table.otherParenthesis(index - 1), open < index else { return }
            // A list of columns has no parentheses in it. Other groups nest, and would each be read as often as they are deep.
            let list = table.tokens[(open + 1)..<index].prefix { $0.kind != .leftParenthesis }
            guard list.count == index - open - 1 else { return }
            for column in list where column.isIdentifierLike { names.insert(Self.key(column)) }
            return
        }
        guard name.isIdentifierLike || name.kind == .string, !isPlainColumn(table, endingAt: index - 1) else { return }
        names.insert(Self.key(name))
    }

    /// An identifier right after an operand is an alias, whatever else it might be; a few too many do no harm.
    private mutating func addImplicitAlias(_ table: TokenTable, _ index: Int) {
        let before = table.tokens[index - 1]
        switch before.kind {
        case .rightParenthesis, .string, .number, .blob, .parameter: names.insert(Self.key(table.tokens[index]))
        case .identifier, .quotedIdentifier:
            let ends =
                before.matches("end") || before.matches("null") || before.matches("isnull")
                || before.matches("notnull")
            guard ends || (!before.isReservedWord && isOperator(table[index - 2])) else { return }
            names.insert(Self.key(table.tokens[index]))
        default: return
        }
    }

    private func isOperator(_ token: SQLToken?) -> Bool {
        guard let token else { return false }
        if token.kind == .operatorOrPunctuation { return !token.isSymbol(".") }
        return token.matches("and") || token.matches("or") || token.matches("not") || token.matches("is")
            || token.matches("like") || token.matches("glob") || token.matches("regexp") || token.matches("match")
            || token.matches("over") || token.matches("collate") || token.matches("escape")
    }

    private func isPlainColumn(_ table: TokenTable, endingAt last: Int) -> Bool {
        guard let token = table[last], token.isIdentifierLike, !token.matches("end"), !token.matches("null") else {
            return false
        }
        var start = last
        while table[start - 1]?.isSymbol(".") ?? false, table[start - 2]?.isIdentifierLike ?? false { start -= 2 }
        guard let before = table[start - 1] else { return false }
        return before.kind == .comma || before.kind == .leftParenthesis || before.matches("select")
            || before.matches("distinct") || before.matches("all") || before.matches("from")
            || before.matches("join") || before.matches("returning") || before.matches("update")
            || before.matches("into")
    }
}
