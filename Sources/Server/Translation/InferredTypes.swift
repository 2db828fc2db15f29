import PostgresWire
import SQLite

/// The types of parameters that neither the client nor a `::type` says.
enum InferredTypes {
    /// By PostgreSQL's number, from 0, and behind those the places with a cast of such as have none elsewhere. The program decides where it
    /// can; the text where the program does not show what a function with any number of arguments, or a virtual table, is given.
    ///
    /// - Parameter isNumbered: `sql` calls each parameter by SQLite's index.
    static func infer(
        _ parameters: StatementParameters, isNumbered: Bool, _ sql: UnsafeRawBufferPointer, _ program: ProgramTypes?,
        _ abridged: AbridgedStatement?, on connection: Connection?
    ) -> [ParameterType] {
        let places = ParameterPlaces(parameters.slots, numbers: parameters.types.count, parameters.casts, isNumbered: isNumbered)
        guard let abridged else { return infer(places, sql, program, connection) }
        var result = abridged.text.withUnsafeBytes { infer(places, $0, program, connection) }
        for (index, standIn) in abridged.standIns { result[places.ofIndexes[index - 1]] = result[places.ofIndexes[standIn - 1]] }
        return result
    }

    private static func infer(
        _ places: ParameterPlaces, _ sql: UnsafeRawBufferPointer, _ program: ProgramTypes?, _ connection: Connection?
    ) -> [ParameterType] {
        guard places.count > 0 else { return [] }
        var indexes: [[Int]] = Array(repeating: [], count: places.count)
        for (index, place) in places.ofIndexes.enumerated() { indexes[place].append(index + 1) }
        let known = program.map { program in indexes.map { program.parameter($0) } } ?? Array(repeating: .undetermined, count: places.count)
        var text = TextOfParameters(sql, program, connection, indexes, known)
        guard text.mustBeRead else { return known }
        return contexts(sql, places).enumerated().map { place, contexts in text.type(of: place, contexts, known[place]) }
    }

    private static func contexts(_ sql: UnsafeRawBufferPointer, _ places: ParameterPlaces) -> [[ParameterContext]] {
        var contexts: [[ParameterContext]] = Array(repeating: [], count: places.count)
        var inOrder = ParameterPlaces.InOrder(places)
        for use in NumericContext.uses(sql) {
            let name = UnsafeRawBufferPointer(rebasing: sql[use.name])
            if let place = inOrder.place(of: name) { contexts[place].append(use.context) }
        }
        return contexts
    }
}

/// What the statement's text says of parameters that the program leaves open, or takes for something else.
private struct TextOfParameters {
    private let sql: UnsafeRawBufferPointer
    private let program: ProgramTypes?
    private let connection: Connection?
    /// By number from 0: where SQLite has it.
    private let indexes: [[Int]]
    /// The program does not show what a function with any number of arguments, or a virtual table, is given.
    private let hidesArguments: Bool
    /// To the program of `<> ALL ($1)` as `PostgresSpelling` writes it the parameter is also something that may be NULL.
    private let mayBeArray: Bool
    /// Texts for want of anything that says more, by number.
    private let undeclared: Set<Int>
    /// Integers for want of anything but 0 and 1 to compare them with, by number.
    private let digits: Set<Int>
    let mustBeRead: Bool
    // Asked only when there is a parameter that nothing else decides.
    private lazy var ofElements = connection.flatMap { Self.programOfElements(sql, $0) }
    private lazy var virtual = connection.flatMap { (try? VirtualColumns(sql, on: $0)) ?? nil }
    private lazy var named = connection.flatMap { (try? VirtualColumns(sql, on: $0, isForAll: true)) ?? nil }

    /// - Parameter known: what the program says, by number.
    init(
        _ sql: UnsafeRawBufferPointer, _ program: ProgramTypes?, _ connection: Connection?, _ indexes: [[Int]], _ known: [ParameterType]
    ) {
        (self.sql, self.program, self.connection, self.indexes) = (sql, program, connection, indexes)
        hidesArguments = program?.hidesArguments ?? false
        mayBeArray = known.contains(.text) && SQLWord.stands("json_each", in: sql)
        undeclared = Set(known.indices.filter { known[$0] == .text && program?.meetsUndeclared(indexes[$0]) ?? false })
        digits = Set(known.indices.filter { known[$0].type == .int8 && program?.meetsOnlyDigits(indexes[$0]) ?? false })
        mustBeRead = hidesArguments || mayBeArray || !undeclared.isEmpty || !digits.isEmpty || known.contains { !$0.isDetermined }
    }

    mutating func type(of number: Int, _ contexts: [ParameterContext], _ known: ParameterType) -> ParameterType {
        guard known.isDetermined else { return undeterminedByProgram(number, contexts) }
        if undeclared.contains(number) {
            // Of a subquery that is one value SQLite makes `LIMIT $1 <> 0` (sqlite3CodeSubselect in
            // https://www.sqlite.org/src/file?name=src/expr.c).
            if contexts.contains(.limit), case let limit = Self.type(contexts), limit.isDetermined { return limit }
            if let found = virtual?.typeOfGenerated(contexts) { return found }
            // Of a view that triggers write the program shows the affinity, too.
            if StatementHead(sql).main == .update, let found = virtual?.type(contexts) { return found }
        }
        if mayBeArray, known == .text, case let array = Self.type(contexts), array.rule == .array {
            return ofElements?.parameter(indexes[number]).asElement ?? array
        }
        if digits.contains(number), !contexts.isEmpty, contexts.allSatisfy({ $0 == .truth }) { return ParameterType(needed: .bool) }
        // A column's affinity converts it in one place; in another it may be max()'s argument, where nothing does.
        if hidesArguments, contexts.count > 1, known.type.isNumber, known.rule == .verbatim, known.type != .bool {
            var unconverted = known
            unconverted.rule = .number
            return unconverted
        }
        return known
    }

    private mutating func undeterminedByProgram(_ number: Int, _ contexts: [ParameterContext]) -> ParameterType {
        var result = Self.type(contexts)
        if !result.isDetermined, let found = virtual?.type(contexts) { result = found }
        if !result.isDetermined, program?.isIdle(indexes[number]) ?? false { result = named?.typeOfNamed(contexts) ?? .text }
        return result
    }

    /// The program of the statement with `x IN ($1)` for `x = ANY ($1)`.
    private static func programOfElements(_ sql: UnsafeRawBufferPointer, _ connection: Connection) -> ProgramTypes? {
        guard let text = ElementwiseComparison.replaced(in: sql) else { return nil }
        return text.withUnsafeBytes { (try? ProgramTypes($0, [:], on: connection)) ?? nil }
    }

    private static func type(_ contexts: [ParameterContext]) -> ParameterType {
        let decisive = contexts.filter { $0 != .any }
        guard let first = decisive.first else { return contexts.isEmpty ? .undetermined : .text }
        if decisive.allSatisfy({ $0 == .array }) { return ParameterType(type: .text, rule: .array) }
        if decisive.allSatisfy({ $0 == .text || $0 == .array }) { return .text }
        guard decisive.allSatisfy({ $0 == .number || $0 == .truth || $0 == .limit }) else { return .undetermined }
        return ParameterType(type: first == .limit ? .int8 : .numeric, rule: .number)
    }
}
