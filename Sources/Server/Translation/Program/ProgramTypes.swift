import PostgresWire
import SQLite

/// What a statement's compiled program says of its parameters and results.
///
/// SQLite's own compiler has resolved names, views, subqueries and affinities by then, so nothing of it has to be
/// guessed from the text.
struct ProgramTypes: Sendable {
    /// A result column.
    struct Result: Sendable {
        /// The only type its values can have, if there is one: SQLite itself makes them.
        var certain: TypeOID?
        /// The type they have if the database holds what its declarations say.
        var likely: TypeOID?
        /// What all columns are declared as that its values come from: max(day), coalesce(day, other_day).
        var declared: TypeOID?
        /// SQLite's index of the parameter that is all there is, as it came.
        var parameter: Int?
        /// Integers and reals, and nothing else.
        var isNumber = false
        /// It is from columns declared BOOLEAN, and 0 or 1 where it is not.
        var isOfBooleans = false
        /// Parameters that may be there as they came, beside something else.
        var others: [Int] = []
        /// Parameters that have a say in what number it is, and what it is announced as if all of these are integers, and else.
        var deciding: [Int] = []
        var assumedOfIntegers: TypeOID?
        var assumedOfAny: TypeOID?
    }

    private(set) var results: [Result]
    private let uses: [Int: ParameterUses.Use]
    private let loaded: Set<Int>
    /// It calls a function that takes any number of arguments, which are not seen in it.
    let hidesArguments: Bool
    /// A trigger or a virtual table has values of it.
    private let takesAway: Bool

    /// nil when the program has something nobody here knows.
    ///
    /// - Parameter types: of the parameters that have one in the statement's text, by SQLite's index.
    init?(_ sql: UnsafeRawBufferPointer, _ types: [Int: TypeOID], on connection: Connection) throws(SQLiteError) {
        guard let listed = try Instruction.list(sql, on: connection) else { return nil }
        var schema = SchemaColumns(connection)
        let program = ReopenedCursors.separated(SequenceCursor.separated(listed, schema))
        let cursors = ProgramCursors(program, schema: &schema)
        func run(_ types: @escaping @Sendable (Int) -> TypeOID?) -> ProgramInterpreter? {
            guard
                var interpreter = ProgramInterpreter(
                    program, cursors: cursors, parameterTypes: types, isToStop: connection.callbacks.onProgress)
            else { return nil }
            return interpreter.run() ? interpreter : nil
        }
        guard let interpreter = run({ types[$0] }) else { return nil }
        results = interpreter.results.map(Result.init)
        // The client may give a parameter another type than the text does, and one to those the text gives none. To float8
        // an integer is a number, too.
        if results.contains(where: { !$0.deciding.isEmpty }), let ofAny = run({ _ in .numeric }), let ofIntegers = run({ _ in .int8 }) {
            for index in results.indices where !results[index].deciding.isEmpty {
                results[index].assumedOfAny = Result(ofAny.results.value(index)).assumed
                results[index].assumedOfIntegers = Result(ofIntegers.results.value(index)).assumed
            }
        }
        uses = interpreter.uses.resolved
        hidesArguments = program.contains {
            ($0.opcode == .function || $0.opcode == .pureFunction) && $0.functionArguments == nil
        }
        takesAway = program.contains { [.program, .virtualFilter, .virtualUpdate].contains($0.opcode) }
        loaded = Set(program.lazy.filter { $0.opcode == .variable }.map(\.p1))
    }

    /// It meets something of NUMERIC affinity of which the program does not show how it is declared: BOOLEAN, perhaps.
    func meetsUndeclared(_ indexes: [Int]) -> Bool {
        let undeclared = ParameterUses.Conversion(affinity: .numeric, type: nil)
        return indexes.contains { uses[$0]?.conversions.contains(undeclared) ?? false }
    }

    /// SQLite has left out of the program what the parameter was for (`WHERE false AND a = $1`), or never comes to it (`LIMIT 0`): its value
    /// can make no difference. Where something is done that the program does not show, nobody knows.
    func isIdle(_ indexes: [Int]) -> Bool { !hidesArguments && !takesAway && indexes.allSatisfy { uses[$0] == nil } }

    /// Nothing says more of it than that it is compared with 0 or 1, as what is true or false is.
    func meetsOnlyDigits(_ indexes: [Int]) -> Bool {
        indexes.allSatisfy { index in
            guard let use = uses[index] else { return false }
            return use.isDigit && use.needs.isEmpty && use.conversions.isEmpty
        }
    }

    /// Of the parameter that has these indexes in SQLite.
    func parameter(_ indexes: [Int]) -> ParameterType {
        // What the program never looks at may be anything.
        guard indexes.contains(where: loaded.contains) else { return .text }
        return ParameterType(indexes.compactMap { uses[$0] })
    }
}

extension ProgramTypes.Result {
    init(_ value: ProgramValue) {
        deciding = value.isParameterOnly ? [] : value.deciding
        guard value.parameters.isEmpty else {
            likely = value.type
            if value.isParameterOnly, value.parameters.count == 1 { parameter = value.parameters[0] }
            if !value.isParameterOnly, !value.isConverted {
                others = value.parameters
                likely = Self.likelyBesideParameters(value)
            }
            return
        }
        switch value.classes.subtracting(.null) {
        case .integer: certain = .int8
        case .real: certain = .float8
        case .text: certain = .text
        case .blob: certain = .bytea
        case [.integer, .real]: isNumber = true
        default: break
        }
        likely = value.type
        isOfBooleans = value.isOfBooleans
        if case .type(let type) = value.declared { declared = type }
    }

    /// Where a parameter may be there as it came: numbers go together, and an integer is not what bytes are.
    private static func likelyBesideParameters(_ value: ProgramValue) -> TypeOID? {
        guard let type = value.type, case .type(let given) = value.parameterType else { return value.type }
        guard type.isNumber else { return given == .int8 ? nil : type }
        guard type != .bool, case .type(let both) = value.counted else { return type }
        return both
    }

    /// The type to announce before there is a row.
    var assumed: TypeOID {
        switch likely {
        case .numeric?, .float4?: .float8
        case .int2?, .int4?, .bool?: .int8
        // What SQLite stores in a column of that name is none of PostgreSQL's.
        case .money?: .text
        case let type? where type.isStoredAsText: .text
        case let type?: type
        case nil: .text
        }
    }
}
