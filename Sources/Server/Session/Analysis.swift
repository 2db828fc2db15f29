import Pool
import PostgresWire
import SQLite

/// What SQLite and the text say about a statement, found when it is first prepared and kept with its `Query`.
final class Analysis: Sendable {
    struct IfIntegers: Equatable, Sendable {
        var type: TypeOID
        /// By number.
        var parameters: [Int]

        /// A truth is bound as 1 or 0.
        func holds(of types: [ParameterType]) -> Bool {
            parameters.allSatisfy { $0 <= types.count && [.int8, .bool].contains(types[$0 - 1].type.stored) }
        }
    }

    struct Column: Equatable, Sendable {
        var name: String
        var type: ColumnType
        /// What Describe(statement) announces for an open column, when no row can be asked.
        var assumed: TypeOID
        var declared: String?
        /// What it is announced as with result_typing = declared, where that is another type.
        var ownType: TypeOID?
        /// By its form it is a truth if its columns are.
        var isPerhapsTruth = false
        /// The same, if these parameters are all integers.
        var assumedOfIntegers: IfIntegers?
        /// An open column's only source: the parameter of this number.
        var parameter: Int?
        /// The table's OID and the column's number in it, as far as it is a table's column.
        var tableOID: UInt32 = 0
        var attributeNumber: Int16 = 0
    }

    /// What an analysis for Parse finds beyond one for a simple query, which has no parameters and whose first row is
    /// there before its columns are described.
    struct Depth {
        var connection: Connection
        var oids: CatalogOIDs
    }

    /// Where this was found.
    let schemaVersion: SchemaVersion
    /// CREATE, ALTER or DROP.
    let definesSchema: Bool
    /// Runs on a reader. False: it needs the writer.
    let isRead: Bool
    let kind: StatementKind
    /// INSERT, UPDATE and DELETE set changes(); other writing statements leave it alone.
    let countsRows: Bool
    let columns: [Column]
    let slots: [ParameterSlot]
    /// By PostgreSQL's number: the type in the statement's own text (`$1::int8`), or `.unspecified`.
    let parameterTypes: [TypeOID]
    /// By PostgreSQL's number: what the statement's program, or else its text, says that it is.
    let inferredTypes: [ParameterType]
    /// The program was asked.
    let isDeep: Bool
    /// What the columns' types are was for the program to say, so that another schema may have others by the same names and
    /// declarations.
    let hasComputedTypes: Bool
    /// Whether a column is a truth was for the program to say.
    var mayHoldTruths: Bool { columns.contains(where: \.isPerhapsTruth) }
    /// The RowDescription for text format, when no column is open: the commonest reply, encoded once.
    let textDescription: [UInt8]?
    let textEncoder: RowEncoder
    /// What it takes, roughly: of 65,535 parameters (`SELECT ?65535`) two mebibytes and more, of columns their names.
    let keptBytes: Int

