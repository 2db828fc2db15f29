/// `(SELECT …) alias (columns)`, as psql's `\gdesc` asks: SQLite names no columns of a subquery, but it does those of a common table.
extension CatalogRewriter {
    static func subqueriesWithColumns(_ nodes: [Node]) -> [Node] {
        var result: [Node] = []
        var index = 0
        while index < nodes.count {
            defer { index += 1 }
            let alias = index + 1 < nodes.count && nodes[index + 1].isWord("as") ? index + 2 : index + 1
            guard let query = nodes[index].group, let first = query.first, first.isWord("values") || first.isWord("select"),
                index > 0, isBeforeTable(nodes[index - 1]), alias + 1 < nodes.count, nodes[alias].isName, nodes[alias + 1].group != nil
            else {
                result.append(nodes[index])
                continue
            }
            let table: [Node] = [.word("with"), nodes[alias], nodes[alias + 1], .word("as"), nodes[index]]
            result += [.group(table + [.word("select"), .op("*"), .word("from"), nodes[alias]]), .word("as"), nodes[alias]]
            index = alias + 1
        }
        return result
    }
}
