/// The cursor by which a program goes through one index after the other: `a = $1 OR b = $2` opens each on the same cursor, by ReopenIdx.
///
/// What it is on is told by the last of these in front, as the loops over the indexes stand one behind the other. So each index is given a
/// cursor of its own.
enum ReopenedCursors {
    static func separated(_ program: [Instruction]) -> [Instruction] {
        var roots: [Int: Set<Int>] = [:]
        for instruction in program where instruction.opcode == .reopenIndex { roots[instruction.p1, default: []].insert(instruction.p2) }
        let reopened = roots.filter { $0.value.count > 1 }
        guard !reopened.isEmpty else { return program }
        var next = (program.lazy.map(\.p1).max() ?? 0) + 1
        var numbers: [Place: Int] = [:]
        var current: [Int: Int] = [:]
        var result = program
        for (address, instruction) in program.enumerated() where reopened[instruction.p1] != nil && uses(instruction) {
            if instruction.opcode == .reopenIndex {
                let place = Place(cursor: instruction.p1, root: instruction.p2)
                if numbers[place] == nil { (numbers[place], next) = (next, next + 1) }
                current[instruction.p1] = numbers[place]
            }
            if let number = current[instruction.p1] { result[address] = instruction.onCursor(number) }
        }
        return result
    }

    private struct Place: Hashable {
        var cursor: Int
        var root: Int
    }

    /// Of the instructions whose P1 is a cursor, those by which an index is read.
    private static func uses(_ instruction: Instruction) -> Bool {
        switch instruction.opcode {
        case .reopenIndex, .column, .seekLess, .seekLessOrEqual, .seekGreaterOrEqual, .seekGreater, .indexLess, .indexLessOrEqual,
            .indexGreater, .indexGreaterOrEqual, .found, .notFound, .noConflict, .ifNoHope:
            true
        default: false
        }
    }
}
