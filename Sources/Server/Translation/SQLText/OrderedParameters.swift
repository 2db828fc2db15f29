import PostgresWire

/// Where parameters of a statement are compared by their order: `v > $1`, `v BETWEEN $1 AND $2`.
enum OrderedParameters {
    struct Place: Equatable {
        let number: Int
        /// What stands behind it there: `$1::jsonb`.
        let cast: TypeOID?
    }

    static func places(_ statement: UnsafeRawBufferPointer) -> [Place] {
        guard var operands = OrderedOperands(TokenTable(statement)) else { return [] }
        var result: [Place] = []
        var highest = 0
        for parameter in operands.table.parameters {
            let bytes = operands.table.tokens[parameter.index].bytes
            let (number, type) =
                switch ParameterName(bytes) {
                case .numbered(let number, let type): (number, type)
                default: (highest + 1, nil)
                }
            highest = max(highest, number)
            guard operands.contains(parameter.index) else { continue }
            let cast = type.flatMap { TypeOID(sqlName: String(decoding: bytes[$0], as: UTF8.self)) }
            result.append(Place(number: number, cast: cast))
        }
        return result
    }
}
