/// Functions that return several rows: in a select list, and in FROM.
extension CatalogRewriter {
    private static let setReturning: Set = ["unnest", "generate_subscripts", "generate_series", "pg_expand_n", "pg_expand_x"]

    /// Functions in a select list that return several rows become a json_each in FROM; returns that.
    mutating func expandSets(_ items: inout [Node]) throws(CatalogSyntaxError) -> [Node]? {
        var driver: [Node]?
        var alias = ""
        var result: [Node] = []
        var index = -1
        while index + 1 < items.count {
            index += 1
            result.append(items[index])
            guard let name = items[index].word, Self.setReturning.contains(name), index + 1 < items.count,
                let arguments = items[index + 1].group
            else { continue }
            let array = CatalogSyntax.split(arguments)[0]
            try noteCopy(of: arguments)
            if driver == nil {
                functionsInFrom += 1
                alias = "srf\(functionsInFrom)_"
                let elements = Self.elements(of: name, arguments)
                driver = Node.call("json_each", elements) + [.word("as"), .word(alias)]
            } else if name == "generate_series" {
                throw CatalogSyntaxError(message: "two set-returning functions side by side are not available")
            }
            let key: [Node] = [.word(alias), .symbol("."), .word("key")]
            let value: [Node]
            switch name {
            case "pg_expand_n": value = key + [.op("+"), .number(1)]
            case "generate_subscripts": value = key + [.op("+")] + Node.call("pg_lower_bound", array)
            default: value = Node.call("pg_nth", Self.elements(of: name, arguments) + [.symbol(",")] + key)
            }
            result[result.count - 1] = .group(value)
            index += 1
        }
        items = result
        return driver
    }

    /// Where such functions stand in each other's arguments, each one doubles what is in it.
    mutating func noteCopy(of nodes: [Node]) throws(CatalogSyntaxError) {
        copiedNodes += Self.count(nodes, atMost: CatalogLimits.copiedNodes - copiedNodes + 1)
        guard copiedNodes <= CatalogLimits.copiedNodes else {
            throw CatalogSyntaxError(message: "the functions that return sets are too many or too long, or in each other")
        }
    }

    /// No further than that: of shared nodes there may be more than can be counted.
    private static func count(_ nodes: [Node], atMost most: Int) -> Int {
        var count = 0
        for node in nodes where count < most {
            count += 1
            if let inside = node.group ?? node.subscriptNodes { count += Self.count(inside, atMost: most - count) }
        }
        return count
    }

    /// pgjdbc asks which words are keywords beyond the standard's: of https://www.sqlite.org/lang_keywords.html.
    static let keywords =
        #"["abort","analyze","attach","autoincrement","conflict","database","detach","explain","fail","glob","ignore","index","#
        + #""indexed","instead","isnull","limit","match","materialized","notnull","offset","plan","pragma","query","raise","#
        + #""regexp","reindex","rename","replace","temp","vacuum","virtual"]"#

    /// pgjdbc numbers an array's elements with `information_schema._pg_expandarray(x)`, a set of rows of which it takes
    /// `(…).n` and `(…).x`. Here the row is its x.
    static func expandedArrays(_ nodes: [Node]) -> [Node] {
        guard nodes.contains(where: { $0.isSymbol(".") || $0.name == expandArray }) else { return nodes }
        var result: [Node] = []
        var index = 0
        while index < nodes.count {
            let node = nodes[index]
            let part = index + 2 < nodes.count && nodes[index + 1].isSymbol(".") ? nodes[index + 2].word : nil
            if let inside = node.group, part == "n" || part == "x" {
                if inside.count == 2, inside[0].name == expandArray, let array = inside[1].group {
                    result += Node.call(part == "n" ? "pg_expand_n" : "pg_expand_x", array)
                    index += 3
                    continue
                }
                if part == "x", inside.count == 3, inside[0].isName, inside[1].isSymbol("."), inside[2].isName {
                    result += inside
                    index += 3
                    continue
                }
            }
            result.append(node.name == expandArray ? .word("pg_expand_x") : node)
            index += 1
        }
        return result
    }

    private static let expandArray = "information_schema._pg_expandarray"
}
