/// What a name in ORDER BY means: "If an ORDER BY expression is a simple name that matches both an output column name and an input column
/// name, ORDER BY will interpret it as the output column name." https://www.postgresql.org/docs/15/sql-select.html
///
/// SQLite goes by the names that AS gives, and without one `SELECT t.oid … ORDER BY oid`, as Npgsql asks whenever it connects, is
/// ambiguous to it where two tables have an oid. So such a column is given its own name.
extension CatalogRewriter {
    static func isOrdered(_ nodes: [Node]) -> Bool {
        nodes.indices.dropLast().contains { nodes[$0].isWord("order") && nodes[$0 + 1].isWord("by") }
    }

    /// A select list with a name for each item that is only a table's column.
    static func withOutputNames(_ items: [Node]) -> [Node] {
        let head = items.prefix { $0.isWord("distinct") || $0.isWord("all") }
        let parts = CatalogSyntax.split(Array(items.dropFirst(head.count))).map { item -> [Node] in
            guard item.count == 3, item[1].isSymbol("."), let name = item[2].name else { return item }
            return item + [.word("as"), .quoted(name)]
        }
        return Array(head) + parts.joined(separator: [.symbol(",")])
    }
}