    init(
        _ statement: Statement, of query: Query, schemaVersion: SchemaVersion, depth: Depth? = nil
    ) throws(WireError) {
        let (head, numbered) = (query.head, query.numbered)
        let sql = numbered?.text.bytes ?? query.text.bytes
        self.schemaVersion = schemaVersion
        // Definitions go by their verb: DROP ... IF EXISTS of what does not exist is a no-op that only reads, and the
        // next time it is not.
        let defines: [Verb] = [.create, .alter, .drop, .reindex, .analyze]
        definesSchema = defines.contains(head.main) && statement.explain == 0
        isRead = statement.explain != 0 || ((statement.isReadOnly || Self.asksForJournalMode(head, sql)) && !defines.contains(head.main))
        kind = head.main.statementKind
        countsRows = [.insert, .replace, .update, .delete].contains(head.main) && statement.explain == 0
        var columns = Self.columns(of: statement, sql: sql)
        (slots, parameterTypes) = try Self.parameters(of: statement, sql, numbered)
        isDeep = depth != nil
        var program: ProgramTypes?
        let abridged = numbered == nil || depth == nil ? nil : AbridgedStatement(sql)
        let isCompound = depth != nil && CompoundSelect.mayBe(sql)
        hasComputedTypes = isCompound || (isDeep && columns.contains { $0.type == .open })
        if let depth {
            depth.oids.fill(&columns, of: statement, on: depth.connection)
            let asks = hasComputedTypes || !slots.isEmpty
            let hasData: [Verb] = [.select, .values, .table, .insert, .replace, .update, .delete]
            if asks, hasData.contains(head.main), statement.explain == 0 {
                // Without an answer types are unknown, which is always allowed.
                let types = Self.numbers(slots, parameterTypes)
                let seeksResults = hasComputedTypes
                program =
                    if let abridged { abridged.text.withUnsafeBytes { Self.program($0, types, depth, seeksResults) } } else {
                        Self.program(query.text.bytes, types, depth, seeksResults)
                    }
            }
        }
        if let program { Self.apply(program, slots, isCompound: isCompound, to: &columns) }
        self.columns = columns
        // The plan does not depend on values, so nothing is lost with the type: ActiveRecord explains what it has prepared.
        inferredTypes =
            statement.explain != 0
            ? parameterTypes.map { _ in .text }
            : InferredTypes.infer(slots, count: parameterTypes.count, sql, program, abridged, on: depth?.connection)
        textEncoder = Self.encoder(columns, formats: { _ in .text }, openTypes: nil)
        if columns.isEmpty || columns.contains(where: { $0.type == .open }) {
            textDescription = nil
        } else {
            let out = OutputBuffer()
            out.rowDescription(Self.fields(columns, textEncoder))
            textDescription = Array(out.readable)
        }
        keptBytes = Self.bytes(columns, slots.count, parameterTypes.count, textDescription)
    }

    /// To SQLite that writes, whatever it says. One that would set the mode is not prepared: `Authorizer`.
    private static func asksForJournalMode(_ head: StatementHead, _ sql: UnsafeRawBufferPointer) -> Bool {
        guard head.main == .pragma else { return false }
        var lexer = SQLLexer(sql)
        guard lexer.next() != nil, let name = lexer.next() else { return false }
        if name.matches("journal_mode") { return true }
        return lexer.next()?.isSymbol(".") == true && lexer.next()?.matches("journal_mode") == true
    }

    private static func bytes(
        _ columns: [Column], _ slots: Int, _ parameters: Int, _ textDescription: [UInt8]?
    ) -> Int {
        let ofColumns = columns.reduce(0) {
            $0 + MemoryLayout<Column>.stride + MemoryLayout<RowEncoder.Column>.stride + $1.name.utf8.count + ($1.declared?.utf8.count ?? 0)
        }
        return ofColumns + (textDescription?.count ?? 0) + slots * MemoryLayout<ParameterSlot>.stride
            + parameters * (MemoryLayout<TypeOID>.stride + MemoryLayout<ParameterType>.stride)
    }

    /// A statement that is not run on the served database.
    init(columns: [Column], slots: [ParameterSlot], parameterTypes: [TypeOID]) {
        (self.columns, self.slots, self.parameterTypes) = (columns, slots, parameterTypes)
        (schemaVersion, definesSchema, isRead, countsRows) = (0, false, true, false)
        hasComputedTypes = false
        kind = Verb.select.statementKind
        inferredTypes = parameterTypes.map { _ in .text }
        isDeep = true
        textEncoder = Self.encoder(columns, formats: { _ in .text }, openTypes: nil)
        textDescription = nil
        keptBytes = Self.bytes(columns, slots.count, parameterTypes.count, nil)
    }

    /// The same columns as another reading of the statement found: then what a client was told still holds.
    func hasSameColumns(as statement: Statement) -> Bool {
        guard statement.columnCount == columns.count else { return false }
        return columns.indices.allSatisfy {
            statement.columnName($0) == columns[$0].name && statement.columnDeclaredType($0) == columns[$0].declared
        }
    }

