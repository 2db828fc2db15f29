import PostgresWire
import SQLite

/// The types of columns that a program does not show: those of virtual tables, and of views that INSTEAD OF triggers
/// write, whose values no affinity converts ("do not attempt any conversions before assembling the record", sqlite3Insert
/// in https://www.sqlite.org/src/file?name=src/insert.c); and those of VIRTUAL generated columns, of which it has the affinity only.
///
/// Not a value, since what a name stands for is remembered: a statement may name one a hundred thousand times, and many tables.
final class VirtualColumns {
    private struct Table {
        var name: FoldedName
        var columns: [Column]
        /// It is neither a virtual one nor a view.
        var isOrdinary: Bool
    }

    private struct Column {
        var name: FoldedName
        var type: TypeOID?
        /// VIRTUAL.
        var isGenerated: Bool
    }

    /// A column's name as a statement has it.
    private struct Reference: Hashable {
        var owner: FoldedName?
        var name: FoldedName
    }

    private let tables: [Table]
    /// By a column's name: the tables that have one of it, and it.
    private let columns: [FoldedName: [(table: Int, column: Column)]]
    private var only: [Reference: Column?] = [:]
    private var ofVirtual: [Reference: TypeOID?] = [:]
    /// Words behind a name, with AS or without: what a table may be called in the statement.
    private let aliases: [FoldedName: Set<FoldedName>]
    /// What an INSERT is into.
    private let target: Table?
    private let sql: UnsafeRawBufferPointer
    private static let main = "main".foldedName

    /// nil when the statement names no such table.
    ///
    /// - Parameter isForAll: for the columns of other tables, too.
    init?(_ sql: UnsafeRawBufferPointer, on connection: Connection, isForAll: Bool = false) throws(SQLiteError) {
        var names: Set<FoldedName> = []
        var target: FoldedName?
        var isTarget = false
        var aliases: [FoldedName: Set<FoldedName>] = [:]
        var before: FoldedName?
        for token in SQLLexer(sql) {
            if token.isIdentifierLike, !token.matches("as") {
                let name = token.name.foldedName
                if isTarget, target == nil || target == Self.main { target = name }
                names.insert(name)
                if let before { aliases[name, default: []].insert(before) }
                before = name
            } else if !token.matches("as") {
                before = nil
            }
            isTarget = token.matches("into") || (isTarget && (token.isIdentifierLike && target == Self.main || token.isSymbol(".")))
        }
        var tables: [Table] = []
        let list = try connection.prepareInternal(
            """
            SELECT l.name, coalesce(s.sql, '') LIKE '% USING fts%', l.type = 'table' FROM pragma_table_list AS l
            LEFT JOIN sqlite_schema AS s ON s.name = l.name AND s.type = 'table'
            WHERE l.schema = 'main' AND l.type IN ('virtual', 'view', 'table')
            """)
        while try list.step() == .row {
            let name = Self.text(list, 0)
            guard names.contains(name.foldedName) else { continue }
            let isOrdinary = list.integer(2) != 0
            // A full-text index holds texts, and declares nothing.
            tables.append(try Self.table(name, isText: !isOrdinary && list.integer(1) != 0, isOrdinary: isOrdinary, connection))
        }
        guard isForAll || tables.contains(where: { !$0.isOrdinary || $0.columns.contains(where: \.isGenerated) }) else { return nil }
        self.tables = tables
        var columns: [FoldedName: [(table: Int, column: Column)]] = [:]
        for (index, table) in tables.enumerated() {
            for column in table.columns { columns[column.name, default: []].append((index, column)) }
        }
        self.columns = columns
        self.aliases = aliases
        self.target = tables.first { $0.name == target && !$0.isOrdinary }
        self.sql = sql
    }

