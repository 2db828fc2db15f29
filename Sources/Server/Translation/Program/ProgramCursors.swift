/// The registers a record is made of: two records of the same shape in one program are the same row.
struct RecordShape: Hashable {
    let first: Int
    let count: Int

    init(_ instruction: Instruction) { (first, count) = (instruction.p1, instruction.p2) }
}

/// What a program's cursors stand for: tables and indexes of the schema, or rows the program itself writes.
struct ProgramCursors {
    /// By cursor: the columns of the table or index it is always opened on.
    private var stored: [Int: [ProgramValue]] = [:]
    /// By cursor: which of an index's columns are expressions.
    private var expressions: [Int: Set<Int>] = [:]
    /// Indexes that the program makes for itself, and seeks in as in one of the schema.
    private var automatic: Set<Int> = []
    /// A cursor opened on another's rows.
    private var duplicates: [Int: Int] = [:]
    /// By cursor, of those whose rows are put in an order: by how many fields of each.
    private(set) var sorted: [Int: Int] = [:]
    /// By cursor: the register that holds its one row.
    private(set) var pseudo: [Int: Int] = [:]
    /// Rows that the program keeps of a UNION, each once: nobody asks whether there is one, but it is not written twice.
    private(set) var unions: Set<Int> = []
    /// By their first register: the columns of rows that are written into a table, where that is one table only.
    private(set) var rowsWritten: [Int: [ProgramValue]] = [:]
    /// What the rows are for that the program writes into tables.
    private(set) var columnsWritten: [RecordShape: [ProgramValue]] = [:]
    /// By name: the columns, as they are stored, of STRICT tables that the program writes into.
    private(set) var columnsOfStrict: [String: [ProgramValue]] = [:]

    init(_ program: [Instruction], schema: inout SchemaColumns) {
        var roots: [Int: Int] = [:]
        var tables: Set<Int> = []
        for instruction in program {
            switch instruction.opcode {
            case .openRead, .openWrite, .reopenIndex:
                // P3 is the schema; P5 may say that P2 is a register with the root page.
                let isPlain = instruction.p3 == 0 && instruction.p5 & 0x10 == 0
                let root = isPlain ? instruction.p2 : -1
                roots[instruction.p1] = roots[instruction.p1, default: root] == root ? root : -1
                if instruction.opcode != .reopenIndex, !instruction.p4.hasPrefix("k(") { tables.insert(instruction.p1) }
            case .openAutoindex: automatic.insert(instruction.p1)
            case .openDuplicate: duplicates[instruction.p1] = instruction.p2
            case .openPseudo: pseudo[instruction.p1] = instruction.p2
            case .typeCheck: columnsOfStrict[instruction.p4] = schema.columns(table: instruction.p4)
            default: break
            }
        }
        findSorted(program)
        findUnions(program)
        // Who inserts opens each index of the table, and asks most of them nothing.
        let readRoots = Set(program.lazy.filter(\.opcode.readsRows).compactMap { roots[$0.p1] })
        for (cursor, root) in roots {
            stored[cursor] = schema.columns(root: root, isTable: tables.contains(cursor), isRead: readRoots.contains(root))
            expressions[cursor] = schema.expressions[root]
        }
        findWrites(program, schema.tableRoots)
    }

    private mutating func findSorted(_ program: [Instruction]) {
        let cursors = Set(program.lazy.filter { $0.opcode == .sort || $0.opcode == .sorterSort }.map(\.p1))
        for instruction in program where instruction.opcode == .sorterOpen || instruction.opcode == .openEphemeral {
            guard cursors.contains(instruction.p1) else { continue }
            // "k(2,B,-B)": KeyInfo, of two fields.
            sorted[instruction.p1] = Int(instruction.p4.dropFirst(2).prefix { $0.isNumber })
        }
    }

    private mutating func findUnions(_ program: [Instruction]) {
        // "k(2,B,-B)": KeyInfo. Without it they are rows in the order in which they were written.
        for instruction in program where instruction.opcode == .openEphemeral && instruction.p4.hasPrefix("k(") {
            unions.insert(instruction.p1)
        }
        var affinities: [Int: String] = [:]
        for instruction in program {
            switch instruction.opcode {
            case .makeRecord: affinities[instruction.p3] = instruction.p4
            // The elements of an IN have an affinity, be it that of none (sqlite3CodeRhsOfIN in
            // https://www.sqlite.org/src/file?name=src/expr.c). They may be gone through.
            case .indexInsert: if affinities[instruction.p2]?.isEmpty != true { unions.remove(instruction.p1) }
            // DISTINCT asks whether a row is there, and that is where it is compared; so is what is sorted.
            default: if instruction.opcode.looksForRows { unions.remove(instruction.p1) }
            }
        }
        unions.subtract(sorted.keys)
    }

    /// MakeRecord, and the Insert of its record into a table: into the table's own b-tree, not into an index.
    private mutating func findWrites(_ program: [Instruction], _ tableRoots: Set<Int>) {
        var shapes: [Int: RecordShape] = [:]
        var tableCursors: Set<Int> = []
        for instruction in program {
            switch instruction.opcode {
            case .openWrite where tableRoots.contains(instruction.p2): tableCursors.insert(instruction.p1)
            case .makeRecord: shapes[instruction.p3] = RecordShape(instruction)
            case .insert, .indexInsert:
                guard tableCursors.contains(instruction.p1), let shape = shapes[instruction.p2],
                    let columns = stored[instruction.p1]
                else { continue }
                columnsWritten[shape] = columns
            default: break
            }
        }
        let byFirst = Dictionary(grouping: columnsWritten, by: \.key.first)
        for (first, rows) in byFirst where rows.allSatisfy({ $0.value == rows[0].value }) { rowsWritten[first] = rows[0].value }
    }

    func columns(of cursor: Int) -> [ProgramValue]? { stored[cursor] }

    /// A table's column, or an index's: what is compared with it has got its affinity. In an index that the program makes there may be what
    /// has none, as max(author) of a view, and what is compared with that is not converted.
    func isDeclared(_ column: Int, of cursor: Int, isConverted: Bool) -> Bool {
        if automatic.contains(cursor) { return isConverted }
        return stored[cursor] != nil && expressions[cursor]?.contains(column) != true
    }

    func original(_ cursor: Int) -> Int {
        var cursor = cursor
        // Duplicates of duplicates; the bound is for a program that has gone mad.
        for _ in 0..<64 {
            guard let next = duplicates[cursor] else { break }
            cursor = next
        }
        return cursor
    }
}
