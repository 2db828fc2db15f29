import PostgresWire

/// What is in each register where a program is at.
///
/// A parameter has a register for each place it stands in, and nearly all of them are written once and then only read. Those are the same
/// wherever the program is at (`ConstantRegisters`), so they are kept once: a statement of a thousand parameters has a thousand
/// jumps as well (`CASE WHEN id = $1 THEN $2 …`), and to join all registers at each of them would take the square of it.
struct Registers {
    /// Those that are not constant, in their order.
    private(set) var flowing: [ProgramValue] = []
    private let constants: ConstantRegisters

    /// Registers beyond this, and the program is left alone.
    static let limit = 1 << 16

    init(_ constants: ConstantRegisters) { self.constants = constants }

    var count: Int { flowing.count }

    func value(_ register: Int) -> ProgramValue {
        switch constants.place(of: register) {
        case .constant(let value): value
        case .flowing(let index): flowing.indices.contains(index) ? flowing[index] : ProgramValue()
        }
    }

    func values(_ first: Int, _ count: Int) -> [ProgramValue] {
        count > 0 ? (first..<(first + count)).map(value) : []
    }

    mutating func set(_ register: Int, _ value: ProgramValue) {
        guard register >= 0, register < Self.limit else { return }
        switch constants.place(of: register) {
        case .constant(let known): if known != value { constants.isWritten(register) }
        case .flowing(let index):
            while flowing.count <= index { flowing.append(ProgramValue()) }
            flowing[index] = value
        }
    }

    /// True when this brought anything new.
    mutating func join(_ others: Registers) -> Bool {
        var isNew = false
        for index in others.flowing.indices {
            guard index < flowing.count else {
                flowing.append(others.flowing[index])
                isNew = isNew || others.flowing[index] != ProgramValue()
                continue
            }
            guard flowing[index] != others.flowing[index] else { continue }
            let before = flowing[index]
            flowing[index].join(others.flowing[index])
            isNew = isNew || flowing[index] != before
        }
        return isNew
    }
}

/// Registers that one Variable writes, and nothing else: what is in them is always that parameter.
///
/// What else writes a register is only known when the program is run (by how many places a Copy goes, which of a record's values an
/// affinity converts). So all but those that are written by the commonest instructions, too, are taken for constant at first, and
/// whoever finds one written begins anew without it.
final class ConstantRegisters {
    enum Place {
        case constant(ProgramValue)
        /// An index among those that are not constant.
        case flowing(Int)
    }

    private var values: [Int: ProgramValue] = [:]
    /// How many are constant before each register up to the last that is.
    private var constantsBefore: [Int] = []
    private var written: Set<Int> = []

    init(of program: [Instruction], _ types: (Int) -> TypeOID?) {
        for instruction in program {
            switch instruction.opcode {
            case .variable where (0..<Registers.limit).contains(instruction.p2):
                let value = ProgramValue(parameter: instruction.p1, type: types(instruction.p1))
                if values.updateValue(value, forKey: instruction.p2) != nil { written.insert(instruction.p2) }
            case .column, .function, .pureFunction: written.insert(instruction.p3)
            case .cast: written.insert(instruction.p1)
            case .shallowCopy, .copy, .null, .integer, .int64, .real, .string8: written.insert(instruction.p2)
            default: break
            }
        }
        leaveOutWritten()
    }

    var areWritten: Bool { !written.isEmpty }

    func isWritten(_ register: Int) { written.insert(register) }

    func leaveOutWritten() {
        for register in written { values[register] = nil }
        written = []
        var count = 0
        constantsBefore = values.keys.max().map { last in
            (0...last).map { register in
                defer { if values[register] != nil { count += 1 } }
                return count
            }
        } ?? []
    }

    func place(of register: Int) -> Place {
        guard constantsBefore.indices.contains(register) else { return .flowing(register - values.count) }
        return values[register].map(Place.constant) ?? .flowing(register - constantsBefore[register])
    }
}
