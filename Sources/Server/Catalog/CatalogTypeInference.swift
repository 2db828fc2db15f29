/// What type the columns of a catalog statement have, where SQLite cannot say: drivers read values by it.
struct CatalogTypeInference {
    typealias Node = CatalogNode

    /// Types of the aliases that select lists have given so far.
    private var aliases: [String: String] = [:]
    /// The columns of the last select list that was noted first in its place: in the end the statement's own.
    private(set) var outermost: [String?] = []

    mutating func note(_ items: [[Node]], isFirst: Bool) {
        var types: [String?] = []
        for (index, item) in items.enumerated() {
            var item = item[...]
            if index == 0, let first = item.first, first.isWord("distinct") || first.isWord("all") { item = item.dropFirst() }
            var alias: String?
            if item.count >= 3, let name = item.last?.name, item[item.endIndex - 2].isWord("as") {
                alias = name
                item = item.dropLast(2)
            } else if item.count >= 2, let name = item.last?.name, Self.endsOperand(item[item.endIndex - 2]), name != "end" {
                alias = name
                item = item.dropLast()
            }
            let type = type(of: Array(item))
            if let alias, let type { aliases[alias] = type }
            types.append(type)
        }
        if isFirst { outermost = types }
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

    private func type(of nodes: [Node]) -> String? {
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
            return type(of: Array(nodes.prefix { $0.token?.kind != .op }))
        }
        if let cast = nodes.lastIndex(where: { $0.isSymbol("::") }) {
            var index = cast + 1
            return (try? CatalogCast.typeName(nodes, &index)).map(Self.name)
        }
        return typeOfOperand(nodes)
    }

    private func typeOfOperand(_ nodes: [Node]) -> String? {
        guard let last = nodes.last else { return nil }
        if let inside = last.group {
            guard nodes.count >= 2, let function = nodes[nodes.count - 2].name else { return typeOfGroup(inside) }
            return typeOfCall(function, inside)
        }
        guard let token = last.token else { return nil }
        switch token.kind {
        case .string: return "text"
        case .number: return token.text.contains(".") ? "float8" : "int4"
        case .word where token.text == "true" || token.text == "false": return "bool"
        case .word, .quoted: return aliases[token.text] ?? CatalogTables.columnTypes[token.text]
        default: return nil
        }
    }

    private func typeOfGroup(_ inside: [Node]) -> String? {
        guard inside.first?.isWord("select") == true else { return type(of: inside) }
        let list = inside.dropFirst().prefix { !$0.isWord("from") }
        var items = CatalogSyntax.split(Array(list))[0]
        if items.count >= 3, items[items.count - 2].isWord("as") { items.removeLast(2) }
        return type(of: items)
    }

    private func typeOfCase(_ nodes: [Node]) -> String? {
        // The first branch that is not NULL decides; conditions and nested CASEs lie between others' THEN and WHEN.
        for (index, node) in nodes.enumerated() where node.isWord("then") || node.isWord("else") {
            let branch = nodes[(index + 1)...].prefix { !$0.isWord("when") && !$0.isWord("else") && !$0.isWord("end") }
            if branch.first?.isWord("null") == true { continue }
            return type(of: Array(branch))
        }
        return "text"
    }

    private func typeOfCall(_ function: String, _ arguments: [Node]) -> String? {
        switch function {
        case "cast":
            guard let at = arguments.lastIndex(where: { $0.isWord("as") }) else { return nil }
            var index = at + 1
            return (try? CatalogCast.typeName(arguments, &index)).map(Self.name)
        case "array_agg": return (type(of: CatalogSyntax.split(arguments)[0].prefix { !$0.isWord("order") }) ?? "text") + "[]"
        case "array": return (typeOfGroup(arguments) ?? "text") + "[]"
        case "min", "max", "coalesce", "nullif", "greatest", "least", "unnest":
            let type = type(of: CatalogSyntax.split(arguments)[0])
            guard function == "unnest", let type else { return type }
            switch type {
            case "int2vector": return "int2"
            case "oidvector": return "oid"
            default: return type.hasSuffix("[]") ? String(type.dropLast(2)) : type
            }
        case "count", "sum": return "int8"
        case "row_number": return "int8"
        case "generate_subscripts", "generate_series", "array_upper", "array_length", "pg_backend_pid", "length",
            "array_position", "cardinality", "pg_char_to_encoding", "pg_expand_n":
            return "int4"
        case "bool_and", "bool_or", "every": return "bool"
        case "json_build_object", "json_object": return "json"
        case "pg_regtype_oid", "pg_regclass_oid", "pg_oid", "to_regtype", "to_regclass": return "oid"
        case "pg_database_size", "pg_table_size", "pg_total_relation_size", "pg_relation_size", "pg_indexes_size":
            return "int8"
        default:
            if function.hasSuffix("_is_visible") || function.hasPrefix("has_") || function == "pg_has_role"
                || function == "pg_is_in_recovery" || function == "pg_relation_is_publishable" || function == "starts_with"
            {
                return "bool"
            }
            return "text"
        }
    }

    private func type(of nodes: some Sequence<Node>) -> String? { type(of: Array(nodes)) }

    private static func name(_ type: CatalogCast.TypeName) -> String {
        // A relation or type is shown by its name, which is text.
        let shown = type.name.hasPrefix("reg") ? "text" : type.name
        return shown + (type.isArray ? "[]" : "")
    }
}
