/// The types of parameters that no cast gives one, which PostgreSQL has from what they are compared with (see CatalogRewriter+Types).
///
/// Drivers such as asyncpg and pgx write a value as the type they are told, and refuse a number where that is text.
extension CatalogRewriter {
    private static let orders: Set = ["<", ">", "<=", ">="]
    /// Others are text, as names of the information schema are, or have a reader.
    private static let types: Set = ["oid", "int2", "int4", "int8", "float4", "float8", "name", "char"]

    mutating func typeParameters(_ nodes: [Node]) {
        for (index, node) in nodes.enumerated().dropLast() {
            if node.isWord("limit") || node.isWord("offset") {
                note(nodes[index + 1...index + 1], as: "int8")
            } else if let token = node.token, token.kind == .op, Self.comparisons.contains(token.text) || Self.orders.contains(token.text) {
                let (left, right) = (nodes[Self.operand(of: nodes, before: index)], nodes[Self.operand(of: nodes, from: index + 1)])
                note(left, as: right)
                note(right, as: left)
            } else if node.isWord("in"), let list = nodes[index + 1].group, list.first?.isWord("select") != true {
                let end = index > 0 && nodes[index - 1].isWord("not") ? index - 1 : index
                let left = nodes[Self.operand(of: nodes, before: end)]
                let parts = CatalogSyntax.split(list).filter { isUntyped($0[...]) }
                // Once for all: a list may be as long as the text.
                guard !parts.isEmpty, Self.number(left) == nil, !left.isEmpty else { continue }
                let type = inference.type(of: Array(left))
                for part in parts { note(part[...], as: type) }
            }
        }
    }

    /// `x = ANY (array)`, where either may be a parameter.
    mutating func typeParameter(beside array: [Node], _ operand: [Node]) {
        guard let number = Self.number(array[...]) else { return note(operand[...], as: inference.typeOfElement(of: array)) }
        guard parameterTypes[number] == nil else { return }
        let type = inference.type(of: operand).flatMap { Self.types.contains($0) ? $0 : nil }
        parameterTypes[number] = (type ?? "text") + "[]"
    }

    private mutating func note(_ operand: ArraySlice<Node>, as other: ArraySlice<Node>) {
        guard isUntyped(operand), Self.number(other) == nil, !other.isEmpty else { return }
        note(operand, as: inference.type(of: Array(other)))
    }

    private mutating func note(_ operand: ArraySlice<Node>, as type: String?) {
        guard let number = Self.number(operand), let type, Self.types.contains(type), parameterTypes[number] == nil else { return }
        parameterTypes[number] = type
    }

    private func isUntyped(_ operand: ArraySlice<Node>) -> Bool {
        Self.number(operand).map { parameterTypes[$0] == nil } ?? false
    }

    /// Of a parameter that stands alone.
    private static func number(_ operand: ArraySlice<Node>) -> Int? {
        guard operand.count == 1, let token = operand.first?.token, token.kind == .parameter else { return nil }
        return Int(token.text.dropFirst())
    }
}
