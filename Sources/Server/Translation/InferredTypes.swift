import PostgresWire
import SQLite

/// The types of parameters that neither the client nor a `::type` says.
enum InferredTypes {
    /// By PostgreSQL's number, from 0. The program decides where it can; the text where the program does not show
    /// what a function with any number of arguments, or a virtual table, is given.
    static func infer(
        _ slots: [ParameterSlot], count: Int, _ sql: UnsafeRawBufferPointer, _ program: ProgramTypes?,
        _ abridged: AbridgedStatement?, on connection: Connection?
    ) -> [ParameterType] {
        guard let abridged else { return infer(slots, count: count, sql, program, connection) }
        var result = abridged.text.withUnsafeBytes { infer(slots, count: count, $0, program, connection) }
        for (number, standIn) in abridged.standIns { result[number - 1] = result[standIn - 1] }
        return result
    }

    private static func infer(
        _ slots: [ParameterSlot], count: Int, _ sql: UnsafeRawBufferPointer, _ program: ProgramTypes?,
        _ connection: Connection?
    ) -> [ParameterType] {
        guard count > 0 else { return [] }
        var result = Array(repeating: ParameterType.undetermined, count: count)
        var indexes: [[Int]] = Array(repeating: [], count: count)
        for slot in slots { indexes[slot.number - 1].append(slot.index) }
        if let program {
            for number in 0..<count { result[number] = program.parameter(indexes[number]) }
        }
        let hidesArguments = program?.hidesArguments ?? false
        // To the program of `<> ALL ($1)` as `PostgresSpelling` writes it the parameter is also something that may be NULL.
        let mayBeArray = result.contains(.text) && SQLWord.stands("json_each", in: sql)
        let undeclared = Set((0..<count).filter { result[$0] == .text && program?.meetsUndeclared(indexes[$0]) ?? false })
        let digits = Set((0..<count).filter { result[$0].type == .int8 && program?.meetsOnlyDigits(indexes[$0]) ?? false })
        guard hidesArguments || mayBeArray || !undeclared.isEmpty || !digits.isEmpty || result.contains(where: { !$0.isDetermined }) else {
            return result
        }
        // Read only when there is a parameter that nothing else decides.
        lazy var ofElements = connection.flatMap { programOfElements(sql, $0) }
        lazy var virtual = connection.flatMap { (try? VirtualColumns(sql, on: $0)) ?? nil }
        lazy var named = connection.flatMap { (try? VirtualColumns(sql, on: $0, isForAll: true)) ?? nil }
        for (number, contexts) in contexts(sql, count: count).enumerated() {
            if !result[number].isDetermined {
                result[number] = type(contexts)
                if !result[number].isDetermined, let found = virtual?.type(contexts) { result[number] = found }
                if !result[number].isDetermined, program?.isIdle(indexes[number]) ?? false {
                    result[number] = named?.typeOfNamed(contexts) ?? .text
                }
            } else if undeclared.contains(number), contexts.contains(.limit), case let limit = type(contexts), limit.isDetermined {
                // Of a subquery that is one value SQLite makes `LIMIT $1 <> 0` (sqlite3CodeSubselect in
                // https://www.sqlite.org/src/file?name=src/expr.c).
                result[number] = limit
            } else if undeclared.contains(number), let found = virtual?.typeOfGenerated(contexts) {
                result[number] = found
            } else if mayBeArray, result[number] == .text, case .array = type(contexts).rule {
                result[number] = ofElements?.parameter(indexes[number]).asElement ?? type(contexts)
            } else if digits.contains(number), contexts.allSatisfy({ $0 == .truth }) {
                result[number] = ParameterType(needed: .bool)
            } else if hidesArguments, contexts.count > 1, result[number].type.isNumber, result[number].rule == .verbatim,
                result[number].type != .bool
            {
                // A column's affinity converts it in one place; in another it may be max()'s argument, where nothing does.
                result[number].rule = .number
            }
        }
        return result
    }

    /// The program of the statement with `x IN ($1)` for `x = ANY ($1)`.
    private static func programOfElements(_ sql: UnsafeRawBufferPointer, _ connection: Connection) -> ProgramTypes? {
        guard let text = ElementwiseComparison.replaced(in: sql) else { return nil }
        return text.withUnsafeBytes { (try? ProgramTypes($0, [:], on: connection)) ?? nil }
    }

    private static func contexts(_ sql: UnsafeRawBufferPointer, count: Int) -> [[ParameterContext]] {
        var contexts: [[ParameterContext]] = Array(repeating: [], count: count)
        for use in NumericContext.uses(sql) {
            let name = UnsafeRawBufferPointer(rebasing: sql[use.name])
            if case .numbered(let number, _) = ParameterName(name), number <= count {
                contexts[number - 1].append(use.context)
            }
        }
        return contexts
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