    /// A client that was told of the columns need not hear of them again. Their place in their table matters to nobody's values.
    func announcesSame(as other: Analysis) -> Bool {
        guard columns.count == other.columns.count else { return false }
        return zip(columns, other.columns).allSatisfy { mine, others in
            var others = others
            (others.tableOID, others.attributeNumber) = (mine.tableOID, mine.attributeNumber)
            return mine == others
        }
    }

    private static func columns(of statement: Statement, sql: UnsafeRawBufferPointer) -> [Column] {
        let count = statement.columnCount
        guard count > 0 else { return [] }
        var columns = (0..<count).map { index in
            let declared = statement.columnDeclaredType(index)
            return Column(
                name: statement.columnName(index), type: ColumnType(declared: declared), assumed: .text,
                declared: declared, ownType: DeclaredType(declared).flatMap { $0.own == $0.stored ? nil : $0.own })
        }
        if statement.explain == 0, columns.contains(where: { $0.type == .open }),
            let types = SelectListTypes.infer(sql, columnCount: count)
        {
            for index in columns.indices where columns[index].type == .open && columns[index].declared == nil {
                columns[index].type = ColumnType(static: types[index])
                columns[index].ownType = types[index]?.ownType
                columns[index].isPerhapsTruth = types[index] == .perhapsBool
            }
        }
        return columns
    }

    /// By SQLite's index: what number a parameter is, by its type in the text.
    private static func numbers(_ slots: [ParameterSlot], _ types: [TypeOID]) -> [Int: TypeOID] {
        var result: [Int: TypeOID] = [:]
        for slot in slots where types[slot.number - 1].isNumber {
            result[slot.index] = types[slot.number - 1].stored ?? .numeric
        }
        return result
    }

    private static func program(
        _ sql: UnsafeRawBufferPointer, _ types: [Int: TypeOID], _ depth: Depth, _ hasComputedTypes: Bool
    ) -> ProgramTypes? {
        guard var program = (try? ProgramTypes(sql, types, on: depth.connection)) ?? nil else { return nil }
        if hasComputedTypes, program.hidesArguments, let other = ScalarExtremes.replaced(in: sql),
            let results = other.withUnsafeBytes({ (try? ProgramTypes($0, types, on: depth.connection)) ?? nil })
        {
            program.takeResults(of: results)
        }
        return program
    }

    private static func parameters(
        of statement: Statement, _ sql: UnsafeRawBufferPointer, _ numbered: NumberedParameters?
    ) throws(WireError) -> ([ParameterSlot], [TypeOID]) {
        if let numbered {
            return ((1...numbered.count).map { ParameterSlot(index: $0, number: $0) }, numbered.types)
        }
        var slots: [ParameterSlot] = []
        var given: [Int: TypeOID] = [:]
        guard statement.parameterCount > 0 else { return (slots, []) }
        let names = ParameterNames(sql, of: statement)
        for index in 1...statement.parameterCount {
            let name = names.name(index) ?? ""
            var copy = name
            let parsed = copy.withUTF8 { ParameterName(name.isEmpty ? nil : UnsafeRawBufferPointer($0)) }
            let number: Int
            var type = TypeOID.unspecified
            switch parsed {
            case .numbered(let n, let range):
                number = n
                if let range {
                    let typeName = String(decoding: Array(name.utf8)[range], as: UTF8.self)
                    guard let known = TypeOID(sqlName: typeName) else { throw .noType(typeName) }
                    type = known
                }
            case .positional:
                guard slots.count == index - 1, slots.last.map({ $0.number == index - 1 }) ?? true else {
                    throw WireError(
                        state: .undefinedParameter, message: "? cannot be used beside numbered parameters",
                        hint: "Write $1, $2, ... for all of them.")
                }
                number = index
            case .named, .outOfRange, .malformed:
                throw WireError(
                    state: .undefinedParameter, message: "there is no parameter \(name)",
                    hint: "Parameters are written $1, $2, ... or, with a type, $1::int8.")
            }
            if type != .unspecified {
                guard given[number] ?? type == type else {
                    throw WireError(
                        state: .ambiguousParameter, message: "parameter $\(number) is given two types",
                        hint: "Use a parameter of its own for each.")
                }
                given[number] = type
            }
            slots.append(ParameterSlot(index: index, number: number))
        }
        // Every number up to the highest must be there, as in PostgreSQL; and so a single $65535 costs nothing.
        let numbers = Set(slots.map(\.number))
        if let missing = (1...statement.parameterCount + 1).first(where: { !numbers.contains($0) }),
            missing <= numbers.max() ?? 0
        {
            throw WireError(
                state: .indeterminateDatatype, message: "could not determine data type of parameter $\(missing)")
        }
        return (slots, (1...numbers.count).map { given[$0] ?? .unspecified })
    }

