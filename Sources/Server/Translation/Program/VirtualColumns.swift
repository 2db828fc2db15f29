import PostgresWire
import SQLite

/// The types of columns that a program does not show: those of virtual tables, and of views that INSTEAD OF triggers
/// write, whose values no affinity converts ("do not attempt any conversions before assembling the record", sqlite3Insert
/// in https://www.sqlite.org/src/file?name=src/insert.c).
struct VirtualColumns {
    private struct Table {
        var name: FoldedName
        var columns: [(name: FoldedName, type: TypeOID?)]
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
            SELECT l.name, coalesce(s.sql, '') LIKE '% USING fts%' FROM pragma_table_list AS l
            LEFT JOIN sqlite_schema AS s ON s.name = l.name AND s.type = 'table'
            WHERE l.schema = 'main' AND l.type IN ('virtual', 'view')
            """)
        while try list.step() == .row {
            let name = Self.text(list, 0)
            guard names.contains(name.foldedName) else { continue }
            // A full-text index holds texts, and declares nothing.
            tables.append(try Self.table(name, isText: list.integer(1) != 0, connection))
        }
        guard !tables.isEmpty else { return nil }
        self.tables = tables
        self.target = tables.first { $0.name == target }
        self.sql = sql
    }

    private static func table(_ name: String, isText: Bool, _ connection: Connection) throws(SQLiteError) -> Table {
        let statement = try connection.prepareInternal("PRAGMA table_xinfo(\(SQLQuoting.literal(name)))")
        var columns: [(name: FoldedName, type: TypeOID?)] = []
        while try statement.step() == .row {
            // What is hidden is written by its name only.
            guard statement.integer(6) == 0 else { continue }
            let type = DeclaredType(text(statement, 2))?.own
            columns.append((text(statement, 1).foldedName, type ?? (isText ? .text : nil)))
        }
        return Table(name: name.foldedName, columns: columns)
    }

    private static func text(_ statement: Statement, _ column: Int) -> String {
        String(decoding: statement.text(column), as: UTF8.self)
    }

    /// nil: it is none of these columns, or nothing is known of it.
    func type(_ context: ParameterContext) -> ParameterType? {
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
