import PostgresWire

/// What a column's affinity makes of a value (https://www.sqlite.org/datatype3.html#type_affinity): of one that is stored, and of one
/// that a VIRTUAL generated column calculates.
extension ProgramValue {
    /// Of what is no parameter; a parameter's class is the client's choice.
    mutating func apply(_ affinity: Affinity) {
        let before = (classes, likely)
        switch affinity {
        case .text: applyText()
        case .real: applyReal()
        case .integer, .numeric: applyNumeric(affinity)
        case .none, .blob: return
        }
        guard before != (classes, likely) else { return }
        (declared, origins) = (.unknown, .other)
    }

    /// "If numerical data is inserted into a column with TEXT affinity it is converted into text form before being stored."
    private mutating func applyText() {
        if !classes.isDisjoint(with: [.integer, .real]) {
            classes.subtract([.integer, .real])
            classes.insert(.text)
        }
        switch likely {
        case .nothing: break
        case .type(let type) where !type.isNumber: break
        default: likely = .type(.text)
        }
    }

    /// "A column with REAL affinity behaves like a column with NUMERIC affinity except that it forces integer values into floating point
    /// representation."
    private mutating func applyReal() {
        if classes.remove(.integer) != nil || classes.contains(.text) { classes.insert(.real) }
        switch likely {
        case .nothing, .type(.bytea): break
        default: likely = .type(.float8)
        }
    }

    /// "When text data is inserted into a NUMERIC column, the storage class of the text is converted to INTEGER or REAL (in order of
    /// preference) if the text is a well-formed integer or real literal … If a floating point value that can be represented exactly as an
    /// integer is inserted into a column with NUMERIC affinity, the value is converted into an integer."
    private mutating func applyNumeric(_ affinity: Affinity) {
        if classes.contains(.text) { classes.formUnion([.integer, .real]) }
        if classes.contains(.real) { classes.insert(.integer) }
        // A column that is declared NUMERIC, or as a date, holds what it is given.
        guard affinity == .integer else { return }
        switch likely {
        case .type(let type) where type.isStoredAsText: likely = .type(.int8)
        case .unknown: likely = .type(.int8)
        default: break
        }
    }
}
