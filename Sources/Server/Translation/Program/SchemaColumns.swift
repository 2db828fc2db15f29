import PostgresWire
import SQLite

/// The declared types of tables and indexes, by the root page a program opens them with, in the order in which their
/// records hold the columns.
struct SchemaColumns {
    private let connection: Connection
    private(set) var tableRoots: Set<Int> = []
    private var known: [Int: [ProgramValue]] = [:]
    /// By name. Who writes opens each of a table's indexes, too.
    private var tables: [String: [Column]] = [:]
    /// By root page of an index: which of its columns are expressions.
    private(set) var expressions: [Int: Set<Int>] = [:]
    /// Asked for an index's expressions, it reads a program that opens the same index.
    private let readsExpressions: Bool

    init(_ connection: Connection, readsExpressions: Bool = true) {
        (self.connection, self.readsExpressions) = (connection, readsExpressions)
    }

    /// A root nothing is known of has columns of which nothing is known.
    ///
    /// - Parameter isRead: what an index's expressions are is asked of SQLite, which takes a while.
    mutating func columns(root: Int, isTable: Bool, isRead: Bool) -> [ProgramValue] {
        if let found = known[root] { return found }
        // What goes wrong here leaves types unknown, which is always allowed; of what is wrong with the file hears who asks the connection
        // (`takeFailure`).
        let found = (try? read(root, isTable, isRead)) ?? []
        known[root] = found
        return found
    }

    /// Those that a table's records have.
    mutating func columns(table: String) -> [ProgramValue] {
        // As above.
        ((try? tableColumns(table)) ?? []).filter { !$0.isVirtual }.map(\.value)
    }

    /// nil as long as there has been no AUTOINCREMENT.
    var sequenceRoot: Int? {
        guard
            let found = try? connection.prepareInternal(
                "SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_sequence'" as StaticString),
            (try? found.step()) == .row
        else { return nil }
        return Int(found.integer(0))
    }

    private mutating func read(_ root: Int, _ isTable: Bool, _ isRead: Bool) throws(SQLiteError) -> [ProgramValue] {
        // The schema's own table: type, name, tbl_name, rootpage, sql.
        if root == 1 { return [.text, .text, .text, .int8, .text].map { ProgramValue(.any, $0) } }
        let object = try connection.prepareInternal(
            "SELECT type, name, tbl_name FROM sqlite_schema WHERE rootpage = \(root)")
        guard try object.step() == .row else { return [] }
        let (kind, name, table) = (text(object, 0), text(object, 1), text(object, 2))
        object.reset()
        let columns = try tableColumns(table)
        if kind == "table" { tableRoots.insert(root) }
        if kind == "table", isTable { return columns.filter { !$0.isVirtual }.map(\.value) }
        return try indexColumns(name, columns, root, isRead)
    }

    private struct Column {
        var value: ProgramValue
        /// Computed when it is read: not in the record.
        var isVirtual: Bool
    }

    private mutating func tableColumns(_ table: String) throws(SQLiteError) -> [Column] {
        if let found = tables[table] { return found }
        let statement = try connection.prepareInternal("PRAGMA table_xinfo(\(SQLQuoting.literal(table)))")
        var columns: [Column] = []
        while try statement.step() == .row {
            let declared = text(statement, 2)
            columns.append(Column(value: Self.value(declared), isVirtual: statement.integer(6) == 2))
        }
        tables[table] = columns
        return columns
    }

    /// "As of SQLite version 3.30.0, if there is no index with the specified name but there is a WITHOUT ROWID table
    /// with that name", this PRAGMA describes "the PRIMARY KEY columns of the WITHOUT ROWID table as they are used in
    /// the records of the underlying b-tree". https://www.sqlite.org/pragma.html#pragma_index_xinfo
    private mutating func indexColumns(
        _ index: String, _ columns: [Column], _ root: Int, _ isRead: Bool
    ) throws(SQLiteError) -> [ProgramValue] {
        let statement = try connection.prepareInternal("PRAGMA index_xinfo(\(SQLQuoting.literal(index)))")
        var result: [ProgramValue] = []
        while try statement.step() == .row {
            // -1 is the rowid, -2 an expression.
            let number = Int(statement.integer(1))
            if number == -1 {
                result.append(.integer)
            } else {
                if number == -2 { expressions[root, default: []].insert(result.count) }
                result.append(columns.indices.contains(number) ? columns[number].value : .unknown)
            }
        }
        guard readsExpressions, isRead, let calculated = expressions[root] else { return result }
        let values = try IndexExpressions.values(index, on: connection)
        for number in calculated where values.indices.contains(number) { result[number] = values[number] }
        return result
    }

    private func text(_ statement: Statement, _ column: Int) -> String {
        String(decoding: statement.text(column), as: UTF8.self)
    }

    /// A column holds what it was declared for in all likelihood, and anything for certain.
    private static func value(_ declared: String) -> ProgramValue { ProgramValue(declared: DeclaredType(declared)?.own) }
}
