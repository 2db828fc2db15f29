/// Types that SQLite has no idea of: it has 0 and 1 for a boolean, and an OID is a number.
///
/// A literal or a parameter beside an operand of such a type is read as that type: `indisprimary = 't'`. "If any input arguments are of
/// unknown type", PostgreSQL assumes the other's: https://www.postgresql.org/docs/current/typeconv-oper.html. What is an OID with a name
/// is compared by the OID and shown by the name: https://www.postgresql.org/docs/current/datatype-oid.html
extension CatalogRewriter {
    static let comparisons: Set = ["=", "<>", "!="]
    /// By type: the function that makes the OID, or the boolean, of whatever it is given.
    static let readers = [
        "bool": "pg_bool", "regclass": "pg_regclass_oid", "regtype": "pg_regtype_oid", "regnamespace": "pg_regnamespace_oid",
        "regproc": "pg_regproc_oid",
    ]
    /// Functions to which a relation is its name.
    private static let showing: Set = [
        "array_agg", "json_agg", "jsonb_agg", "json_build_object", "json_build_array", "jsonb_build_object", "jsonb_build_array", "to_json",
        "concat", "concat_ws", "format",
    ]

    /// The operand as PostgreSQL prints its type; nil where SQLite prints it so.
    static func shown(_ operand: [Node], of type: String?) -> [Node]? {
        let inside = operand.count == 2 && isRead(operand) ? operand[1].group ?? operand : operand
        switch type {
        case "bool": return Node.call("pg_bool_text", operand)
        case "regclass": return Node.call("pg_regclass_name", inside)
        case "regnamespace": return Node.call("pg_regnamespace_name", inside)
        // The catalogs hold the name itself.
        case "regproc": return isRead(operand) ? Node.call("pg_regproc_name", inside) : nil
        case "regtype": return Node.call("format_type", Node.call("pg_regtype_oid", inside) + [.symbol(","), .word("null")])
        default: return nil
        }
    }

    /// It is an OID or a boolean already.
    static func isRead(_ operand: [Node]) -> Bool {
        operand.first?.word.map { readers.values.contains($0) || $0 == "pg_regclass_of" } ?? false
    }

    static func hasName(_ type: String?) -> Bool { type.map { $0 != "bool" && readers[$0] != nil } ?? false }

    /// A select list's items that have names are shown by them.
    mutating func shown(_ items: [Node], isOutermost: Bool) throws(CatalogSyntaxError) -> [Node] {
        let head = items.prefix { $0.isWord("distinct") || $0.isWord("all") }
        var parts: [[Node]] = []
        for item in CatalogSyntax.split(Array(items.dropFirst(head.count))) {
            let (value, alias) = CatalogTypeInference.withoutAlias(item)
            let type = inference.type(of: value)
            guard Self.hasName(type), let shown = Self.shown(try expressions(value), of: type) else {
                parts.append(item)
                continue
            }
            // PostgreSQL names the column as what is cast, or else as the type.
            let isCast = value.count >= 3 && value[value.count - 2].isSymbol("::")
            let name = alias ?? (isOutermost ? (isCast ? value[value.count - 3].name : nil) ?? type : nil)
            parts.append(shown + (name.map { [.word("as"), .quoted($0)] } ?? []))
        }
        return Array(head) + parts.joined(separator: [.symbol(",")])
    }

    /// The arguments of a function that shows them.
    func shown(_ arguments: [Node], by function: String) -> [Node] {
        guard Self.showing.contains(function) else { return arguments }
        let parts = CatalogSyntax.split(arguments).map { argument -> [Node] in
            let value = Array(argument.prefix { !$0.isWord("order") })
            let type = inference.type(of: value)
            guard Self.hasName(type), let shown = Self.shown(value, of: type) else { return argument }
            return shown + argument.dropFirst(value.count)
        }
        return Array(parts.joined(separator: [.symbol(",")]))
    }
}
