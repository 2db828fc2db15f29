import PostgresWire

/// Runs a program on what is known of values instead of on values, until nothing new flows anywhere.
///
/// Registers are used again for other things, so what is in them is followed from instruction to instruction, and
/// joined where ways meet (`Registers`). What cursors hold is collected for the whole program: rows are written and read at any time.
struct ProgramInterpreter {
    let program: [Instruction]
    let cursors: ProgramCursors
    /// What a parameter is, by SQLite's index, as far as it is a number.
    let parameterTypes: @Sendable (Int) -> TypeOID?
    private let flow: ProgramFlow
    /// Where straight runs of instructions begin.
    private var isLeader: [Bool]
    private var entry: [Int: Registers] = [:]
    /// What was written through each cursor that is no table's or index's: a record.
    private(set) var contents: [Int: ProgramValue] = [:]
    /// The columns of all ResultRow instructions together.
    private(set) var results: [ProgramValue] = []
    /// Filled by the last walk, when all values are known.
    private(set) var uses = ParameterUses()
    private var isLastWalk = false
    private var hasChanged = false
    private let constants: ConstantRegisters
    /// Registers of which is asked whether they are NULL.
    let askedForNull: Set<Int>

    var work: ProgramWork

    /// - Parameter isToStop: asked now and then; true ends the run, of which nothing is to be believed.
    init?(
        _ program: [Instruction], cursors: ProgramCursors, parameterTypes: @escaping @Sendable (Int) -> TypeOID? = { _ in nil },
        isToStop: (() -> Bool)?
    ) {
        guard let flow = ProgramFlow(program) else { return nil }
        self.program = program
        self.parameterTypes = parameterTypes
        work = ProgramWork(isToStop: isToStop)
        self.cursors = cursors
        self.flow = flow
        constants = ConstantRegisters(of: program, parameterTypes)
        askedForNull = Set(program.lazy.filter { $0.opcode == .isNull }.map(\.p1))
        isLeader = Array(repeating: false, count: program.count)
        isLeader[0] = true
        for (address, next) in flow.successors.enumerated() {
            for target in next where target != address + 1 || next.count > 1 { isLeader[target] = true }
        }
        // What is behind a jump is only reached by others.
        for (address, next) in flow.successors.enumerated() where next != [address + 1] && address + 1 < program.count {
            isLeader[address + 1] = true
        }
    }

    /// False when it was given up.
    mutating func run() -> Bool {
        var registers = Registers(constants)
        for instruction in program {
            execute(instruction, &registers)
            guard !isSpent else { return false }
        }
        repeat {
            constants.leaveOutWritten()
            (entry, contents, results) = ([0: Registers(constants)], [:], [])
            guard flowThrough() else { return false }
        } while constants.areWritten
        isLastWalk = true
        for leader in entry.keys.sorted() {
            guard walk(from: leader, reaching: { _ in }) else { return false }
        }
        noteSortedRows()
        // What has been found is in `results` and `uses`.
        entry = [:]
        return true
    }

    private mutating func flowThrough() -> Bool {
        var isPending = Array(repeating: false, count: program.count)
        repeat {
            hasChanged = false
            for leader in entry.keys { isPending[leader] = true }
            // In the order of addresses, so that all that flows to a place is there before it is walked.
            while let first = isPending.firstIndex(of: true) {
                for leader in first..<program.count where isPending[leader] {
                    isPending[leader] = false
                    guard walk(from: leader, reaching: { isPending[$0] = true }) else { return false }
                }
                // All that follows rests on what they are not.
                if constants.areWritten { return true }
            }
        } while hasChanged
        return true
    }

    private var isSpent: Bool {
        mutating get { work.isSpent(with: uses.work) }
    }

    /// One straight run of instructions; false when it takes too long, or a register's number is beyond all reason.
    private mutating func walk(from leader: Int, reaching: (Int) -> Void) -> Bool {
        var registers = entry[leader] ?? Registers(constants)
        var address = leader
        while true {
            execute(program[address], &registers)
            work.done += 1 + program[address].width
            guard !isSpent else { return false }
            let next = flow.successors[address]
            if next.count == 1, next[0] == address + 1, !isLeader[address + 1] {
                address += 1
                continue
            }
            for target in next {
                var known = registers
                if let register = registerOfNull(between: address, and: target) { known.set(register, .null) }
                if enter(target, known) { reaching(target) }
            }
            return !registers.isBeyondLimit
        }
    }

    /// On the way from a question whether a register is NULL, if it is: what else might be there has gone the other way.
    private func registerOfNull(between address: Int, and target: Int) -> Int? {
        let instruction = program[address]
        guard instruction.p2 != address + 1 else { return nil }
        switch instruction.opcode {
        case .isNull where target == instruction.p2: return instruction.p1
        case .notNull where target == address + 1: return instruction.p1
        default: return nil
        }
    }

    /// True when this brought anything new there.
    private mutating func enter(_ target: Int, _ registers: Registers) -> Bool {
        guard !isLastWalk else { return false }
        guard var known = entry.removeValue(forKey: target) else {
            entry[target] = registers
            return true
        }
        let isNew = known.join(registers, &work.done)
        entry[target] = known
        return isNew
    }

    // MARK: For the instructions

    mutating func write(_ record: ProgramValue, to cursor: Int) {
        let cursor = cursors.original(cursor)
        work.done += record.size + (contents[cursor]?.size ?? 0)
        if contents[cursor, default: ProgramValue()].join(record) { hasChanged = true }
    }

    mutating func addResult(_ row: [ProgramValue]) {
        for index in row.indices {
            work.done += row[index].listed + (index < results.count ? results[index].listed : 0)
            if index < results.count { results[index].join(row[index]) } else { results.append(row[index]) }
        }
    }

    /// Uses are only of interest when what meets what is known for good.
    mutating func note(_ note: (inout ParameterUses) -> Void) { if isLastWalk { note(&uses) } }
}

extension [ProgramValue] {
    func value(_ index: Int) -> ProgramValue { indices.contains(index) ? self[index] : ProgramValue() }
}
