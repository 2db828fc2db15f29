/// Functions in FROM: `FROM f(x) [WITH ORDINALITY] [AS] alias [(columns)]`. SQLite names no columns of a table function, so it becomes a
/// subquery with the names, or, where it is about its neighbours' columns, json_each itself.
extension CatalogRewriter {
    struct TableFunction {
        var name: String
        var arguments: [Node]
        var alias: String
        var hasOrdinality = false
        private var names: [String] = []

        /// nil where none begins; else the index is moved behind it.
        init?(_ nodes: [Node], _ index: inout Int) {
            guard let name = nodes[index].word, index + 1 < nodes.count, let arguments = nodes[index + 1].group else { return nil }
            (self.name, self.arguments, alias) = (name, arguments, name)
            index += 2
            if index + 1 < nodes.count, nodes[index].isWord("with"), nodes[index + 1].isWord("ordinality") {
                hasOrdinality = true
                index += 2
            }
            if index < nodes.count, nodes[index].isWord("as") { index += 1 }
            if index < nodes.count, let alias = nodes[index].name, !CatalogRewriter.joinWords.contains(alias) {
                self.alias = alias
                index += 1
            }
            if index < nodes.count, let group = nodes[index].group {
                names = CatalogSyntax.split(group).map { $0.first?.name ?? "" }
                index += 1
            }
        }

        /// json_each(…), which every array's elements are counted by.
        var elements: [Node] { Node.call("json_each", CatalogRewriter.elements(of: name, name == "unnest" ? arrays[0] : arguments)) }

        var arrays: [[Node]] { name == "unnest" ? CatalogSyntax.split(arguments) : [arguments] }

        /// Its columns' names, and what they are of json_each's.
        func columns(of table: [Node] = []) -> [(name: String, value: [Node])] {
            let key = table + [.word("key")]
            let arrays = arrays
            var columns: [(name: String, value: [Node])] = []
            for (position, array) in arrays.enumerated() {
                var value = position == 0 ? table + [.word("value")] : Node.call("pg_nth", array + [.symbol(",")] + key)
                if name == "generate_subscripts" {
                    value = key + [.op("+")] + Node.call("pg_lower_bound", CatalogSyntax.split(arguments)[0])
                }
                columns.append((name == "pg_get_keywords" ? "word" : arrays.count > 1 ? name : alias, value))
            }
            if hasOrdinality { columns.append(("ordinality", key + [.op("+"), .number(1)])) }
            for (position, name) in names.enumerated() where position < columns.count && !name.isEmpty { columns[position].name = name }
            return columns
        }
    }

    /// Those that are about their neighbours' columns are left to `replaceColumns`.
    mutating func functionsAsTables(_ nodes: [Node], _ laterals: inout [TableFunction]) throws(CatalogSyntaxError) -> [Node] {
        var result: [Node] = []
        var index = 0
        var isTablePlace = false
        let tables = Set(Self.tables(in: nodes))
        while index < nodes.count {
            let node = nodes[index]
            guard isTablePlace, !node.isWord("lateral"), let function = TableFunction(nodes, &index) else {
                if node.isWord("lateral"), index + 1 < nodes.count, nodes[index + 1].group != nil {
                    throw CatalogSyntaxError(message: "LATERAL subqueries are not available")
                }
                isTablePlace =
                    node.isWord("from") || node.isWord("join") || node.isSymbol(",") || node.isWord("lateral")
                if !node.isWord("lateral") { result.append(node) }
                index += 1
                continue
            }
            let alias: [Node] = [.word("as"), .quoted(function.alias)]
            inference.note(function)
            if function.name == "generate_subscripts" { try noteCopy(of: function.arguments) }
            if Self.names(function.arguments, anyOf: tables) {
                guard laterals.count < CatalogLimits.lateralFunctions, function.isShort else {
                    throw CatalogSyntaxError(message: "the functions in FROM are too many or too long")
                }
                result += function.elements + alias
                laterals.append(function)
            } else {
                let columns = function.columns().map { $0.value + [.word("as"), .quoted($0.name)] }
                result +=
                    [.group([.word("select")] + columns.joined(separator: [.symbol(",")]) + [.word("from")] + function.elements)] + alias
            }
            isTablePlace = false
        }
        return result
    }

    /// What json_each is to be given for a function that returns a set.
    static func elements(of function: String, _ arguments: [Node]) -> [Node] {
        switch function {
        case "unnest", "pg_expand_n", "pg_expand_x": Node.call("pg_array", arguments)
        case "pg_get_keywords": [.string(keywords)]
        case "generate_subscripts": Node.call("pg_array", CatalogSyntax.split(arguments)[0])
        case "generate_series": Node.call("pg_series", arguments)
        default: Node.call(function, arguments)
        }
    }

    static let joinWords: Set = ["join", "left", "right", "inner", "full", "cross", "on", "natural", "using"]
}
