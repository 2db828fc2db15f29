import SQLite

/// The object ID of a table, view or index, from its name.
///
/// SQLite has no such numbers, and clients keep them: so they depend on the names alone and are the same after a
/// restart, a VACUUM or a restore. A pure function of all names, so whoever has the names can number the objects.
struct CatalogOIDs: Sendable {
    private let numbers: [ExactName: UInt32]

    /// - Parameter names: of all tables, views and indexes of sqlite_schema, in any order.
    init(names: some Sequence<String>) {
        numbers = CatalogOID.assign(Set(names.map { ExactName($0.foldedName.text) }))
    }

    /// The names are those of the schema as the connection sees it.
    init(on connection: Connection) throws(SQLiteError) {
        let statement = try connection.prepareInternal(
            "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view', 'index')" as StaticString)
        var names: [String] = []
        while try statement.step() == .row { names.append(String(decoding: statement.text(0), as: UTF8.self)) }
        self.init(names: names)
    }

    /// What is not in the schema has its number all the same, so that nothing depends on who asks first.
    subscript(_ name: String) -> UInt32 {
        let name = name.foldedName.text
        return numbers[ExactName(name)] ?? CatalogOID.hash(name)
    }
}

extension CatalogOIDs {
    /// Numbers the columns that are a table's: its OID, and the column's place in it from 1.
    func fill(_ columns: inout [Analysis.Column], of statement: Statement, on connection: Connection) {
        var places: [FoldedName: [FoldedName: Int16]] = [:]
        for index in columns.indices {
            guard let table = statement.columnTableName(index), let name = statement.columnOriginName(index)
            else { continue }
            let key = table.foldedName
            if places[key] == nil { places[key] = Self.places(table, connection) }
            columns[index].tableOID = self[table]
            columns[index].attributeNumber = places[key]?[name.foldedName] ?? 0
        }
    }

    private static func places(_ table: String, _ connection: Connection) -> [FoldedName: Int16] {
        var result: [FoldedName: Int16] = [:]
        // Without an answer the columns have no number, which the protocol allows.
        guard let statement = try? tableInformation(table, connection) else { return [:] }
        while (try? statement.step()) == .row {
            result[String(decoding: statement.text(1), as: UTF8.self).foldedName] = Int16(truncatingIfNeeded: statement.integer(0) + 1)
        }
        return result
    }

    private static func tableInformation(_ table: String, _ connection: Connection) throws(SQLiteError) -> Statement {
        try connection.prepareInternal("PRAGMA table_xinfo(\(SQLQuoting.literal(table)))")
    }

    /// The column that is a name for the rowid: "a table with a PRIMARY KEY of a single column of the declared type
    /// INTEGER". https://www.sqlite.org/lang_createtable.html#rowid
    static func rowidColumn(of table: String, on connection: Connection) -> String? {
        guard let statement = try? tableInformation(table, connection) else { return nil }
        var found: String?
        while (try? statement.step()) == .row {
            guard statement.integer(5) > 0 else { continue }
            guard found == nil, String(decoding: statement.text(2), as: UTF8.self).lowercased() == "integer" else { return nil }
            found = String(decoding: statement.text(1), as: UTF8.self)
        }
        return found
    }
}
