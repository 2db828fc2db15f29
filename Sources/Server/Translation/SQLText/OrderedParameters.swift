/// Which parameters of a statement are compared by their order: `v > $1`, `v BETWEEN $1 AND $2`.
enum OrderedParameters {
    /// One may be there more than once.
    static func places(_ statement: UnsafeRawBufferPointer, _ places: ParameterPlaces) -> [Int] {
        guard var operands = OrderedOperands(TokenTable(statement)) else { return [] }
        var result: [Int] = []
        var highest = 0
        for parameter in operands.table.parameters {
            let name = operands.table.tokens[parameter.index].bytes
            let known = ParameterName(name)
            // Beside a `?` SQLite's indexes are the numbers: see `StatementParameters`.
            let isPositional = known == .positional
            if isPositional { highest += 1 }
            if case .numbered(let number, _) = known { highest = max(highest, number) }
            guard operands.contains(parameter.index) else { continue }
            if let place = isPositional ? places.place(ofIndex: highest) : places.place(of: name) { result.append(place) }
        }
        return result
    }
}
