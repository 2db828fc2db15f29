/// What type the columns of a catalog statement have, where SQLite cannot say: drivers read values by it.
struct CatalogTypeInference: Sendable {
    typealias Node = CatalogNode

    /// Types of the aliases that the select lists of inner queries have given.
    private var aliases: [String: String] = [:]
    /// Those of the query at hand, which it does not see itself: `is_nullable = 'YES' AS is_nullable … WHERE is_nullable = 'YES'`.
    private var ownAliases: [String: String] = [:]
    /// The names that catalogs have in FROM, which say whose column it is.
    private let catalogs: Set<String>

    /// How many names and columns it knows.
    var count: Int { aliases.count + ownAliases.count + catalogs.count + outermost.count }

    init(catalogs: Set<String> = []) { self.catalogs = catalogs }
    /// The columns of the last select list that was noted first in its place: in the end the statement's own.
    private(set) var outermost: [String?] = []

    mutating func note(_ items: [[Node]], isFirst: Bool) {
        var types: [String?] = []
        for (index, item) in items.enumerated() {
            var item = item
            if index == 0, let first = item.first, first.isWord("distinct") || first.isWord("all") { item.removeFirst() }
            let (value, alias) = Self.withoutAlias(item)
            let isStar = value.last?.isOp("*") == true && (value.count == 1 || value[value.count - 2].isSymbol("."))
            let type = isStar ? Self.star : type(of: value)
            if let alias, let type { ownAliases[alias] = type }
            types.append(type)
        }
        if isFirst { outermost = types }
    }

    /// The query is complete: those around it see its columns.
    mutating func endQuery() {
        aliases.merge(ownAliases) { $1 }
        ownAliases = [:]
    }

    /// What stands in `outermost` for any number of columns.
    static let star = "*"

    static func withoutAlias(_ item: [Node]) -> (value: [Node], alias: String?) {
        if item.count >= 3, let name = item.last?.name, item[item.count - 2].isWord("as") { return (item.dropLast(2), name) }
        if item.count >= 2, let name = item.last?.name, endsOperand(item[item.count - 2]), name != "end" { return (item.dropLast(), name) }
        return (item, nil)
    }

    /// The columns of a function in FROM.
    mutating func note(_ function: CatalogRewriter.TableFunction) {
        var types: [String?]
        switch function.name {
        case "unnest": types = function.arrays.map { typeOfElement(of: $0) }
        case "generate_series", "generate_subscripts": types = ["int4"]
        default: types = [nil]
        }
        types.append("int8")
        for (column, type) in zip(function.columns(), types) { if let type { aliases[column.name] = type } }
    }

    private static func endsOperand(_ node: Node) -> Bool {
        switch node {
        case .group, .brackets: true
        case .token(let token):
            switch token.kind {
            case .symbol, .op: false
            case .word: !["is", "not", "and", "or", "then", "else", "distinct"].contains(token.text)
            default: true
            }
        }
    }

    private static let comparisons: Set = ["=", "<>", "!=", "<", ">", "<=", ">="]
    private static let predicates: Set = ["is", "in", "like", "regexp", "and", "or", "between"]

    func type(of nodes: [Node]) -> String? {
        let nodes = Self.withoutWindow(nodes)
        guard let first = nodes.first else { return nil }
        if first.isWord("case") { return typeOfCase(nodes) }
        // A cast at the end binds tighter than any operator, so without one it is the whole.
        let hasOperator = nodes.contains { node in
            if let token = node.token, token.kind == .op { return true }
            return node.word.map(Self.predicates.contains) ?? false
        }
        if first.isWord("not") || first.isWord("exists") { return "bool" }
        if hasOperator {
            let isPredicate = nodes.contains { node in
                if let token = node.token, token.kind == .op { return Self.comparisons.contains(token.text) }
                return node.word.map(Self.predicates.contains) ?? false
            }
            if isPredicate { return "bool" }
            if nodes.contains(where: { $0.isOp("||") }) { return "text" }
            return typeOfArithmetic(nodes)
        }
        if let cast = nodes.lastIndex(where: { $0.isSymbol("::") }) {
            var index = cast + 1
            return (try? CatalogCast.typeName(nodes, &index)).map(Self.name)
        }
        return typeOfOperand(nodes)
    }

