/// Columns that SQLite fills by itself.
extension CatalogContents {
    /// The column that is a name for the rowid, if one is: "a column with declared type INTEGER" that is all of the primary key. It is
    /// none when its key is an index of its own, as for `INTEGER PRIMARY KEY DESC`. https://www.sqlite.org/lang_createtable.html#rowid
    static func rowidColumn(of table: ServedSchema.Table) -> ServedSchema.Column? {
        let key = table.columns.filter { $0.keyPosition > 0 }
        guard key.count == 1, table.hasRowid, key[0].declared.uppercased() == "INTEGER",
            !table.indexes.contains(where: { $0.origin == "pk" })
        else { return nil }
        return key[0]
    }

    /// PostgreSQL's name for the sequence behind an identity column, unless a table or an index has it.
    func sequenceName(_ table: String, _ column: String) -> String {
        let name = "\(table)_\(column)_seq"
        var found = name
        var number = 0
        while relationOIDs[ExactName(found)] != nil {
            number += 1
            found = name + String(number)
        }
        return found
    }
}
