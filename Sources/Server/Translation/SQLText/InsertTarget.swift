/// The columns an INSERT names, to tell which column a value in a row of VALUES is for.
struct InsertTarget {
    private var columns: [Range<Int>]?

    /// nil when the statement inserts nothing with VALUES.
    init?(_ table: TokenTable) {
        var index = 0
        var inserts = false
        while let token = table[index], !token.matches("values") {
            if token.matches("insert") || token.matches("replace") { inserts = true }
            if token.matches("select") { return nil }
            if inserts, token.kind == .leftParenthesis, let close = table.otherParenthesis(index) {
                columns = table.tokens[(index + 1)..<close].filter { $0.isIdentifierLike }.map(\.range)
            }
            index = table.after(index)
        }
        guard inserts, table[index] != nil else { return nil }
    }

    func context(_ ordinal: Int) -> ParameterContext {
        guard let columns else { return .insertColumn(ordinal) }
        return columns.indices.contains(ordinal) ? .column(columns[ordinal]) : .undecided
    }
}
