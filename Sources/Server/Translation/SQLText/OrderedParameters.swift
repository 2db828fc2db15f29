/// Which parameters of a statement are compared by their order: `v > $1`, `v BETWEEN $1 AND $2`.
enum OrderedParameters {
    /// One may be there more than once.
    static func places(_ statement: UnsafeRawBufferPointer, _ places: ParameterPlaces) -> [Int] {
        guard var operands = OrderedOperands(TokenTable(statement)) else { return [] }
        var result: [Int] = []
        var positional = 0
        for parameter in operands.table.parameters {
            let name = operands.table.tokens[parameter.index].bytes
            // With one `?` all are: see `StatementParameters`.
            let isPositional = ParameterName(name) == .positional
            if isPositional { positional += 1 }
            guard operands.contains(parameter.index) else { continue }
            if let place = isPositional ? places.place(ofIndex: positional) : places.place(of: name) { result.append(place) }
        }
        return result
    }
}
