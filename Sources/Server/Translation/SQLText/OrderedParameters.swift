/// Which parameters of a statement are compared by their order: `v > $1`, `v BETWEEN $1 AND $2`.
enum OrderedParameters {
    /// One may be there more than once.
    static func places(_ statement: UnsafeRawBufferPointer, _ places: ParameterPlaces) -> [Int] {
        guard var operands = OrderedOperands(TokenTable(statement)) else { return [] }
        var result: [Int] = []
        var inOrder = ParameterPlaces.InOrder(places)
        for parameter in operands.table.parameters {
            let place = inOrder.place(of: operands.table.tokens[parameter.index].bytes)
            if let place, operands.contains(parameter.index) { result.append(place) }
        }
        return result
    }
}
