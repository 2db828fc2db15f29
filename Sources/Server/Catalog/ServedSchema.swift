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
        let kinds = try connection.prepareInternal("SELECT name, type, wr FROM pragma_table_list WHERE schema = 'main'").textRows()
        let shadows = Set(kinds.filter { $0[1] == "shadow" }.map { ExactName($0[0] ?? "") })
        let withoutRowid = Set(kinds.filter { $0[2] == "1" }.map { ExactName($0[0] ?? "") })
        let objects = try connection.prepareInternal(
            """
            SELECT type, name, tbl_name, sql FROM sqlite_schema
            WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type, name
            """
        ).textRows()
        let questions = try TableQuestions(connection)
        let indexTexts = Dictionary(
            objects.filter { $0[0] == "index" }.map { (ExactName($0[1] ?? ""), $0[3] ?? "") }, uniquingKeysWith: { first, _ in first })
        for object in objects {
            guard let type = object[0], let name = object[1], let sql = object[3], !shadows.contains(ExactName(name)) else { continue }
            switch type {
            case "table", "view":
                var table = Table(name: name, isView: type == "view", sql: sql)
                do { table.columns = try questions.columns(of: name) } catch let error where !error.isOfCircumstances {}
                table.hasRowid = !withoutRowid.contains(ExactName(name))
                if type == "table" {
                    table.indexes = try questions.indexes(of: name, indexTexts)
                    table.foreignKeys = try questions.foreignKeys(of: name)
                }
                tables.append(table)
            case "trigger": triggers.append(Trigger(name: name, table: object[2] ?? "", sql: sql))
            default: break
            }
        }
    }
}