    /// `count(*) FILTER (…) OVER (…)` is what the function is.
    private static func withoutWindow(_ nodes: [Node]) -> [Node] {
        var end = nodes.count
        // A call has one of each.
        for word in ["over", "filter"] where end > 2 && nodes[end - 2].isWord(word) { end -= 2 }
        return end == nodes.count ? nodes : Array(nodes[..<end])
    }

    /// From the narrowest to the widest.
    private static let numbers = ["int2", "int4", "int8", "float4", "float8"]

    private func typeOfArithmetic(_ nodes: [Node]) -> String? {
        if let json = nodes.last(where: { $0.isOp("->") || $0.isOp("->>") }) { return json.isOp("->") ? "json" : "text" }
        let operands = nodes.split { $0.token?.kind == .op }.map { type(of: Array($0)) }
        let ranks = operands.map { type in Self.numbers.firstIndex { $0 == (type == "oid" ? "int8" : type) } }
        guard let first = ranks.first, first != nil, ranks.allSatisfy({ $0 != nil }) else { return operands.first ?? nil }
        return Self.numbers[ranks.compactMap { $0 }.max()!]
    }

    func typeOfElement(of array: some Sequence<Node>) -> String? {
        switch type(of: Array(array)) {
        case "int2vector": "int2"
        case "oidvector": "oid"
        case let type?: type.hasSuffix("[]") ? String(type.dropLast(2)) : type
        case nil: nil
        }
    }

    private func typeOfOperand(_ nodes: [Node]) -> String? {
        guard let last = nodes.last else { return nil }
        if last.subscriptNodes != nil {
            // All of them at once: each by itself would be a recursion as deep as a client likes.
            let end = nodes.lastIndex { $0.subscriptNodes == nil }
            guard let end else { return nil }
            // A window has no elements either: a row of them would be such a recursion again.
            if end > 0, nodes[end - 1].isWord("over") || nodes[end - 1].isWord("filter") { return nil }
            if nodes[end].isWord("array") { return end == nodes.count - 2 ? typeOfArray(last.subscriptNodes ?? []) : nil }
            return typeOfElement(of: nodes[...end])
        }
        if let inside = last.group {
            guard nodes.count >= 2, let function = nodes[nodes.count - 2].name else { return typeOfGroup(inside) }
            return typeOfCall(function, inside)
        }
        guard let token = last.token else { return nil }
        switch token.kind {
        case .string: return "text"
        case .number: return Int32(token.text) != nil ? "int4" : Int64(token.text) != nil ? "int8" : "float8"
        case .word where token.text == "true" || token.text == "false": return "bool"
        case .word, .quoted:
            let table = nodes.count > 2 && nodes[nodes.count - 2].isSymbol(".") ? nodes[nodes.count - 3].name : nil
            return type(ofColumn: token.text, isCatalogs: table.map(catalogs.contains) ?? false)
        default: return nil
        }
    }

    func type(ofColumn name: String, isCatalogs: Bool = false) -> String? {
        let known = CatalogTables.columnTypes[name] ?? CatalogViews.columnTypes[name]
        return isCatalogs ? known : aliases[name] ?? known
    }

    /// `array['a', NULL]`; of what is in it nothing may be known.
    private func typeOfArray(_ elements: [Node]) -> String {
        // Each is asked once: an array within it asks all of its own.
        for element in CatalogSyntax.split(elements) where element.first?.isWord("null") != true {
            if let type = type(of: element) { return type + "[]" }
        }
        return "text[]"
    }

    private func typeOfGroup(_ inside: [Node]) -> String? {
        guard inside.first?.isWord("select") == true else { return type(of: inside) }
        let list = inside.dropFirst().prefix { !$0.isWord("from") }
        var items = CatalogSyntax.split(Array(list))[0]
        if items.count >= 3, items[items.count - 2].isWord("as") { items.removeLast(2) }
        return type(of: items)
    }

    private static let endsBranch = ["when", "then", "else", "end", "case"]

