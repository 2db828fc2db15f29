import PostgresWire

/// What each instruction does to registers and cursors (https://www.sqlite.org/opcode.html).
extension ProgramInterpreter {
    mutating func execute(_ instruction: Instruction, _ registers: inout Registers) {
        let (p1, p2, p3) = (instruction.p1, instruction.p2, instruction.p3)
        switch instruction.opcode {
        case .variable: registers.set(p2, ProgramValue(parameter: p1, type: parameterTypes(p1)))
        case .integer where p1 == 0 || p1 == 1:
            var value = ProgramValue.integer
            value.origins = .digit
            registers.set(p2, value)
        case .integer, .int64, .newRowid, .rowid, .indexRowid, .count, .sequence, .readCookie:
            registers.set(p2, .integer)
        case .real: registers.set(p2, ProgramValue(.real, .float8))
        case .string8, .string: registers.set(p2, ProgramValue(.text, .text))
        case .blob: registers.set(p2, ProgramValue(.blob, .bytea))
        case .null, .beginSubroutine:
            for register in p2...Swift.max(p2, p3) { registers.set(register, .null) }
        case .softNull: registers.set(p1, .null)
        case .move:
            for index in 0..<Swift.max(p3, 1) {
                registers.set(p2 + index, registers.value(p1 + index))
                registers.set(p1 + index, .null)
            }
        case .copy:
            for (index, value) in registers.values(p1, p3 + 1).enumerated() { registers.set(p2 + index, value) }
        case .shallowCopy: registers.set(p2, registers.value(p1))
        case .zeroOrNull: registers.set(p2, .boolean)
        case .intCopy, .offsetLimit: registers.set(p2, .integerOrNull)
        // It makes P3 NULL when it jumps, and else P3 is computed next.
        case .ifNullRow: registers.set(p3, .null)
        case .rowSetRead, .offset: registers.set(p3, .integerOrNull)
        case .typeCheck: checkTypes(instruction, &registers)
        case .affinity:
            if let row = cursors.rowsWritten[p1] {
                convertRow(row, instruction.p4, p1, p2, &registers)
            } else {
                applyAffinities(instruction.p4, p1, p2, &registers)
            }
        case .realAffinity:
            var value = registers.value(p1)
            if value.classes.remove(.integer) != nil { value.classes.insert(.real) }
            registers.set(p1, value)
        case .mustBeInt: convert(p1, .integer, .int8, &registers)
        case .cast: cast(p1, Affinity(comparison: p2), &registers)
        case .makeRecord: makeRecord(instruction, &registers)
        case .resultRow:
            let row = registers.values(p1, p2)
            addResult(row)
            note { $0.addResult(row) }
        default:
            guard !operate(instruction, &registers), !compare(instruction, registers) else { return }
            moveRows(instruction, &registers)
        }
    }