    private static func apply(_ program: ProgramTypes, _ slots: [ParameterSlot], isCompound: Bool, to columns: inout [Column]) {
        guard program.results.count == columns.count else { return }
        for (index, result) in program.results.enumerated() {
            if isCompound { contradict(&columns[index], result) }
            guard columns[index].type == .open else { continue }
            columns[index].assumed = result.assumedOfAny ?? result.assumed
            if columns[index].declared == nil, let own = result.declared, DeclaredValue.isKnown(own) { columns[index].ownType = own }
            // A text may be there that nothing has made a number of.
            let others = result.others.map { program.parameter([$0]).type }
            if others.contains(where: { !$0.isNumber && $0 != columns[index].assumed }) { columns[index].assumed = .text }
            if let type = result.assumedOfIntegers {
                let deciding = Set(result.deciding)
                let parameters = slots.filter { deciding.contains($0.index) }.map(\.number)
                columns[index].assumedOfIntegers = IfIntegers(type: type, parameters: parameters)
            }
            columns[index].parameter = result.parameter.flatMap { found in slots.first { $0.index == found }?.number }
            // A column of a table may hold anything; what is declared there has been seen to.
            if isCompound, columns[index].declared == nil, result.isNumber, result.likely == .numeric {
                columns[index].type = .fixed(.float8)
            }
            if columns[index].declared == nil, let certain = result.certain { columns[index].type = .fixed(certain) }
            if columns[index].isPerhapsTruth, result.isOfTruths { columns[index].type = .fixed(.bool) }
        }
    }

    /// The declared type is that of the first SELECT's column, and another SELECT may have other values: integers and reals are float8
    /// then, and where they are of different kinds the first row decides.
    private static func contradict(_ column: inout Column, _ result: ProgramTypes.Result) {
        guard let declared = column.declared, case .fixed(let type) = column.type, let own = DeclaredType(declared)?.own,
            result.likely != own
        else { return }
        column.ownType = nil
        switch result.likely {
        case .numeric? where type == .int8 || type == .float8: column.type = .fixed(.float8)
        case let likely? where likely == type || (likely.isStoredAsText && type == .text): break
        default: column.type = .open
        }
    }
}

// MARK: Announcing results

extension Analysis {
    /// - Parameter openTypes: what open columns are announced as; nil: what is assumed without a row.
    static func encoder(
        _ columns: [Column], formats: (Int) -> Format, openTypes: ((Int) -> StorageClass)?
    ) -> RowEncoder {
        var encoder = RowEncoder()
        encoder.columns.reserveCapacity(columns.count)
        for (index, column) in columns.enumerated() {
            switch column.type {
            case .fixed(let type):
                encoder.columns.append(
                    .init(type: type, format: formats(index), isOpen: false, isUndecided: false))
            case .open:
                let first = openTypes?(index)
                encoder.columns.append(
                    .init(
                        type: first?.openType ?? column.assumed, format: formats(index), isOpen: first != nil,
                        isUndecided: first == .null))
            }
        }
        return encoder
    }

    static func fields(_ columns: [Column], _ encoder: RowEncoder) -> [FieldDescription] {
        zip(columns, encoder.columns).map { column, encoded in
            FieldDescription(
                name: column.name, tableOID: column.tableOID, attributeNumber: column.attributeNumber,
                type: encoded.type, typeModifier: -1, format: encoded.format)
        }
    }
}
