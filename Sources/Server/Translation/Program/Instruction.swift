import SQLite

/// One instruction of a statement's program, as EXPLAIN lists it.
///
/// "The output from EXPLAIN and EXPLAIN QUERY PLAN is intended for interactive analysis and troubleshooting only. The
/// details of the output format are subject to change from one release of SQLite to the next"
/// (https://www.sqlite.org/lang_explain.html): so whoever reads it has to give up at the first thing it does not know.
struct Instruction: Sendable {
    let opcode: Opcode
    let p1: Int
    let p2: Int
    let p3: Int
    let p4: String
    let p5: Int

    /// Longer programs are not read. One row of a VALUES takes a dozen instructions.
    static let limit = 50_000

    /// The program of a statement without those of its triggers, nor of what CHECK asks; nil when it has an instruction nobody here knows.
    static func list(_ sql: UnsafeRawBufferPointer, on connection: Connection) throws(SQLiteError) -> [Instruction]? {
        // A connection that only reads knows no CHECK, and what a parameter is does not depend on who has looked.
        let statement = try connection.prepareInternalWithoutChecks("EXPLAIN " + String(decoding: sql, as: UTF8.self))
        var program: [Instruction] = []
        while try statement.step() == .row {
            // The programs of triggers follow, and each counts its addresses from 0 again.
            guard Int(statement.integer(0)) == program.count else { break }
            guard program.count < limit, let opcode = Opcode(rawValue: text(statement, 1)) else { return nil }
            // "If the OPFLAG_PERMUTE bit is set in the P5 argument, then the order of comparison is determined by the most recent
            // OP_Permutation operator" (OP_Compare, https://www.sqlite.org/opcode.html): it has that one's P4 here.
            let (p5, last) = (Int(statement.integer(6)), program.last)
            let isPermuted = opcode == .compare && p5 & 1 != 0 && last?.opcode == .permutation
            program.append(
                Instruction(
                    opcode: opcode, p1: Int(statement.integer(2)), p2: Int(statement.integer(3)), p3: Int(statement.integer(4)),
                    p4: isPermuted ? last?.p4 ?? "" : text(statement, 5), p5: p5))
        }
        return program.isEmpty ? nil : program
    }

    private static func text(_ statement: Statement, _ column: Int) -> String {
        String(decoding: statement.text(column), as: UTF8.self)
    }

    /// How many registers it is about beside its own.
    var width: Int {
        switch opcode {
        case .makeRecord, .resultRow, .affinity, .typeCheck: max(p2, 0)
        case .copy, .move, .compare, .indexDelete: max(p3, 0)
        case .null, .beginSubroutine: max(p3 - p2, 0)
        default: 0
        }
    }

    func onCursor(_ number: Int) -> Instruction {
        Instruction(opcode: opcode, p1: number, p2: p2, p3: p3, p4: p4, p5: p5)
    }

    /// Of a Compare: which registers, counted from P1 and P2, out of `[1,0]`; none where there is no such list.
    var permutation: [Int] { p4.hasPrefix("[") ? p4.dropFirst().dropLast().split(separator: ",").compactMap { Int($0) } : [] }

    /// The name of a function, out of `sum(1)`.
    var functionName: String { String(p4.prefix { $0 != "(" }) }

    /// The number of arguments in `sum(1)`; nil when the function takes any number.
    var functionArguments: Int? {
        let digits = p4.drop { $0 != "(" }.dropFirst().prefix { $0 != ")" }
        return Int(digits).flatMap { $0 >= 0 ? $0 : nil }
    }
}

/// A column's affinity, as the letter SQLite has for it in programs ("sqliteInt.h", SQLITE_AFF_BLOB and the others).
enum Affinity: UInt8, Sendable {
    case none = 0x40, blob, text, numeric, integer, real

    /// Affinities are the bits of a comparison's P5 that are not flags.
    init(comparison p5: Int) { self = Affinity(rawValue: UInt8(p5 & 0x47)) ?? .none }

    /// What it does to a text that looks like a number, or to a number: whether the class a value was sent in is
    /// without consequence.
    var converts: Bool { rawValue >= Affinity.text.rawValue }
}