    /// True: it was an operator's or a function's instruction.
    private mutating func operate(_ instruction: Instruction, _ registers: inout Registers) -> Bool {
        let (p1, p2, p3) = (instruction.p1, instruction.p2, instruction.p3)
        let (right, left) = (registers.value(p1), registers.value(p2))
        work.done += right.listed + left.listed
        switch instruction.opcode {
        case .add, .subtract, .multiply, .divide, .remainder:
            note { $0.addArithmetic(left, right) }
            registers.set(p3, .arithmetic(left, right))
        // Of two elements IN asks by that whether one is NULL, the one with itself and the other into it (sqlite3ExprCodeIN in
        // https://www.sqlite.org/src/file?name=src/expr.c). `$1 & $1` is calculated with.
        case .bitAnd where (p1 == p2 || p1 == p3) && askedForNull.contains(p3):
            note { uses in for value in [left, right] { uses.addIndifferent(value) } }
            registers.set(p3, .integerOrNull)
        case .bitAnd, .bitOr, .shiftLeft, .shiftRight:
            note { uses in for value in [left, right] { uses.need(value, .int8) } }
            registers.set(p3, .integerOrNull)
        case .concatenate:
            note { uses in for value in [left, right] { uses.need(value, .text) } }
            registers.set(p3, ProgramValue([.text, .null], .text))
        case .and, .or:
            note { uses in for value in [left, right] { uses.need(value, .bool) } }
            registers.set(p3, .boolean)
        case .bitNot, .not, .isTrue:
            let type: TypeOID = instruction.opcode == .bitNot ? .int8 : .bool
            note { $0.need(right, type) }
            registers.set(p2, instruction.opcode == .bitNot ? .integerOrNull : .boolean)
        case .branchIf, .branchIfNot: note { $0.need(right, .bool) }
        case .isNull, .notNull, .haltIfNull:
            let value = registers.value(instruction.opcode == .haltIfNull ? p3 : p1)
            note { $0.addIndifferent(value) }
        case .function, .pureFunction: call(instruction, &registers)
        case .aggregateStep, .aggregateInverse:
            let arguments = registers.values(p2, instruction.p5 & 0xFF)
            noteArguments(of: instruction, arguments)
            var value = registers.value(p3)
            value.join(.result(ofAggregate: instruction.functionName, arguments.first))
            registers.set(p3, value)
        case .aggregateFinal: registers.set(p1, registers.value(p1).finished(instruction.functionName))
        case .aggregateValue: registers.set(p3, registers.value(p1).finished(instruction.functionName))
        default: return false
        }
        return true
    }

    private mutating func call(_ instruction: Instruction, _ registers: inout Registers) {
        // Of a function that takes any number, the program does not say how many there are.
        let arguments = registers.values(instruction.p2, instruction.functionArguments ?? 0)
        noteArguments(of: instruction, arguments)
        registers.set(instruction.p3, .result(ofFunction: instruction.functionName, arguments))
    }

    private mutating func noteArguments(of instruction: Instruction, _ arguments: [ProgramValue]) {
        let name = instruction.functionName
        for value in arguments { work.done += 1 + value.listed }
        if name == "nullif", arguments.count == 2 { return note { $0.addComparison(arguments[0], arguments[1], .none) } }
        if name == "greatest" || (arguments.count == 1 && (name == "max" || name == "min")) { return note { $0.addCompared(arguments) } }
        for (index, value) in arguments.enumerated() where !value.parameters.isEmpty {
            switch ExpressionClass.argument(of: name, at: index) {
            case .text: note { $0.need(value, .text) }
            case .textOrBytes: note { $0.addTextual(value) }
            case .numeric: note { $0.needNumber(value) }
            default:
                // count() asks only whether it is NULL.
                if name == "count" { note { $0.addIndifferent(value) } } else { note { $0.addSensitive(value) } }
            }
        }
    }

    // MARK: Conversions

    private mutating func applyAffinities(_ letters: String, _ first: Int, _ count: Int, _ registers: inout Registers) {
        for (index, letter) in letters.utf8.enumerated() where index < count {
            guard let affinity = Affinity(rawValue: letter), affinity.converts else { continue }
            convert(first + index, affinity, nil, &registers)
        }
    }

    /// The row that is to be written gets its columns' affinities before generated columns and partial indexes are made of it
    /// (sqlite3ComputeGeneratedColumns in https://www.sqlite.org/src/file?name=src/insert.c).
    private mutating func convertRow(
        _ columns: [ProgramValue], _ letters: String, _ first: Int, _ count: Int, _ registers: inout Registers
    ) {
        for (index, letter) in letters.utf8.enumerated() where index < count && index < columns.count {
            // A generated column is not there yet, and has the letter of none.
            guard let affinity = Affinity(rawValue: letter), affinity.converts else { continue }
            convert(first + index, affinity, columns[index].type, &registers)
            makeOfRow(first + index, &registers)
        }
    }

