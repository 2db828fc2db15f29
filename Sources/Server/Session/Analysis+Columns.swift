import PostgresWire
import SQLite

/// What a result's columns are: by their declarations, by their place in the text, and by what the statement's program does.
extension Analysis {
    struct IfIntegers: Equatable, Sendable {
        var type: TypeOID
        var parameters: [ParameterSlot]

        /// A boolean is bound as 1 or 0.
        func holds(of statement: PreparedStatement) -> Bool {
            parameters.allSatisfy { [.int8, .bool].contains(statement.parameter($0).boundType.stored) }
        }
    }

    struct Column: Equatable, Sendable {
        /// What it is called to clients.
        var name: String
        /// What SQLite calls it, where that is something else.
        var nameInSQLite: String?
        var type: ColumnType
        /// What Describe(statement) announces for an open column, when no row can be asked.
        var assumed: TypeOID
        var declared: String?
        /// It is a table's column, as it is there. Its type may be none.
        var isOfTable = false
        /// What it is announced as with result_typing = declared, where that is another type.
        var ownType: TypeOID?
        /// By its form it is a boolean if its columns are.
        var isPerhapsBoolean = false
        /// The same, if these parameters are all integers.
        var assumedOfIntegers: IfIntegers?
        /// An open column's only source.
        var parameter: ParameterSlot?
        /// Parameters that may be there as they came, beside something else.
        var others: [ParameterSlot] = []
        /// The table's OID and the column's number in it, as far as it is a table's column.
        var tableOID: UInt32 = 0
        var attributeNumber: Int16 = 0
    }

    /// - Parameters:
    ///   - sql: what SQLite reads.
    ///   - source: what the client has sent, where that is something else.
    static func columns(of statement: Statement, sql: UnsafeRawBufferPointer, source: UnsafeRawBufferPointer?) -> [Column] {
        let count = statement.columnCount
        guard count > 0 else { return [] }
        var columns = (0..<count).map { index in
            let declared = statement.columnDeclaredType(index)
            return Column(
                name: statement.columnName(index), type: ColumnType(declared: declared), assumed: .text,
                declared: declared, isOfTable: statement.columnOriginName(index) != nil,
                ownType: DeclaredType(declared).flatMap { $0.own == $0.stored ? nil : $0.own })
        }
        guard statement.explain == 0 else { return columns }
        // A subquery's column may be a table's, and is called as its text.
        if columns.contains(where: { !$0.isOfTable || $0.name.hasPrefix("(") }) {
            name(&columns, source ?? sql, isRewritten: source != nil)
        }
        if columns.contains(where: { $0.type == .open }),
            let types = SelectListTypes.infer(sql, columnCount: count)
        {
            for index in columns.indices where columns[index].type == .open && columns[index].declared == nil {
                // A column may be called true, or current_date.
                guard statement.columnOriginName(index) == nil else { continue }
                columns[index].type = ColumnType(static: types[index])
                columns[index].ownType = types[index]?.ownType
                columns[index].isPerhapsBoolean = types[index] == .perhapsBool
            }
        }
        return columns
    }

    /// As PostgreSQL would, where it would say more than `?column?`.
    private static func name(_ columns: inout [Column], _ source: UnsafeRawBufferPointer, isRewritten: Bool) {
        guard let names = ResultNames.names(in: source, columnCount: columns.count, isRewritten: isRewritten) else { return }
        for (index, name) in names.enumerated() {
            guard let name, name != columns[index].name else { continue }
            (columns[index].name, columns[index].nameInSQLite) = (name, columns[index].name)
        }
    }

    static func apply(_ program: ProgramTypes, _ slots: [ParameterSlot], isCompound: Bool, to columns: inout [Column]) {
        guard program.results.count == columns.count else { return }
        for (index, result) in program.results.enumerated() {
            if isCompound { contradict(&columns[index], result) }
            guard columns[index].type == .open else { continue }
            columns[index].assumed = result.assumedOfAny ?? result.assumed
            if columns[index].declared == nil, let own = result.declared, DeclaredValue.isKnown(own) { columns[index].ownType = own }
            // A text may be there that nothing has made a number of.
            columns[index].others = slots.filter { result.others.contains($0.index) }
            let others = result.others.map { program.parameter([$0]).type }
            if others.contains(where: { !$0.isNumber && $0 != columns[index].assumed }) { columns[index].assumed = .text }
            if let type = result.assumedOfIntegers {
                let deciding = Set(result.deciding)
                let parameters = slots.filter { deciding.contains($0.index) }
                columns[index].assumedOfIntegers = IfIntegers(type: type, parameters: parameters)
            }
            columns[index].parameter = result.parameter.flatMap { found in slots.first { $0.index == found } }
            // A column of a table may hold anything; what is declared there has been seen to.
            if isCompound, columns[index].declared == nil, result.isNumber, result.likely == .numeric {
                columns[index].type = .fixed(.float8)
            }
            if columns[index].declared == nil, let certain = result.certain { columns[index].type = .fixed(certain) }
            if columns[index].isPerhapsBoolean, result.isOfBooleans { columns[index].type = .fixed(.bool) }
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
