/// `x::type` in a catalog statement.
enum CatalogCast {
    typealias Node = CatalogNode

    struct TypeName {
        var name: String
        var isArray: Bool
    }

    /// Where the operand begins that ends the nodes: `a.b`, `f(x)`, `(x)`, a literal.
    static func operandStart(_ nodes: [Node]) -> Int {
        var start = nodes.count - 1
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

    static func cast(_ operand: [Node], to type: TypeName) throws(CatalogSyntaxError) -> [Node] {
        if type.isArray { return Node.call("pg_array", operand) }
        // A name that is looked up is a literal or a parameter; what is shown by its name is a column.
        let isLookup = operand.count == 1 && (operand[0].token?.kind == .string || operand[0].token?.kind == .parameter)
        switch type.name {
        case "text", "varchar", "character varying", "name", "char", "\"char\"", "bpchar", "character", "cstring":
            if operand.first?.isWord("pg_regclass_oid") == true { return [.word("pg_regclass_name")] + operand.dropFirst() }
            if operand.first?.isWord("pg_regtype_oid") == true {
                return Node.call("format_type", operand.dropFirst() + [.symbol(","), .word("null")])
            }
            return Node.call("cast", operand + [.word("as"), .word("text")])
        case "int", "int2", "int4", "int8", "integer", "smallint", "bigint", "xid", "cid":
            return Node.call("cast", operand + [.word("as"), .word("integer")])
        case "oid": return Node.call("pg_oid", operand)
        case "regclass": return Node.call(isLookup ? "pg_regclass_oid" : "pg_regclass_name", operand)
        case "regtype":
            return isLookup
                ? Node.call("pg_regtype_oid", operand) : Node.call("format_type", operand + [.symbol(","), .word("null")])
        case "regnamespace": return Node.call(isLookup ? "pg_regnamespace_oid" : "pg_regnamespace_name", operand)
        case "regrole": return Node.call("pg_get_userbyid", operand)
        case "regproc", "regprocedure", "regoper", "regconfig", "regdictionary":
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
