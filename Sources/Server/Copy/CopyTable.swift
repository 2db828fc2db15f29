import PostgresWire
import SQLite

/// A table as COPY needs it, and the statements COPY makes of it.
struct CopyTable {
    struct Column: Equatable {
        var name: String
        var declared: String
        /// `pragma_table_xinfo`'s: 0 for an ordinary column, 1 for a hidden one of a virtual table, 2 and 3 for generated
        /// columns. https://www.sqlite.org/pragma.html#pragma_table_xinfo
        var hidden: Int64
        var isGenerated: Bool { hidden > 1 }
    }

    let name: String
    let isView: Bool
    /// Those that COPY is about, in its order.
    let columns: [Column]
    /// As COPY names it.
    let wanted: CopyStatement.Table

    /// Looks the table up on a connection, whose schema is read again first.
    init(_ table: CopyStatement.Table, on connection: Connection) throws(WireError) {
        // PostgreSQL's name of the schema everything is in.
        guard table.schema.map({ $0 == "main" || $0 == "public" }) ?? true else {
            throw WireError(
                state: .invalidSchemaName, message: "schema \"\(table.schema ?? "")\" does not exist",
                hint: "Every table is in the schema main.")
        }
        let (name, isView, all) = try Self.look(table.name, connection)
        guard !all.isEmpty else {
            throw WireError(state: .undefinedTable, message: "no such table: \(table.name)")
        }
        (self.name, self.isView, wanted) = (name, isView, table)
        guard !table.columns.isEmpty else {
            columns = all.filter { $0.hidden == 0 }
            return
        }
        // A table may have thousands of columns, and a statement may name them all.
        let byName = Dictionary(all.lazy.map { ($0.name.foldedName, $0) }, uniquingKeysWith: { first, _ in first })
        var taken: Set<FoldedName> = []
        var chosen: [Column] = []
        for wanted in table.columns {
            // SQLite compares names so, quoted ones too.
            guard let column = byName[wanted.foldedName] else {
                throw WireError(
                    state: .undefinedColumn, message: "column \"\(wanted)\" of table \"\(name)\" does not exist")
            }
            guard !column.isGenerated else {
                throw WireError(
                    state: .invalidColumnReference, message: "column \"\(column.name)\" is a generated column",
                    detail: "Generated columns cannot be used in COPY.")
            }
            guard taken.insert(wanted.foldedName).inserted else {
                throw WireError(state: .duplicateColumn, message: "column \"\(wanted)\" specified more than once")
            }
            chosen.append(column)
        }
        columns = chosen
    }

    /// Rows that were read by this table's columns must not be stored in others.
    func requireSame(as now: CopyTable) throws(WireError) {
        guard now.columns == columns, now.isView == isView else {
            throw WireError(
                state: .serializationFailure, message: "table \"\(name)\" has changed during COPY",
                detail: "Its rows were read by the columns that it had when COPY began.", hint: "Run the COPY again.")
        }
    }

    private static func look(
        _ name: String, _ connection: Connection
    ) throws(WireError) -> (name: String, isView: Bool, columns: [Column]) {
        do throws(SQLiteError) {
            // A statement about the schema alone does not notice by itself that another connection has changed it.
            try connection.rereadSchema()
            let statement = try connection.prepareInternal(
                """
                SELECT l.name, l.type, x.name, x.type, x.hidden
                FROM pragma_table_list(?1) AS l, pragma_table_xinfo(l.name, l.schema) AS x WHERE l.schema = 'main'
                """)
            // pragma_table_list shows it under the new name and looks for it under the old one.
            try statement.bindText(copying: name.lowercased() == "sqlite_schema" ? "sqlite_master" : name, at: 1)
            var found = (name: name, isView: false, columns: [Column]())
            while try statement.step() == .row {
                func text(_ column: Int) -> String { String(decoding: statement.text(column), as: UTF8.self) }
                found.name = text(0)
                found.isView = text(1) == "view"
                found.columns.append(Column(name: text(2), declared: text(3), hidden: statement.integer(4)))
            }
            return found
        } catch {
            throw ErrorTranslation.wireError(error)
        }
    }

    private var columnList: String { columns.map { SQLQuoting.identifier($0.name) }.joined(separator: ", ") }

    var insert: String {
        let places = columns.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
        return "INSERT INTO main.\(SQLQuoting.identifier(name)) (\(columnList)) VALUES (\(places))"
    }

    var select: String { "SELECT \(columnList) FROM main.\(SQLQuoting.identifier(name))" }
}
