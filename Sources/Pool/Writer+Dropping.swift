import SQLite

/// What dropping a table would do to other tables.
///
/// "If foreign key constraints are enabled, a DROP TABLE command performs an implicit DELETE FROM command before removing the table
/// from the database schema. … an implicit DELETE FROM does cause any configured foreign key actions to take place"
/// (https://www.sqlite.org/lang_droptable.html).
extension Writer {
    /// A table with rows that would be deleted or changed.
    package struct Dependent: Equatable, Sendable {
        /// Its name, as the schema has it.
        package let table: String
        /// CASCADE, SET NULL or SET DEFAULT.
        package let action: String
    }

    /// A foreign key of another table.
    private struct Reference {
        let dependent: Dependent
        let id: Int64
        /// In the other table, and in the one that it references; nil where that has no primary key of so many columns.
        var columns: [(from: String, to: String?)] = []
    }

    /// Those among the other tables that dropping this one would change, up to `limit` of them. What is found holds for as long
    /// as the transaction lasts that asks.
    package func dependents(ofTable table: String, limit: Int) throws(SQLiteError) -> [Dependent] {
        guard try connection.firstText("PRAGMA foreign_keys") == "1" else { return [] }
        var found: [Dependent] = []
        for dropped in [table] + (try shadowTables(of: table)) {
            for reference in try references(toTable: dropped) where found.count < limit && !found.contains(reference.dependent) {
                if try isUsed(reference, toTable: dropped) { found.append(reference.dependent) }
            }
        }
        return found
    }

    /// The tables that a virtual table keeps its contents in, which are named after it
    /// (https://www.sqlite.org/vtab.html#xshadowname). Its module drops them with it, by statements of its own.
    private func shadowTables(of table: String) throws(SQLiteError) -> [String] {
        let list = try connection.prepareInternal(
            """
            SELECT shadow.name FROM sqlite_schema AS dropped
                CROSS JOIN sqlite_schema AS shadow CROSS JOIN pragma_table_list(shadow.name) AS list
            WHERE dropped.type = 'table' AND dropped.rootpage = 0 AND dropped.name = ?1 COLLATE NOCASE
                AND shadow.type = 'table' AND substr(shadow.name, 1, length(?1) + 1) COLLATE NOCASE = ?1 || '_'
                AND list.schema = 'main' AND list.type = 'shadow'
            """)
        defer { list.reset() }
        try list.bindText(copying: table, at: 1)
        var names: [String] = []
        while try list.step() == .row { names.append(String(decoding: list.text(0), as: UTF8.self)) }
        return names
    }

    private func references(toTable table: String) throws(SQLiteError) -> [Reference] {
        let list = try connection.prepareInternal(
            """
            SELECT child.name, key.on_delete, key.id, key."from",
                coalesce(key."to", (SELECT c.name FROM pragma_table_info(?1) AS c WHERE c.pk = key.seq + 1))
            FROM sqlite_schema AS child, pragma_foreign_key_list(child.name) AS key
            WHERE child.type = 'table' AND child.name <> ?1 COLLATE NOCASE AND key."table" = ?1 COLLATE NOCASE
                AND key.on_delete IN ('CASCADE', 'SET NULL', 'SET DEFAULT')
            ORDER BY child.name, key.id, key.seq
            """)
        defer { list.reset() }
        try list.bindText(copying: table, at: 1)
        var references: [Reference] = []
        while try list.step() == .row {
            let text = { (column: Int) in String(decoding: list.text(column), as: UTF8.self) }
            let next = Reference(dependent: Dependent(table: text(0), action: text(1)), id: list.integer(2))
            if references.last?.dependent != next.dependent || references.last?.id != next.id { references.append(next) }
            references[references.count - 1].columns.append((text(3), list.storageClass(4) == .null ? nil : text(4)))
        }
        return references
    }

    /// Whether any row of the one table references one of the other: the comparison is the one of the foreign key's action, the
    /// referenced column first, whose affinity and collation count (`fkActionTrigger` in https://www.sqlite.org/src/file/src/fkey.c).
    private func isUsed(_ reference: Reference, toTable table: String) throws(SQLiteError) -> Bool {
        var comparisons: [String] = []
        for (from, to) in reference.columns {
            // There is no such key ("foreign key mismatch"), so nothing happens to these rows.
            guard let to else { return false }
            comparisons.append("parent.\(SQLQuoting.identifier(to)) = child.\(SQLQuoting.identifier(from))")
        }
        let sql = """
            SELECT 1 FROM main.\(SQLQuoting.identifier(table)) AS parent, main.\(SQLQuoting.identifier(reference.dependent.table)) AS child
            WHERE \(comparisons.joined(separator: " AND ")) LIMIT 1
            """
        let statement: Statement
        do { statement = try connection.prepareInternal(sql) } catch let error where error.message.hasPrefix("no such column") {
            // A mismatch, too.
            return false
        }
        defer { statement.reset() }
        return try statement.step() == .row
    }
}
