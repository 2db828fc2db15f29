/// Where a program can go on after each of its instructions.
///
/// A subroutine returns to wherever it is called from, whichever call is meant: more ways than there are, never fewer.
/// A coroutine and its user each go on behind their own Yields, and what the coroutine has made goes to its user; it
/// reads nothing of its user's but what was there when it began.
struct ProgramFlow {
    private(set) var successors: [[Int]]

    /// nil when an address is none.
    init?(_ program: [Instruction]) {
        let returns = Self.returnAddresses(program)
        let coroutines = Self.coroutines(program)
        successors = []
        successors.reserveCapacity(program.count)
        for (address, instruction) in program.enumerated() {
            let next = Self.next(instruction, at: address, returns, coroutines)
            guard next.allSatisfy(program.indices.contains) else { return nil }
            successors.append(next)
        }
    }

    private static func next(
        _ instruction: Instruction, at address: Int, _ returns: [Int: [Int]], _ coroutines: [Int: Coroutine]
    ) -> [Int] {
        let (p1, p2) = (instruction.p1, instruction.p2)
        switch instruction.opcode {
        case .halt: return []
        case .goto, .gosub: return [p2]
        case .initialize: return [p2 > 0 ? p2 : address + 1]
        case .initCoroutine: return [p2 > 0 ? p2 : address + 1, instruction.p3]
        case .jump: return Array(Set([p1, p2, instruction.p3]))
        // With P3 it falls through when the subroutine was entered in line.
        case .returning: return (returns[p1] ?? []) + (instruction.p3 != 0 ? [address + 1] : [])
        case .endCoroutine: return coroutines[p1]?.ends ?? []
        case .yield:
            guard let coroutine = coroutines[p1] else { return [] }
            if coroutine.body.contains(address) { return coroutine.resumptions + [address + 1] }
            return [address + 1] + (p2 > 0 ? [p2] : [])
        default:
            return instruction.opcode.branches && p2 > 0 ? [p2, address + 1] : [address + 1]
        }
    }

    /// By register: where a Return of it may lead. Gosub leaves its own address there; a few callers write one
    /// themselves, with Integer.
    private static func returnAddresses(_ program: [Instruction]) -> [Int: [Int]] {
        let used = Set(program.lazy.filter { $0.opcode == .returning }.map(\.p1))
        var result: [Int: [Int]] = [:]
        for (address, instruction) in program.enumerated() {
            if instruction.opcode == .gosub { result[instruction.p1, default: []].append(address + 1) }
            if instruction.opcode == .integer, used.contains(instruction.p2), instruction.p1 > 0,
                instruction.p1 + 1 < program.count
            {
                result[instruction.p2, default: []].append(instruction.p1 + 1)
            }
        }
        return result
    }

    private struct Coroutine {
        var body = 0..<0
        /// Behind each Yield of its user's.
        var resumptions: [Int] = []
        /// Where its user goes when it has ended.
        var ends: [Int] = []
    }

    private static func coroutines(_ program: [Instruction]) -> [Int: Coroutine] {
        var result: [Int: Coroutine] = [:]
        for instruction in program where instruction.opcode == .initCoroutine {
            // Without P2 the coroutine stands elsewhere, and is only started anew.
            if instruction.p2 > instruction.p3 { result[instruction.p1, default: Coroutine()].body = instruction.p3..<instruction.p2 }
        }
        for (address, instruction) in program.enumerated() where instruction.opcode == .yield {
            guard let body = result[instruction.p1]?.body else { continue }
            guard !body.contains(address) else { continue }
            result[instruction.p1]?.resumptions.append(address + 1)
            if instruction.p2 > 0 { result[instruction.p1]?.ends.append(instruction.p2) }
        }
        return result
    }
}