    private func makeOfRow(_ register: Int, _ registers: inout Registers) {
        var value = registers.value(register)
        guard value.isConverted, !value.parameters.isEmpty else { return }
        value.isOfRow = true
        registers.set(register, value)
    }

    /// Of a STRICT table: "Apply affinities to the range of P2 registers beginning with P1. Take the affinities from the Table object in
    /// P4" (OP_TypeCheck, https://www.sqlite.org/opcode.html).
    private mutating func checkTypes(_ instruction: Instruction, _ registers: inout Registers) {
        for (index, column) in (cursors.columnsOfStrict[instruction.p4] ?? []).prefix(instruction.p2).enumerated() {
            guard let type = column.type, case let affinity = Affinity(of: type), affinity.converts else { continue }
            convert(instruction.p1 + index, affinity, type, &registers)
            makeOfRow(instruction.p1 + index, &registers)
        }
    }

    private mutating func convert(
        _ register: Int, _ affinity: Affinity, _ type: TypeOID?, _ registers: inout Registers
    ) {
        var value = registers.value(register)
        work.done += value.listed
        value.apply(affinity)
        if !value.parameters.isEmpty {
            note { $0.addConverted(value, affinity, type) }
            value.isConverted = true
            value.likely = value.likely.joined(affinity.likely)
        }
        registers.set(register, value)
    }

    private mutating func cast(_ register: Int, _ affinity: Affinity, _ registers: inout Registers) {
        let value = registers.value(register)
        work.done += value.listed
        let result: ProgramValue =
            switch affinity {
            case .text: ProgramValue([.text, .null], .text)
            case .integer: .integerOrNull
            case .real: ProgramValue([.real, .null], .float8)
            case .numeric: ProgramValue([.integer, .real, .null], .numeric)
            default: ProgramValue([.blob, .null], .bytea)
            }
        note { $0.addCast(value, result.type ?? .bytea) }
        registers.set(register, result)
    }

    private mutating func makeRecord(_ instruction: Instruction, _ registers: inout Registers) {
        applyAffinities(instruction.p4, instruction.p1, instruction.p2, &registers)
        var record = ProgramValue()
        record.fields = registers.values(instruction.p1, instruction.p2)
        if let columns = cursors.columnsWritten[RecordShape(instruction)] {
            for (index, value) in record.fields.enumerated() where !value.parameters.isEmpty {
                let column = index < columns.count ? columns[index] : ProgramValue.unknown
                note { $0.addStored(value, in: column) }
                // RETURNING reads it from there.
                makeOfRow(instruction.p1 + index, &registers)
            }
        }
        registers.set(instruction.p3, record)
    }

    // MARK: Rows

    private mutating func moveRows(_ instruction: Instruction, _ registers: inout Registers) {
        let (p1, p2, p3) = (instruction.p1, instruction.p2, instruction.p3)
        switch instruction.opcode {
        case .column: registers.set(p3, column(p2, of: p1, registers))
        case .virtualColumn: registers.set(p3, .unknown)
        case .sorterData, .rowData:
            var record = contents[cursors.original(p1)] ?? ProgramValue()
            if cursors.columns(of: p1) != nil { record = ProgramValue.unknown }
            registers.set(p2, record)
        case .insert, .sorterInsert, .indexInsert:
            guard cursors.columns(of: p1) == nil else { return }
            let record = registers.value(p2)
            if cursors.unions.contains(p1) { noteUnited(record, with: p1, registers) }
            write(record, to: p1)
        case .virtualIn: registers.set(p3, .unknown)
        default: break
        }
    }

    /// A row that is there only once (UNION) has been compared with all others.
    private mutating func noteUnited(_ record: ProgramValue, with cursor: Int, _ registers: Registers) {
        work.done += record.size
        for (index, value) in record.fields.enumerated() {
            let other = column(index, of: cursor, registers)
            note { $0.addOrdered([value, other]) }
        }
    }

