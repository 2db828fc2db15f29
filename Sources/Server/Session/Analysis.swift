import Pool
import PostgresWire
import SQLite

/// What SQLite and the text say about a statement, found when it is first prepared and kept with its `Query`.
final class Analysis: Sendable {
    /// What an analysis for Parse finds beyond one for a simple query, which has no parameters and whose first row is
    /// there before its columns are described.
    struct Depth {
        var connection: Connection
        var oids: CatalogOIDs
    }

    /// Definitions go by their verb: DROP ... IF EXISTS of what does not exist is a no-op that only reads, and the next time it is not.
    private static let defining: [Verb] = [.create, .alter, .drop, .reindex, .analyze]
    /// Those whose programs say something of values.
    private static let withData: [Verb] = [.select, .values, .table, .insert, .replace, .update, .delete]

    /// Where this was found.
    let schemaVersion: SchemaVersion
    /// CREATE, ALTER or DROP.
    let definesSchema: Bool
    /// Runs on a reader. False: it needs the writer.
    let isRead: Bool
    let kind: StatementKind
    /// SQLite runs it beside a statement that keeps a snapshot on the same connection. DROP, VACUUM and some PRAGMAs would be refused.
    let runsBesideSnapshot: Bool
    /// INSERT, UPDATE and DELETE set changes(); other writing statements leave it alone.
    let countsRows: Bool
    let columns: [Column]
    let slots: [ParameterSlot]
    /// By PostgreSQL's number: the type in the statement's own text (`$1::int8`), or `.unspecified`.
    let parameterTypes: [TypeOID]
    /// Places of parameters with a type, which elsewhere have none or another.
    let parameterCasts: [ParameterCast]
    /// Their numbers.
    private let mixed: Set<Int>
    /// What the statement's program, or else its text, says that they are: by PostgreSQL's number, and behind those `parameterCasts`.
    let inferredTypes: [ParameterType]
    /// The program was asked.
    let isDeep: Bool
    /// The columns' types were found in the compiled program, so another schema may give others to the same names and declarations.
    let hasComputedTypes: Bool
    /// Whether a column is a boolean was for the program to say.
    var mayHoldBooleans: Bool { columns.contains(where: \.isPerhapsBoolean) }
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
        definesSchema = Self.defining.contains(head.main) && statement.explain == 0
        isRead =
            statement.explain != 0
            || ((statement.isReadOnly || Self.asksForJournalMode(head, sql)) && !Self.defining.contains(head.main))
        kind = head.main.statementKind
        runsBesideSnapshot = Self.withData.contains(head.main)
        countsRows = [.insert, .replace, .update, .delete].contains(head.main) && statement.explain == 0
        var columns = Self.columns(of: statement, sql: sql, source: query.source?.bytes)
        let parameters = try StatementParameters(of: statement, sql, numbered)
        (slots, parameterTypes, parameterCasts) = (parameters.slots, parameters.types, parameters.casts)
        mixed = Set(parameterCasts.map(\.number))
        isDeep = depth != nil
        var program: ProgramTypes?
        let abridged = numbered == nil || depth == nil ? nil : AbridgedStatement(sql)
        let isCompound = depth != nil && CompoundSelect.mayBe(sql)
        hasComputedTypes = isCompound || (isDeep && columns.contains { $0.type == .open })
        if let depth {
            depth.oids.fill(&columns, of: statement, on: depth.connection)
            if hasComputedTypes || !slots.isEmpty, Self.withData.contains(head.main), statement.explain == 0 {
                let types = Self.numbers(parameters, mixed)
                program = Self.program(abridged, query.text.bytes, types, depth)
            }
        }
        if let program { Self.apply(program, slots, isCompound: isCompound, to: &columns) }
        self.columns = columns
        // The plan does not depend on values, so nothing is lost with the type: ActiveRecord explains what it has prepared.
        inferredTypes =
            statement.explain != 0
            ? Array(repeating: .text, count: parameterTypes.count + parameterCasts.count)
            : InferredTypes.infer(parameters, isNumbered: numbered != nil, sql, program, abridged, on: depth?.connection)
        textEncoder = Self.encoder(columns, formats: { _ in .text }, openTypes: nil)
        if columns.isEmpty || columns.contains(where: { $0.type == .open }) {
            textDescription = nil
        } else {
            let out = OutputBuffer()
            out.rowDescription(Self.fields(columns, textEncoder))
            textDescription = Array(out.readable)
        }
        keptBytes =
            Self.bytes(columns, slots.count, inferredTypes.count, textDescription)
            + parameterCasts.count * (MemoryLayout<ParameterCast>.stride + MemoryLayout<Int>.stride * 2)
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
            $0 + MemoryLayout<Column>.stride + MemoryLayout<RowEncoder.Column>.stride + $1.name.utf8.count
                + ($1.nameInSQLite?.utf8.count ?? 0) + ($1.declared?.utf8.count ?? 0)
        }
        return ofColumns + (textDescription?.count ?? 0) + slots * MemoryLayout<ParameterSlot>.stride
            + parameters * (MemoryLayout<TypeOID>.stride + MemoryLayout<ParameterType>.stride)
    }

    /// A statement that is not run on the served database.
    init(columns: [Column], slots: [ParameterSlot], parameterTypes: [TypeOID]) {
        (self.columns, self.slots, self.parameterTypes) = (columns, slots, parameterTypes)
        (schemaVersion, definesSchema, isRead, countsRows) = (0, false, true, false)
        (parameterCasts, mixed) = ([], [])
        hasComputedTypes = false
        kind = Verb.select.statementKind
        runsBesideSnapshot = true
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
            statement.columnName($0) == columns[$0].nameInSQLite ?? columns[$0].name
                && statement.columnDeclaredType($0) == columns[$0].declared
                && (statement.columnOriginName($0) != nil) == columns[$0].isOfTable
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

    /// By SQLite's index: what number a parameter is, by its type in the text.
    private static func numbers(_ parameters: StatementParameters, _ mixed: Set<Int>) -> [Int: TypeOID] {
        var result: [Int: TypeOID] = [:]
        for slot in parameters.slots where slot.cast != nil || !mixed.contains(slot.number) {
            let type = slot.cast.map { parameters.casts[Int($0)].type } ?? parameters.types[slot.number - 1]
            if type.isNumber { result[slot.index] = type.stored ?? .numeric }
        }
        return result
    }

    /// What stands in the text behind the parameter of that number where it has no other place, or is not of `parameterCasts`.
    func cast(of number: Int) -> TypeOID {
        mixed.contains(number) ? .unspecified : parameterTypes[number - 1]
    }

    /// - Parameter isNumbered: the text that is asked calls each parameter by SQLite's index.
    func places(isNumbered: Bool) -> ParameterPlaces {
        ParameterPlaces(slots, numbers: parameterTypes.count, parameterCasts, isNumbered: isNumbered)
    }

    /// - Parameter sql: what is asked where there is nothing shorter that says as much.
    /// - Returns: nil: no answer; then types are unknown, which is always allowed.
    private static func program(
        _ abridged: AbridgedStatement?, _ sql: UnsafeRawBufferPointer, _ types: [Int: TypeOID], _ depth: Depth
    ) -> ProgramTypes? {
        guard let abridged else { return program(sql, types, depth) }
        return abridged.text.withUnsafeBytes { program($0, types, depth) }
    }

    private static func program(
        _ sql: UnsafeRawBufferPointer, _ types: [Int: TypeOID], _ depth: Depth
    ) -> ProgramTypes? {
        guard let program = (try? ProgramTypes(sql, types, on: depth.connection)) ?? nil else { return nil }
        guard program.hidesArguments, let other = ScalarExtremes.replaced(in: sql) else { return program }
        return other.withUnsafeBytes { (try? ProgramTypes($0, types, on: depth.connection)) ?? nil } ?? program
    }
}
