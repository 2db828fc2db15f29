/// What becomes of values in JSON: "Arrays and composites are converted recursively to arrays and objects", and a boolean
/// is true or false. https://www.postgresql.org/docs/15/functions-json.html
///
/// To SQLite all of these are texts and numbers, which its json_object() and json_array() write as strings and numbers, unless json() has
/// made them.
extension CatalogRewriter {
    /// The arguments of a function that makes an object or an array of them.
    func jsonValues(_ arguments: [Node], where isValue: (Int) -> Bool) -> [Node] {
        let parts = CatalogSyntax.split(arguments).enumerated().map { index, part -> [Node] in
            guard isValue(index) else { return part }
            let type = inference.type(of: part)
            if type == "bool" { return Node.call("json", Node.call("pg_bool_text", part)) }
            let (kind, value) = jsonElement(part)
            return kind == "json" ? Node.call("json", value) : value
        }
        return Array(parts.joined(separator: [.symbol(",")]))
    }

    /// What an aggregate takes, perhaps with its ORDER BY, and whether its text is JSON already, or a boolean.
    func jsonElement(_ arguments: [Node]) -> (kind: String, value: [Node]) {
        let value = Array(CatalogSyntax.split(arguments)[0].prefix { !$0.isWord("order") })
        guard let type = inference.type(of: value) else { return ("", arguments) }
        if type.hasSuffix("[]") { return ("json", Node.call("pg_array", value) + arguments.dropFirst(value.count)) }
        if type == "bool" { return (type, arguments) }
        return (type == "json" || type == "jsonb" ? "json" : "", arguments)
    }
}
