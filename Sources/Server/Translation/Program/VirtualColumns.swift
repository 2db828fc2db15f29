import PostgresWire
import SQLite

/// The types of columns that a program does not show: those of virtual tables, and of views that INSTEAD OF triggers
/// write, whose values no affinity converts ("do not attempt any conversions before assembling the record", sqlite3Insert
/// in https://www.sqlite.org/src/file?name=src/insert.c); and those of VIRTUAL generated columns, of which it has the affinity only.
struct VirtualColumns {
    private struct Table {
        var name: FoldedName
        var columns: [(name: FoldedName, type: TypeOID?)]
        /// Only its VIRTUAL generated columns are among these.
        var isOrdinary: Bool
    }

    private let tables: [Table]
    /// What an INSERT is into.
    private let target: Table?
    private let sql: UnsafeRawBufferPointer
    private static let main = "main".foldedName

    /// nil when the statement names no such table.
    init?(_ sql: UnsafeRawBufferPointer, on connection: Connection) throws(SQLiteError) {
        var names: Set<FoldedName> = []
        var target: FoldedName?
        var isTarget = false
        for token in SQLLexer(sql) {
            if token.isIdentifierLike {
                let name = token.name.foldedName
                if isTarget, target == nil || target == Self.main { target = name }
                names.insert(name)
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
            let table = try Self.table(name, isText: !isOrdinary && list.integer(1) != 0, onlyGenerated: isOrdinary, connection)
            if !isOrdinary || !table.columns.isEmpty { tables.append(table) }
        }
        guard !tables.isEmpty else { return nil }
        self.tables = tables
        self.target = tables.first { $0.name == target && !$0.isOrdinary }
        self.sql = sql
    }

    private static func table(
        _ name: String, isText: Bool, onlyGenerated: Bool, _ connection: Connection
    ) throws(SQLiteError) -> Table {
        let statement = try connection.prepareInternal("PRAGMA table_xinfo(\(SQLQuoting.literal(name)))")
        var columns: [(name: FoldedName, type: TypeOID?)] = []
        while try statement.step() == .row {
            // "A normal column (0), a dynamic or stored generated column (2 or 3), or a hidden column in a virtual table (1)"
            // (https://www.sqlite.org/pragma.html#pragma_table_xinfo), which is written by its name only.
            guard statement.integer(6) == (onlyGenerated ? 2 : 0) else { continue }
            let type = DeclaredType(text(statement, 2))?.own
            columns.append((text(statement, 1).foldedName, type ?? (isText ? .text : nil)))
        }
        return Table(name: name.foldedName, columns: columns, isOrdinary: onlyGenerated)
    }

    private static func text(_ statement: Statement, _ column: Int) -> String {
        String(decoding: statement.text(column), as: UTF8.self)
    }

    /// What a parameter is that stands in these places; nil: they are not all of one type.
    func type(_ contexts: [ParameterContext]) -> ParameterType? {
        guard let first = contexts.first, let found = type(first), contexts.allSatisfy({ type($0) == found }) else { return nil }
        return found
    }

    /// nil: it is none of these columns, or nothing is known of it.
    private func type(_ context: ParameterContext) -> ParameterType? {
        let type: TypeOID?
        switch context {
        case .insertColumn(let ordinal):
            type = target.flatMap { $0.columns.indices.contains(ordinal) ? $0.columns[ordinal].type : nil }
        case .column(let range):
            let parts = SQLLexer(UnsafeRawBufferPointer(rebasing: sql[range])).filter(\.isIdentifierLike).map(\.name.foldedName)
            guard let name = parts.last else { return nil }
            let owner = parts.count > 1 ? parts[parts.count - 2] : nil
            let found = tables.filter { owner == nil || $0.name == owner }
                .flatMap { $0.columns.filter { $0.name == name }.map(\.type) }
            type = found.count == 1 ? found[0] : nil
        default: return nil
        }
        return type.map { ParameterType(needed: $0) }
    }
}