    /// The value of a cursor's column: a table's or index's by its declaration, else what was written there.
    func column(_ index: Int, of cursor: Int, _ registers: Registers) -> ProgramValue {
        if let columns = cursors.columns(of: cursor) { return index < columns.count ? columns[index] : .unknown }
        let record: ProgramValue
        if let content = cursors.pseudo[cursor] {
            record = registers.value(content)
        } else {
            record = contents[cursors.original(cursor)] ?? ProgramValue()
        }
        return index < record.fields.count ? record.fields[index] : record.classes == .any ? .unknown : ProgramValue()
    }

    // MARK: Comparisons

    /// True: it was a comparison's.
    private mutating func compare(_ instruction: Instruction, _ registers: Registers) -> Bool {
        let (p1, p3) = (instruction.p1, instruction.p3)
        switch instruction.opcode {
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual:
            let (left, right) = (registers.value(p3), registers.value(p1))
            note { $0.addComparison(left, right, Affinity(comparison: instruction.p5)) }
        case .seekRowid, .notExists:
            note { $0.addConverted(registers.value(p3), .integer, .int8) }
        case .seekLess, .seekLessOrEqual, .seekGreaterOrEqual, .seekGreater:
            let count = Int(instruction.p4) ?? 0
            if count == 0 { note { $0.addConverted(registers.value(p3), .integer, .int8) } }
            compareKey(p3, count, with: p1, registers)
        case .indexLess, .indexLessOrEqual, .indexGreater, .indexGreaterOrEqual, .found, .notFound, .noConflict,
            .ifNoHope:
            let count = Int(instruction.p4) ?? 0
            if count > 0 { return compareKey(p3, count, with: p1, registers) }
            let fields = registers.value(p3).fields
            work.done += fields.count
            for (index, value) in fields.enumerated() {
                let other = column(index, of: p1, registers)
                note { $0.addComparison(value, other, .none) }
            }
        // Of a row to be taken out of rows that the program has written: EXCEPT.
        case .indexDelete where cursors.columns(of: p1) == nil:
            for (index, value) in registers.values(instruction.p2, p3).enumerated() {
                let other = column(index, of: p1, registers)
                note { $0.addOrdered([value, other]) }
            }
        // Of the rows of two SELECTs that are put in one order (multiSelectOrderBy in https://www.sqlite.org/src/file?name=src/select.c).
        // The others compare a row with the one before it, for GROUP BY and PARTITION BY: what has been sorted says what that is.
        case .compare:
            for index in instruction.permutation.prefix(Swift.max(p3, 0)) {
                let values = [registers.value(p1 + index), registers.value(instruction.p2 + index)]
                note { $0.addOrdered(values) }
            }
        default: return false
        }
        return true
    }

    /// Rows are put in the order of their first fields.
    mutating func noteSortedRows() {
        for (cursor, count) in cursors.sorted {
            for field in contents[cursors.original(cursor)]?.fields.prefix(count) ?? [] { note { $0.addOrdered([field]) } }
        }
    }

    /// A table's or an index's key has got the affinity of its columns by then, whichever way the program has come: "Code an OP_Affinity
    /// opcode to apply the column affinity string zAff to the n registers starting at base" (codeApplyAffinity in
    /// https://www.sqlite.org/src/file?name=src/wherecode.c).
    @discardableResult
    private mutating func compareKey(_ first: Int, _ count: Int, with cursor: Int, _ registers: Registers) -> Bool {
        for (index, value) in registers.values(first, count).enumerated() {
            let other = column(index, of: cursor, registers)
            if cursors.isDeclared(index, of: cursor, isConverted: value.isConverted), case .type(let type) = other.declared,
                Affinity(of: type).converts
            {
                note { $0.addConverted(value, Affinity(of: type), type) }
            } else {
                note { $0.addComparison(value, other, .none) }
            }
        }
        return true
    }
}
