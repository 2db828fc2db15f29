import PostgresWire
import SQLite

/// A statement's parameters, as SQLite counts them and as PostgreSQL does, with the types that stand in their names (`$1::int8`).
struct StatementParameters {
    /// In the order of SQLite's indexes.
    private(set) var slots: [ParameterSlot] = []
    /// By PostgreSQL's number: the type in the statement's own text, or `.unspecified`.
    private(set) var types: [TypeOID] = []
    /// Those that have that type in one place, and none or another elsewhere.
    private(set) var casts: [ParameterCast] = []

    /// - Parameter sql: the text `statement` was prepared from.
    /// - Throws: `.undefinedParameter`, `.indeterminateDatatype`, as PostgreSQL does; and for a type's name that nobody knows.
    init(of statement: Statement, _ sql: UnsafeRawBufferPointer, _ numbered: NumberedParameters?) throws(WireError) {
        if let numbered {
            (slots, types, casts) = (numbered.slots, numbered.types, numbered.casts)
            return
        }
        guard statement.parameterCount > 0 else { return }
        let names = ParameterNames(sql, of: statement)
        var found: [(number: Int, type: TypeOID)] = []
        for index in 1...statement.parameterCount {
            found.append(try parameter(names.name(index) ?? "", at: index))
            slots.append(ParameterSlot(index: index, number: found[index - 1].number))
        }
        if isMisnumbered(sql, found) { throw Self.positionalBesideNumbered }
        let count = try Self.unbrokenCount(slots)
        let known = ParameterCasts(found)
        types = known.types.prefix(count).map { $0 ?? .unspecified }
        casts = known.mixed
        for (position, parameter) in found.enumerated() { slots[position].cast = known.position(parameter.number, parameter.type) }
    }

    /// - Parameter index: SQLite's; those before it are in `slots`.
    private func parameter(_ name: String, at index: Int) throws(WireError) -> (number: Int, type: TypeOID) {
        switch name.withBytes({ ParameterName(name.isEmpty ? nil : $0) }) {
        case .numbered(let number, nil): return (number, .unspecified)
        case .numbered(let number, let range?):
            let typeName = String(decoding: Array(name.utf8)[range], as: UTF8.self)
            guard let known = TypeOID(sqlName: typeName) else { throw .noType(typeName) }
            return (number, known)
        case .positional:
            guard slots.count == index - 1, slots.last.map({ $0.number == index - 1 }) ?? true else {
                throw Self.positionalBesideNumbered
            }
            return (index, .unspecified)
        case .named, .outOfRange, .malformed:
            throw WireError(
                state: .undefinedParameter, message: "there is no parameter \(name)",
                hint: "Parameters are written $1, $2, ... or, with a type, $1::int8.")
        }
    }

    /// To SQLite `?1` is what it came upon first, as `$2` or `$1::date` may be; and `$1` has a number of its own behind `?`.
    private func isMisnumbered(_ sql: UnsafeRawBufferPointer, _ found: [(number: Int, type: TypeOID)]) -> Bool {
        guard sql.firstIndex(of: "?") != nil else { return false }
        let isShifted = found.enumerated().contains { $0 + 1 != $1.number }
        guard isShifted || found.contains(where: { $0.type != .unspecified }) else { return false }
        return SQLLexer(sql).contains { token in
            guard token.kind == .parameter, token.bytes.first == UInt8(ascii: "?") else { return false }
            guard case .numbered(let number, _) = ParameterName(token.bytes) else { return isShifted }
            return found.indices.contains(number - 1) && found[number - 1] != (number, .unspecified)
        }
    }

    private static let positionalBesideNumbered = WireError(
        state: .undefinedParameter, message: "? cannot be used beside numbered parameters", hint: "Write $1, $2, ... for all of them.")

    /// Every number up to the highest must be there, as in PostgreSQL; and so a single $65535 costs nothing.
    private static func unbrokenCount(_ slots: [ParameterSlot]) throws(WireError) -> Int {
        let numbers = Set(slots.map(\.number))
        if let missing = (1...slots.count + 1).first(where: { !numbers.contains($0) }), missing <= numbers.max() ?? 0 {
            throw WireError(
                state: .indeterminateDatatype, message: "could not determine data type of parameter $\(missing)")
        }
        return numbers.count
    }
}
