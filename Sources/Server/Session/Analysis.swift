import Pool
import PostgresWire
import SQLite

/// What SQLite and the text say about a statement, found when it is first prepared and kept with its `Query`.
final class Analysis: Sendable {
    struct Column: Equatable, Sendable {
        var name: String
        var type: ColumnType
        /// What Describe(statement) announces for an open column, when no row can be asked.
        var assumed: TypeOID
        var declared: String?
    }

    /// The server's count of schema changes when this was found.
    let schemaGeneration: Int
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
    /// By PostgreSQL's number: an untyped text value for it must be a number, says its place in the statement.
    let wantsNumber: [Bool]
    /// The RowDescription for text format, when no column is open: the commonest reply, encoded once.
    let textDescription: [UInt8]?
    let textEncoder: RowEncoder

    init(
        _ statement: Statement, head: StatementHead, sql: UnsafeRawBufferPointer, schemaGeneration: Int
    ) throws(WireError) {
        self.schemaGeneration = schemaGeneration
        // Definitions go by their verb: DROP ... IF EXISTS of what does not exist is a no-op that only reads, and the
        // next time it is not.
        let defines: [Verb] = [.create, .alter, .drop, .reindex, .analyze]
        definesSchema = defines.contains(head.main) && statement.explain == 0
        isRead = statement.explain != 0 || (statement.isReadOnly && !defines.contains(head.main))
        kind = head.main.statementKind
        countsRows = [.insert, .replace, .update, .delete].contains(head.main) && statement.explain == 0
        columns = Self.columns(of: statement, sql: sql)
        (slots, parameterTypes) = try Self.parameters(of: statement)
        wantsNumber = Self.numbers(slots, statement, sql, count: parameterTypes.count)
        textEncoder = Self.encoder(columns, formats: { _ in .text }, openTypes: nil)
        if columns.isEmpty || columns.contains(where: { $0.type == .open }) {
            textDescription = nil
        } else {
            let out = OutputBuffer()
            out.rowDescription(Self.fields(columns, textEncoder))
            textDescription = Array(out.readable)
        }
    }

    /// A statement that is not run on the served database.
    init(columns: [Column], slots: [ParameterSlot], parameterTypes: [TypeOID]) {
        (self.columns, self.slots, self.parameterTypes) = (columns, slots, parameterTypes)
        (schemaGeneration, definesSchema, isRead, countsRows) = (0, false, true, false)
        kind = Verb.select.statementKind
        wantsNumber = parameterTypes.map { _ in false }
        textEncoder = Self.encoder(columns, formats: { _ in .text }, openTypes: nil)
        textDescription = nil
    }

    /// The same columns as another reading of the statement found: then what a client was told still holds.
    func hasSameColumns(as statement: Statement) -> Bool {
        guard statement.columnCount == columns.count else { return false }
        return columns.indices.allSatisfy {
            statement.columnName($0) == columns[$0].name && statement.columnDeclaredType($0) == columns[$0].declared
        }
    }

    private static func columns(of statement: Statement, sql: UnsafeRawBufferPointer) -> [Column] {
        let count = statement.columnCount
        guard count > 0 else { return [] }
        var columns = (0..<count).map { index in
            let declared = statement.columnDeclaredType(index)
            return Column(
                name: statement.columnName(index), type: ColumnType(declared: declared), assumed: .text,
                declared: declared)
        }
        if statement.explain == 0, columns.contains(where: { $0.type == .open }),
            let types = SelectListTypes.infer(sql, columnCount: count)
        {
            for index in columns.indices where columns[index].type == .open && columns[index].declared == nil {
                columns[index].type = ColumnType(static: types[index])
            }
        }
        return columns
    }

    private static func parameters(of statement: Statement) throws(WireError) -> ([ParameterSlot], [TypeOID]) {
        var slots: [ParameterSlot] = []
        var given: [Int: TypeOID] = [:]
        guard statement.parameterCount > 0 else { return (slots, []) }
        for index in 1...statement.parameterCount {
            let name = statement.parameterName(index) ?? ""
            var copy = name
            let parsed = copy.withUTF8 { ParameterName(name.isEmpty ? nil : UnsafeRawBufferPointer($0)) }
            let number: Int
            var type = TypeOID.unspecified
            switch parsed {
            case .numbered(let n, let range):
                number = n
                if let range {
                    let typeName = String(decoding: Array(name.utf8)[range], as: UTF8.self)
                    guard let known = TypeOID(sqlName: typeName) else {
                        throw WireError(state: .undefinedObject, message: "type \"\(typeName)\" does not exist")
                    }
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

    private static func numbers(
        _ slots: [ParameterSlot], _ statement: Statement, _ sql: UnsafeRawBufferPointer, count: Int
    ) -> [Bool] {
        var result = Array(repeating: false, count: count)
        guard count > 0 else { return result }
        for use in NumericContext.uses(sql) {
            guard use.context == .number || use.context == .limit else { continue }
            let name = UnsafeRawBufferPointer(rebasing: sql[use.name])
            if case .numbered(let number, _) = ParameterName(name), number <= count { result[number - 1] = true }
        }
        return result
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
                name: column.name, tableOID: 0, attributeNumber: 0, type: encoded.type, typeModifier: -1,
                format: encoded.format)
        }
    }
}
