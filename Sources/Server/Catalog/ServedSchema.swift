import SQLite

/// The served file's tables, views, indexes and triggers, as SQLite tells of them.
struct ServedSchema {
    struct Column {
        var name: String
        var declared: String
        var isNotNull: Bool
        var defaultText: String?
        var keyPosition: Int
        var isGenerated: Bool
    }

    struct IndexColumn {
        /// nil for an expression.
        var name: String?
        var isDescending: Bool
    }

    struct Index {
        var name: String
        var isUnique: Bool
        /// c: CREATE INDEX, u: UNIQUE, pk: PRIMARY KEY
        var origin: String
        var columns: [IndexColumn]
        var sql: String?
    }

    struct ForeignKey {
        var table: String
        var from: [String]
        var to: [String?]
        var onUpdate: String
        var onDelete: String
    }

    struct Table {
        var name: String
        var isView: Bool
        var sql: String
        var columns: [Column] = [], indexes: [Index] = [], foreignKeys: [ForeignKey] = []
        var hasRowid = true
    }

    struct Trigger {
        var name: String
        var table: String
        var sql: String
    }

    var tables: [Table] = []
    var triggers: [Trigger] = []

    /// An empty one.
    init() {}

    /// Reads it in the transaction that the connection is in. A view that SQLite cannot make sense of has no columns.
    init(_ connection: Connection) throws(SQLiteError) {
        let kinds = try Self.rows(
            connection, "SELECT name, type, wr FROM pragma_table_list WHERE schema = 'main'", [])
        let shadows = Set(kinds.filter { $0[1] == "shadow" }.map { ExactName($0[0] ?? "") })
        let withoutRowid = Set(kinds.filter { $0[2] == "1" }.map { ExactName($0[0] ?? "") })
        let objects = try Self.rows(
            connection,
            """
            SELECT type, name, tbl_name, sql FROM sqlite_schema
            WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type, name
            """, [])
        let indexTexts = Dictionary(
            objects.filter { $0[0] == "index" }.map { (ExactName($0[1] ?? ""), $0[3] ?? "") }, uniquingKeysWith: { first, _ in first })
        for object in objects {
            guard let type = object[0], let name = object[1], let sql = object[3], !shadows.contains(ExactName(name)) else { continue }
            switch type {
            case "table", "view":
                var table = Table(name: name, isView: type == "view", sql: sql)
                do { table.columns = try Self.columns(connection, name) } catch let error where !error.isOfCircumstances {}
                table.hasRowid = !withoutRowid.contains(ExactName(name))
                if type == "table" {
                    table.indexes = try Self.indexes(connection, name, indexTexts)
                    table.foreignKeys = try Self.foreignKeys(connection, name)
                }
                tables.append(table)
            case "trigger": triggers.append(Trigger(name: name, table: object[2] ?? "", sql: sql))
            default: break
            }
        }
    }

    private static func columns(_ connection: Connection, _ table: String) throws(SQLiteError) -> [Column] {
        // hidden: 1 is a virtual table's hidden column, 2 and 3 are generated ones.
        try rows(
            connection, "SELECT name, type, \"notnull\", dflt_value, pk, hidden FROM pragma_table_xinfo(?1)", [table]
        ).filter { $0[5] != "1" }.map {
            Column(
                name: $0[0] ?? "", declared: $0[1] ?? "", isNotNull: $0[2] == "1", defaultText: $0[3],
                keyPosition: Int($0[4] ?? "") ?? 0, isGenerated: $0[5] == "2" || $0[5] == "3")
        }
    }

    private static func indexes(
        _ connection: Connection, _ table: String, _ texts: [ExactName: String]
    ) throws(SQLiteError) -> [Index] {
        var indexes: [Index] = []
        for row in try rows(connection, "SELECT name, \"unique\", origin FROM pragma_index_list(?1) ORDER BY seq DESC", [table]) {
            let name = row[0] ?? ""
            let columns = try rows(
                connection, "SELECT name, \"desc\" FROM pragma_index_xinfo(?1) WHERE key ORDER BY seqno", [name])
            indexes.append(
                Index(
                    name: name, isUnique: row[1] == "1", origin: row[2] ?? "c",
                    columns: columns.map { IndexColumn(name: $0[0], isDescending: $0[1] == "1") }, sql: texts[ExactName(name)]))
        }
        return indexes
    }

    private static func foreignKeys(_ connection: Connection, _ table: String) throws(SQLiteError) -> [ForeignKey] {
        var keys: [ForeignKey] = []
        // The last declared comes first.
        let rows = try rows(
            connection,
            """
            SELECT id, "table", "from", "to", on_update, on_delete FROM pragma_foreign_key_list(?1) ORDER BY id DESC, seq
            """, [table])
        var last: String?
        for row in rows {
            if row[0] != last {
                keys.append(
                    ForeignKey(table: row[1] ?? "", from: [], to: [], onUpdate: row[4] ?? "", onDelete: row[5] ?? ""))
            }
            last = row[0]
            keys[keys.count - 1].from.append(row[2] ?? "")
            keys[keys.count - 1].to.append(row[3])
        }
        return keys
    }

    static func rows(_ connection: Connection, _ sql: StaticString, _ parameters: [String]) throws(SQLiteError) -> [[String?]] {
        let statement = try connection.prepareInternal(sql)
        for (index, parameter) in parameters.enumerated() { try statement.bindText(copying: parameter, at: index + 1) }
        var rows: [[String?]] = []
        while try statement.step() == .row {
            rows.append(
                (0..<statement.columnCount).map {
                    statement.storageClass($0) == .null ? nil : String(decoding: statement.text($0), as: UTF8.self)
                })
        }
        return rows
    }
}
