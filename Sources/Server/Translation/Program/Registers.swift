import PostgresWire

/// What is in each register at one place of a program.
///
/// Every jump's target has a full set of registers, and most of them are as they were at the target before: `SELECT coalesce($1, a), …`
/// has a jump, and a register, for each of its columns. So they are kept in rows, and rows in blocks, which targets share until one is
/// written; and arrays that share their storage compare equal without being read. A jump then costs what was written since the last one,
/// and not the number of the statement's columns. Registers of parameters mostly cost not even that: `ConstantRegisters`.
struct Registers {
    /// Those that are not constant, at their numbers.
    private var blocks: [[[ProgramValue]]] = []
    private let constants: ConstantRegisters
    /// A register's number was beyond all reason.
    private(set) var isBeyondLimit = false

    /// Registers beyond this, and the program is left alone.
    static let limit = 1 << 16
    /// A row, a block of rows, and the blocks of some hundred registers are then about as long: to write one register copies one of each.
    private static let rowLength = 16, blockLength = 16

    private struct Place {
        let block, row, index: Int

        init(_ register: Int) {
            let row = register / Registers.rowLength
            (block, self.row, index) = (row / Registers.blockLength, row % Registers.blockLength, register % Registers.rowLength)
        }
    }

    init(_ constants: ConstantRegisters) { self.constants = constants }

    func value(_ register: Int) -> ProgramValue { constants.value(register) ?? flowing(register) }

    private func flowing(_ register: Int) -> ProgramValue {
        guard register >= 0, case let place = Place(register), place.block < blocks.count, place.row < blocks[place.block].count,
            place.index < blocks[place.block][place.row].count
        else { return ProgramValue() }
        return blocks[place.block][place.row][place.index]
    }

    func values(_ first: Int, _ count: Int) -> [ProgramValue] {
        count > 0 ? (first..<(first + count)).map(value) : []
    }

    mutating func set(_ register: Int, _ value: ProgramValue) {
        guard register >= 0 else { return }
        guard register < Self.limit else { return isBeyondLimit = true }
        if let known = constants.value(register) {
            if known != value { constants.isWritten(register) }
            return
        }
        // What is there already stays where it is, and shared.
        guard flowing(register) != value else { return }
        let place = Place(register)
        while blocks.count <= place.block { blocks.append([]) }
        while blocks[place.block].count <= place.row { blocks[place.block].append([]) }
        while blocks[place.block][place.row].count <= place.index { blocks[place.block][place.row].append(ProgramValue()) }
        blocks[place.block][place.row][place.index] = value
    }

    /// True when this brought anything new.
    ///
    /// - Parameter work: what has been looked at is counted.
    mutating func join(_ others: Registers, _ work: inout Int) -> Bool {
        Self.join(&blocks, others.blocks, &work, Self.areEqual) { block, other, work in
            Self.join(&block, other, &work, Self.areEqual) { row, other, work in
                Self.join(&row, other, &work, ProgramValue.areEqual) { value, other, work in
                    // One more parameter is put in its place, and all of them are taken over, where there was none.
                    work += value.listed == 0 || other.listed < 2 ? 1 + other.fields.count : value.size + other.size
                    return value.join(other)
                }
            }
        }
    }

    private static func areEqual(_ row: [ProgramValue], _ other: [ProgramValue], _ work: inout Int) -> Bool {
        areEqual(row, other, &work, ProgramValue.areEqual)
    }

    private static func areEqual(_ block: [[ProgramValue]], _ other: [[ProgramValue]], _ work: inout Int) -> Bool {
        areEqual(block, other, &work, areEqual)
    }

    private static func areEqual<Element>(
        _ a: [Element], _ b: [Element], _ work: inout Int, _ areEqual: (Element, Element, inout Int) -> Bool
    ) -> Bool {
        guard a.count == b.count else { return false }
        if a.sharesStorage(with: b) { return true }
        for index in a.indices {
            guard areEqual(a[index], b[index], &work) else { return false }
        }
        return true
    }

    /// Where both have something, and not the same, `each` joins it; what only the other has is taken over.
    private static func join<Element>(
        _ mine: inout [Element], _ others: [Element], _ work: inout Int, _ areEqual: (Element, Element, inout Int) -> Bool,
        _ each: (inout Element, Element, inout Int) -> Bool
    ) -> Bool {
        work += 1
        guard !mine.isEmpty else {
            mine = others
            return !others.isEmpty
        }
        if mine.sharesStorage(with: others) { return false }
        let known = mine.count
        work += others.count
        var isNew = known < others.count
        for index in 0..<min(known, others.count) where !areEqual(mine[index], others[index], &work) {
            if each(&mine[index], others[index], &work) { isNew = true }
        }
        if known < others.count { mine += others[known...] }
        // What came has it all: both keep the same storage again, and what follows has nothing to compare. Around a loop every target
        // would otherwise have a copy of its own.
        if Self.areEqual(mine, others, &work, areEqual) { mine = others }
        return isNew
    }
}

extension Array {
    /// Then they are equal, whatever is in them.
    func sharesStorage(with other: [Element]) -> Bool {
        count == other.count && withUnsafeBufferPointer { mine in other.withUnsafeBufferPointer { mine.baseAddress == $0.baseAddress } }
    }
}

/// Registers that one Variable writes, and nothing else: what is in them is always that parameter, wherever the program is at.
///
/// What else writes a register is only known when instructions are executed (by how many places a Copy goes, which of a
/// record's values an affinity converts). So all are taken for constant at first, until each instruction has been executed
/// once; and whoever finds one written then begins anew without it.
final class ConstantRegisters {
    private var values: [Int: ProgramValue] = [:]
    private var written: Set<Int> = []

    init(of program: [Instruction], _ types: (Int) -> TypeOID?) {
        for instruction in program where instruction.opcode == .variable && (0..<Registers.limit).contains(instruction.p2) {
            let value = ProgramValue(parameter: instruction.p1, type: types(instruction.p1))
            if values.updateValue(value, forKey: instruction.p2) != nil { written.insert(instruction.p2) }
        }
    }

    var areWritten: Bool { !written.isEmpty }

    func isWritten(_ register: Int) { written.insert(register) }

    func leaveOutWritten() {
        for register in written { values[register] = nil }
        written = []
    }

    func value(_ register: Int) -> ProgramValue? { values.isEmpty ? nil : values[register] }
}
