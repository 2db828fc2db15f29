/// Functions in FROM that are about their neighbours there: `FROM pg_index i, unnest(i.indkey, i.indoption) WITH ORDINALITY
/// k(key, option, n)`, as Django asks.
///
/// A subquery of SQLite's sees nothing of the tables beside it, but the arguments of a table-valued function do
/// (https://www.sqlite.org/vtab.html#tabfunc2). So json_each stands in FROM by itself, and the names become what they stand for.
extension CatalogRewriter {
    /// The names by which the tables of a FROM clause are known, in order.
    static func tables(in source: [Node]) -> [String] {
        var names: [String] = []
        for index in source.indices.dropFirst() where isBeforeTable(source[index - 1]) {
            var next = index
            if source[next].isWord("lateral") { next += 1 }
            if next < source.count, let function = TableFunction(source, &next) {
                names.append(function.alias)
                continue
            }
            var alias = next + 1
            if alias < source.count, source[alias].isWord("as") { alias += 1 }
            let isNamed = alias < source.count && source[alias].isName && !joinWords.contains(source[alias].name ?? "")
            names.append((isNamed ? source[alias].name : source.indices.contains(next) ? source[next].name : nil) ?? "")
        }
        return names
    }

    /// In a condition `(SELECT …) AND (…)` looks the same.
    static func isBeforeTable(_ node: Node) -> Bool {
        node.isWord("from") || node.isWord("join") || node.isSymbol(",")
    }

    /// Whether a column of one of the tables is meant somewhere.
    static func names(_ nodes: [Node], anyOf tables: Set<String>) -> Bool {
        nodes.indices.contains { index in
            if let inside = nodes[index].group ?? nodes[index].subscriptNodes { return names(inside, anyOf: tables) }
            guard index + 1 < nodes.count, nodes[index + 1].isSymbol("."), let name = nodes[index].name else { return false }
            return tables.contains(name) && (index == 0 || !nodes[index - 1].isSymbol("."))
        }
    }

    /// The select list: `*` is its tables' columns one by one.
    static func columnsOfStars(_ items: [Node], _ laterals: LateralColumns, tables: [String]) throws(CatalogSyntaxError) -> [Node] {
        let head = items.prefix { $0.isWord("distinct") || $0.isWord("all") }
        var parts: [[Node]] = []
        for item in CatalogSyntax.split(Array(items.dropFirst(head.count))) {
            let isStar = item.last?.isOp("*") == true && (item.count == 1 || item.count == 3 && item[1].isSymbol("."))
            guard isStar else {
                parts.append(item)
                continue
            }
            for table in item.count == 1 ? tables : [item[0].name ?? ""] {
                guard !table.isEmpty else { throw CatalogSyntaxError(message: "a subquery in FROM needs a name here") }
                if let function = laterals.functions[table] {
                    parts += function.ownColumns.map { [.quoted(table), .symbol("."), .quoted($0.name)] }
                } else {
                    parts.append([.quoted(table), .symbol("."), .op("*")])
                }
                guard parts.count <= CatalogLimits.selectList else { throw CatalogSyntaxError(message: "the select list is too long") }
            }
        }
        return Array(head) + parts.joined(separator: [.symbol(",")])
    }

    /// The select list: what was only a column keeps its name.
    static func replaceColumns(inList items: [Node], _ laterals: LateralColumns) -> [Node] {
        let head = items.prefix { $0.isWord("distinct") || $0.isWord("all") }
        let parts = CatalogSyntax.split(Array(items.dropFirst(head.count))).map { item -> [Node] in
            let value = replaceColumns(item, laterals)
            let isColumn = (item.count == 1 || item.count == 3) && value.count == 1 && value[0].group != nil && item[0].group == nil
            return isColumn ? value + [.word("as"), .quoted(item[item.count - 1].name ?? "")] : value
        }
        return Array(head) + parts.joined(separator: [.symbol(",")])
    }

    /// The FROM clause: outside of its conditions a lone name is a table's.
    static func replaceColumns(inFrom source: [Node], _ laterals: LateralColumns) -> [Node] {
        var result: [Node] = []
        var start = 0
        var isCondition = false
        func take(upTo end: Int) {
            result += replaceColumns(Array(source[start..<end]), laterals, takesBareNames: isCondition)
            start = end
        }
        for (index, node) in source.enumerated() where node.isWord("on") || isBeforeTable(node) {
            take(upTo: index + 1)
            isCondition = node.isWord("on")
        }
        take(upTo: source.count)
        return result
    }

    /// In a subquery only the names with their table's before them are certain to be meant.
    static func replaceColumns(_ nodes: [Node], _ laterals: LateralColumns, takesBareNames: Bool = true) -> [Node] {
        var result: [Node] = []
        var index = 0
        while index < nodes.count {
            defer { index += 1 }
            switch nodes[index] {
            case .group(let inside):
                let isQuery = inside.first?.isWord("select") == true || inside.first?.isWord("with") == true
                result.append(.group(replaceColumns(inside, laterals, takesBareNames: takesBareNames && !isQuery)))
            case .brackets(let inside): result.append(.brackets(replaceColumns(inside, laterals, takesBareNames: takesBareNames)))
            case .token:
                let (table, name) = columnName(nodes, index)
                guard let name, table != nil || takesBareNames, let value = laterals.value(of: name, table) else {
                    result.append(nodes[index])
                    continue
                }
                result.append(.group(value))
                if table != nil { index += 2 }
            }
        }
        return result
    }

    /// The column that is named here, perhaps with its table's name.
    private static func columnName(_ nodes: [Node], _ index: Int) -> (table: String?, name: String?) {
        let before = index > 0 ? nodes[index - 1] : nil
        guard let name = nodes[index].name, before?.isSymbol(".") != true, before?.isWord("as") != true else { return (nil, nil) }
        guard index + 1 < nodes.count else { return (nil, name) }
        if nodes[index + 1].isSymbol(".") { return (name, index + 2 < nodes.count ? nodes[index + 2].name : nil) }
        return (nil, nodes[index + 1].group == nil ? name : nil)
    }
}
