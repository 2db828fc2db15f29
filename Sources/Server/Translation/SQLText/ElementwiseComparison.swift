/// `x = ANY ($1)` once more, as it reads for one element: `x IN ($1)`, whose program says what the array's elements are.
///
/// What `PostgresSpelling.quantified` has made of it, `x IN (SELECT +value FROM json_each($1) UNION ALL SELECT NULL WHERE $1 IS NULL)`, is
/// found again by its words; whoever writes the same by hand means the same.
enum ElementwiseComparison {
    /// nil when there is none.
    static func replaced(in sql: UnsafeRawBufferPointer) -> [UInt8]? {
        let table = TokenTable(sql)
        var result: [UInt8] = []
        var taken = 0
        for (index, token) in table.tokens.enumerated() where token.matches("json_each") {
            guard let parameter = parameter(around: index, table) else { continue }
            result += sql[taken..<table.tokens[index - Self.before.count].start]
            result += parameter.bytes
            taken = table.tokens[index + 3 + Self.behind.count].start
        }
        guard taken > 0 else { return nil }
        return result + sql[taken...]
    }

    private static let before: [StaticString] = ["select", "+", "value", "from"]
    private static let behind: [StaticString] = ["union", "all", "select", "null", "where", "$", "is", "null", ")"]

    /// The parameter that stands in the parentheses behind `json_each`, and once more at the end.
    private static func parameter(around index: Int, _ table: TokenTable) -> SQLToken? {
        guard index >= before.count, let parameter = table[index + 2], parameter.kind == .parameter,
            table[index + 1]?.kind == .leftParenthesis, table[index + 3]?.kind == .rightParenthesis
        else { return nil }
        for (offset, word) in before.enumerated() where !stands(word, table.tokens[index - before.count + offset], parameter) { return nil }
        for (offset, word) in behind.enumerated() {
            guard let token = table[index + 4 + offset], stands(word, token, parameter) else { return nil }
        }
        return parameter
    }

    private static func stands(_ word: StaticString, _ token: SQLToken, _ parameter: SQLToken) -> Bool {
        if word.utf8CodeUnitCount > 1 { return token.matches(word) }
        return word.utf8Start[0] == UInt8(ascii: "$") ? token.bytes.elementsEqual(parameter.bytes) : token.text == "\(word)"
    }
}
