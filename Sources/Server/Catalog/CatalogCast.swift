/// `x::type` in a catalog statement.
enum CatalogCast {
    typealias Node = CatalogNode

    struct TypeName {
        var name: String
        var isArray: Bool
    }

    /// Where the operand begins that ends the nodes: `a.b`, `f(x)`, `(x)`, a literal.
    static func operandStart(_ nodes: [Node], before end: Int? = nil) -> Int {
        var start = (end ?? nodes.count) - 1
        guard start > 0 else { return max(0, start) }
        if nodes[start].group != nil {
            guard let name = nodes[start - 1].name, !keywordsBeforeGroup.contains(name) else { return start }
            return start - 1
        }
        while start >= 2, nodes[start].isName || nodes[start].isOp("*"), nodes[start - 1].isSymbol("."), nodes[start - 2].isName {
            start -= 2
        }
        return start
    }

    private static let keywordsBeforeGroup: Set = [
        "and", "or", "not", "in", "select", "when", "then", "else", "case", "where", "on", "as", "from", "by", "having",
        "values", "any", "exists", "union", "all", "distinct", "like", "regexp", "is", "between",
    ]

    /// A type's name behind `::` or AS: `text`, `"char"`, `character varying(10)`, `oid[]`.
    static func typeName(_ nodes: [Node], _ index: inout Int) throws(CatalogSyntaxError) -> TypeName {
        guard index < nodes.count, let first = nodes[index].token, first.isName else {
            throw CatalogSyntaxError(message: "a type name is expected")
        }
        index += 1
        var name = first.kind == .quoted && first.text == "char" ? "\"char\"" : first.text
        let seconds = ["character": "varying", "double": "precision", "bit": "varying"]
        if index < nodes.count, let second = seconds[name], nodes[index].isWord(second) {
            name += " " + second
            index += 1
        }
        if name == "timestamp" || name == "time", index + 2 < nodes.count,
            nodes[index].isWord("with") || nodes[index].isWord("without")
        {
            name += " \(nodes[index].word!) time zone"
            index += 3
        }
        if index < nodes.count, nodes[index].group != nil { index += 1 }
        var isArray = false
        while index < nodes.count, let inside = nodes[index].subscriptNodes, inside.isEmpty {
            isArray = true
            index += 1
        }
        return TypeName(name: name, isArray: isArray)
    }

    static let texts: Set = ["text", "varchar", "character varying", "name", "char", "\"char\"", "bpchar", "character", "cstring"]
    static let integers: Set = ["int", "int2", "int4", "int8", "integer", "smallint", "bigint", "xid", "cid"]

    /// - Parameter from: the operand's type, as far as it is known.
    static func cast(_ operand: [Node], from: String?, to type: TypeName) throws(CatalogSyntaxError) -> [Node] {
        if type.isArray {
            guard !type.name.hasPrefix("reg") else { throw CatalogSyntaxError(message: "arrays of \(type.name) are not available") }
            return Node.call("pg_array", operand)
        }
        if texts.contains(type.name) {
            if let from, from.hasSuffix("[]") { return Node.call("pg_array_text", operand + [.symbol(","), .string(from)]) }
            return CatalogRewriter.shown(operand, of: from) ?? Node.call("cast", operand + [.word("as"), .word("text")])
        }
        if integers.contains(type.name) {
            // SQLite cuts what PostgreSQL rounds, and takes any text for a number.
            let isInteger = from.map { integers.contains($0) || $0 == "oid" || $0 == "bool" } ?? false
            return Node.call("cast", (isInteger ? operand : Node.call("pg_integer", operand)) + [.word("as"), .word("integer")])
        }
        switch type.name {
        case "oid" where from == "regproc":
            return CatalogRewriter.isRead(operand)
                ? Node.call("pg_function_oid", operand[1].group ?? []) : Node.call("pg_regproc_oid", operand)
        case "oid": return Node.call("pg_oid", operand)
        // What an expression gives may be no relation's name in rows that PostgreSQL would not come to, because it joins in
        // another order.
        case "regclass" where !(operand.count == 1 && [.string, .parameter, .number].contains(operand[0].token?.kind)):
            return Node.call("pg_regclass_of", operand)
        case "regclass", "regtype", "regnamespace", "regproc": return Node.call("pg_\(type.name)_oid", operand)
        case "regrole": return Node.call("pg_get_userbyid", operand)
        case "regprocedure", "regoper", "regoperator", "regconfig", "regdictionary":
            return Node.call("cast", operand + [.word("as"), .word("text")])
        case "bool", "boolean": return Node.call("pg_bool", operand)
        case "float4", "float8", "real", "double precision", "numeric", "decimal":
            return Node.call("cast", operand + [.word("as"), .word("real")])
        case "json", "jsonb", "int2vector", "oidvector", "unknown", "pg_node_tree", "date", "timestamp", "timestamptz",
            "timestamp with time zone", "timestamp without time zone", "interval", "anyarray", "inet", "uuid":
            return [.group(operand)]
        default: throw CatalogSyntaxError(message: "type \"\(type.name)\" is not available for catalogs")
        }
    }
}
