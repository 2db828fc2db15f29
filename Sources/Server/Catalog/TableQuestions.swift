import SQLite

/// What SQLite is asked about each table, compiled once for all of them: there may be thousands.
struct TableQuestions {
    private let columns, indexes, indexColumns, foreignKeys: Statement

    init(_ connection: Connection) throws(SQLiteError) {
        // hidden: 1 is a virtual table's hidden column, 2 and 3 are generated ones.
        columns = try connection.prepareInternal(
            "SELECT name, type, \"notnull\", dflt_value, pk, hidden FROM pragma_table_xinfo(?1)")
        indexes = try connection.prepareInternal(
            "SELECT name, \"unique\", origin FROM pragma_index_list(?1) ORDER BY seq DESC")
        indexColumns = try connection.prepareInternal(
            "SELECT name, \"desc\" FROM pragma_index_xinfo(?1) WHERE key ORDER BY seqno")
        // The last declared comes first.
        foreignKeys = try connection.prepareInternal(
            """
            SELECT id, "table", "from", "to", on_update, on_delete FROM pragma_foreign_key_list(?1) ORDER BY id DESC, seq
            """)
    }

    func columns(of table: String) throws(SQLiteError) -> [ServedSchema.Column] {
        try columns.textRows(table).filter { $0[5] != "1" }.map {
            ServedSchema.Column(
                name: $0[0] ?? "", declared: $0[1] ?? "", isNotNull: $0[2] == "1", defaultText: $0[3],
                keyPosition: Int($0[4] ?? "") ?? 0, isGenerated: $0[5] == "2" || $0[5] == "3")
        }
    }

    /// - Parameter texts: the definitions of those that have one.
    func indexes(of table: String, _ texts: [ExactName: String]) throws(SQLiteError) -> [ServedSchema.Index] {
        var found: [ServedSchema.Index] = []
        for row in try indexes.textRows(table) {
            let name = row[0] ?? ""
            found.append(
                ServedSchema.Index(
                    name: name, isUnique: row[1] == "1", origin: row[2] ?? "c",
                    columns: try indexColumns.textRows(name).map { .init(name: $0[0], isDescending: $0[1] == "1") },
                    sql: texts[ExactName(name)]))
        }
        return found
    }

    func foreignKeys(of table: String) throws(SQLiteError) -> [ServedSchema.ForeignKey] {
        var keys: [ServedSchema.ForeignKey] = []
        var last: String?
        for row in try foreignKeys.textRows(table) {
            if row[0] != last {
                keys.append(
                    ServedSchema.ForeignKey(table: row[1] ?? "", from: [], to: [], onUpdate: row[4] ?? "", onDelete: row[5] ?? ""))
            }
            last = row[0]
            keys[keys.count - 1].from.append(row[2] ?? "")
            keys[keys.count - 1].to.append(row[3])
        }
        return keys
    }
}

extension Statement {
    /// All rows, for a parameter if there is one. What failed may be asked again, as what ended.
    func textRows(_ parameter: String? = nil) throws(SQLiteError) -> [[String?]] {
        defer { reset() }
        if let parameter { try bindText(copying: parameter, at: 1) }
        var rows: [[String?]] = []
        while try step() == .row {
            rows.append(
                (0..<columnCount).map { storageClass($0) == .null ? nil : String(decoding: text($0), as: UTF8.self) })
        }
        return rows
    }
}