    private func typeOfCase(_ nodes: [Node]) -> String? {
        var types: [String?] = []
        // Conditions and nested CASEs, whose branches are found as this one's are, lie between others' THEN and WHEN.
        for (index, node) in nodes.enumerated() where node.isWord("then") || node.isWord("else") {
            let branch = nodes[(index + 1)...].prefix { node in !Self.endsBranch.contains { node.isWord($0) } }
            // A CASE in a branch has branches of its own.
            if branch.isEmpty || branch.first?.isWord("null") == true { continue }
            types.append(type(of: Array(branch)))
        }
        return types.isEmpty ? "text" : Self.common(types)
    }

    /// Of values that stand for one another: that of the first, or of numbers the widest.
    private static func common(_ types: [String?]) -> String? {
        let ranks = types.compactMap { type in type.flatMap { numbers.firstIndex(of: $0) } }
        guard ranks.count == types.count, let widest = ranks.max() else { return types.first { $0 != nil } ?? nil }
        return numbers[widest]
    }

    private func typeOfCall(_ function: String, _ arguments: [Node]) -> String? {
        switch function {
        case "cast":
            guard let at = arguments.lastIndex(where: { $0.isWord("as") }) else { return nil }
            var index = at + 1
            return (try? CatalogCast.typeName(arguments, &index)).map(Self.name)
        case "array_agg": return (type(of: CatalogSyntax.split(arguments)[0].prefix { !$0.isWord("order") }) ?? "text") + "[]"
        case "array": return (typeOfGroup(arguments) ?? "text") + "[]"
        case "min", "max", "nullif", "abs", "lag", "lead", "first_value", "last_value": return type(of: CatalogSyntax.split(arguments)[0])
        case "coalesce", "greatest", "least":
            let values = CatalogSyntax.split(arguments).filter { $0.first?.isWord("null") != true }
            return Self.common(values.map { type(of: $0) })
        case "unnest", "pg_element", "pg_nth": return typeOfElement(of: CatalogSyntax.split(arguments)[0])
        case "sum": return type(of: CatalogSyntax.split(arguments)[0]).map { $0.hasPrefix("float") ? "float8" : "int8" } ?? "int8"
        case "avg": return "float8"
        case "count", "row_number", "rank", "dense_rank": return "int8"
        case "generate_subscripts", "generate_series", "array_lower", "array_upper", "array_length", "pg_backend_pid", "length",
            "char_length", "octet_length", "strpos", "instr", "position", "ascii", "array_position", "cardinality", "pg_char_to_encoding",
            "pg_expand_n":
            return "int4"
        case "bool_and", "bool_or", "every", "pg_bool", "pg_index_column_has_property": return "bool"
        // What `array[…]` becomes.
        case "json_array": return typeOfArray(arguments)
        case "json_build_object", "json_build_array", "json", "json_object", "json_agg", "pg_json_agg": return "json"
        case "jsonb_agg", "jsonb_build_object", "jsonb_build_array": return "jsonb"
        case "pg_oid", "pg_function_oid", "pg_my_temp_schema": return "oid"
        case "pg_regclass_oid", "pg_regclass_of", "to_regclass": return "regclass"
        case "pg_regtype_oid", "to_regtype": return "regtype"
        case "pg_regnamespace_oid": return "regnamespace"
        case "pg_regproc_oid": return "regproc"
        case "pg_database_size", "pg_table_size", "pg_total_relation_size", "pg_relation_size", "pg_indexes_size",
            "pg_tablespace_size", "pg_stat_get_numscans":
            return "int8"
        default:
            if function.hasSuffix("_is_visible") || function.hasPrefix("has_") || function == "pg_has_role"
                || function == "pg_is_in_recovery" || function == "pg_relation_is_publishable" || function == "pg_column_is_updatable"
                || function == "starts_with"
            {
                return "bool"
            }
            return "text"
        }
    }

    private func type(of nodes: some Sequence<Node>) -> String? { type(of: Array(nodes)) }

    static func name(_ type: CatalogCast.TypeName) -> String {
        let name = type.name.hasPrefix("reg") && CatalogRewriter.readers[type.name] == nil ? "text" : names[type.name] ?? type.name
        return name + (type.isArray ? "[]" : "")
    }

    private static let names = [
        "boolean": "bool", "smallint": "int2", "int": "int4", "integer": "int4", "bigint": "int8", "real": "float4",
        "double precision": "float8", "char": "bpchar", "character": "bpchar", "\"char\"": "char",
    ]
}
