/// The cursor by which a program that inserts into an AUTOINCREMENT table looks at that table's counter.
///
/// "SQLite keeps track of the largest ROWID using an internal table named "sqlite_sequence""
/// (https://www.sqlite.org/autoinc.html). The program opens it on cursor 0, in front of all else and behind it, each time up to a Close,
/// and cursor 0 is another table's in between, mostly the one that is written. So it is given a number of its own.
enum SequenceCursor {
    static func separated(_ program: [Instruction], _ schema: SchemaColumns) -> [Instruction] {
        // Nearly all programs open it on one thing.
        guard opensTwice(program), let root = schema.sequenceRoot else { return program }
        let number = (program.lazy.filter { opens($0) }.map(\.p1).max() ?? 0) + 1
        var result = program
        var isSequence = false
        for (address, instruction) in program.enumerated() where instruction.p1 == 0 {
            if opens(instruction) { isSequence = isStored(instruction) && instruction.p2 == root && instruction.p3 == 0 }
            if isSequence, uses(instruction) { result[address] = instruction.onCursor(number) }
            if instruction.opcode == .close { isSequence = false }
        }
        return result
    }

    private static func opensTwice(_ program: [Instruction]) -> Bool {
        var opened: Instruction?
        for instruction in program where instruction.p1 == 0 && opens(instruction) {
            if let opened, (opened.opcode, opened.p2) != (instruction.opcode, instruction.p2) { return true }
            opened = instruction
        }
        return false
    }

    private static func opens(_ instruction: Instruction) -> Bool {
        switch instruction.opcode {
        case .openRead, .openWrite, .openEphemeral, .openAutoindex, .openPseudo, .openDuplicate, .sorterOpen, .virtualOpen: true
        default: false
        }
    }

    private static func isStored(_ instruction: Instruction) -> Bool {
        instruction.opcode == .openRead || instruction.opcode == .openWrite
    }

    /// Of the instructions whose P1 is a cursor, those that the counter is read and written with.
    private static func uses(_ instruction: Instruction) -> Bool {
        switch instruction.opcode {
        case .openRead, .openWrite, .rewind, .column, .rowid, .next, .newRowid, .insert, .close: true
        default: false
        }
    }
}