    private static func table(
        _ name: String, isText: Bool, isOrdinary: Bool, _ connection: Connection
    ) throws(SQLiteError) -> Table {
        let statement = try connection.prepareInternal("PRAGMA table_xinfo(\(SQLQuoting.literal(name)))")
        var columns: [Column] = []
        while try statement.step() == .row {
            // "A normal column (0), a dynamic or stored generated column (2 or 3), or a hidden column in a virtual table (1)"
            // (https://www.sqlite.org/pragma.html#pragma_table_xinfo), which is written by its name only.
            let hidden = statement.integer(6)
            guard hidden == 0 || isOrdinary else { continue }
            let type = DeclaredType(text(statement, 2))?.own ?? (isText ? .text : nil)
            columns.append(Column(name: text(statement, 1).foldedName, type: type, isGenerated: hidden == 2))
        }
        return Table(name: name.foldedName, columns: columns, isOrdinary: isOrdinary)
    }

    private static func text(_ statement: Statement, _ column: Int) -> String {
        String(decoding: statement.text(column), as: UTF8.self)
    }

    /// What a parameter is that stands in these places; nil: they are not all of one type.
    func type(_ contexts: [ParameterContext]) -> ParameterType? {
        guard let first = contexts.first, let found = type(first), contexts.allSatisfy({ type($0) == found }) else { return nil }
        return found
    }

    /// The same of VIRTUAL generated columns. Any other column may have the name, too, and the table another one in the statement.
    func typeOfGenerated(_ contexts: [ParameterContext]) -> ParameterType? {
        let types = contexts.filter { $0 != .any }.map(typeOfGenerated)
        guard let found = types.first ?? nil, types.allSatisfy({ $0 == found }) else { return nil }
        return found
    }

    private func typeOfGenerated(_ context: ParameterContext) -> ParameterType? {
        guard let column = onlyColumn(context), column.isGenerated else { return nil }
        return column.type.map { ParameterType(needed: $0) }
    }

    /// Of a parameter whose column the program does not show: as if it were compared with that.
    func typeOfNamed(_ contexts: [ParameterContext]) -> ParameterType? {
        var use = ParameterUses.Use()
        for context in contexts where context != .any {
            guard let type = onlyColumn(context)?.type else { return nil }
            use.conversions.append(ParameterUses.Conversion(affinity: Affinity(of: type), type: type))
        }
        return use.conversions.isEmpty ? nil : ParameterType([use])
    }

    private func onlyColumn(_ context: ParameterContext) -> Column? {
        guard case .column(let range) = context, let reference = reference(range) else { return nil }
        if let known = only[reference] { return known }
        let owners = reference.owner.map { owner in
            Set(tables.indices.filter { tables[$0].name == owner || aliases[owner, default: []].contains(tables[$0].name) })
        }
        let named = columns[reference.name, default: []]
        let found = owners.map { owners in owners.isEmpty ? named : named.filter { owners.contains($0.table) } } ?? named
        let column = found.count == 1 ? found[0].column : nil
        only[reference] = .some(column)
        return column
    }

    private func reference(_ range: Range<Int>) -> Reference? {
        let parts = SQLLexer(UnsafeRawBufferPointer(rebasing: sql[range])).filter(\.isIdentifierLike).map(\.name.foldedName)
        return parts.last.map { Reference(owner: parts.dropLast().last, name: $0) }
    }

    private func typeOfVirtual(_ reference: Reference) -> TypeOID? {
        if let known = ofVirtual[reference] { return known }
        let found = columns[reference.name, default: []].filter {
            !tables[$0.table].isOrdinary && (reference.owner == nil || tables[$0.table].name == reference.owner)
        }
        let type = found.count == 1 ? found[0].column.type : nil
        ofVirtual[reference] = .some(type)
        return type
    }

    /// nil: it is none of these columns, or nothing is known of it.
    private func type(_ context: ParameterContext) -> ParameterType? {
        let type: TypeOID?
        switch context {
        case .insertColumn(let ordinal):
            type = target.flatMap { $0.columns.indices.contains(ordinal) ? $0.columns[ordinal].type : nil }
        case .column(let range):
            type = reference(range).flatMap(typeOfVirtual)
        default: return nil
        }
        return type.map { ParameterType(needed: $0) }
    }
}
