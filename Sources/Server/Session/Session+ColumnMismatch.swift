import Pool
import PostgresWire
import SQLite

/// A value that is not of the type that was announced for its column.
extension Session {
    func mismatchError(_ mismatch: ColumnMismatch, _ statement: Statement?, _ portal: Portal) -> WireError {
        guard let columns = portal.analysis?.columns, columns.indices.contains(mismatch.column) else {
            return .rowDoesNotFit(lacksMemory: mismatch.hasLackedMemory)
        }
        let column = columns[mismatch.column]
        if portal.keepsAnnouncedTypes, column.type == .open, !portal.encoder.columns[mismatch.column].isDeclared {
            return PreparedStatement.stale(
                "Column \"\(column.name)\" was announced as \(mismatch.announced.sqlName) by an earlier row, "
                    + "and is a \(mismatch.found.name) value now.")
        }
        if mismatch.isOverflow, column.declared == nil {
            return WireError(
                state: .numericValueOutOfRange, message: "bigint out of range",
                detail: "Column \"\(column.name)\" was announced as bigint, and SQLite makes a real of what no integer can hold.",
                hint: "Calculate with $1::float8 or CAST(x AS REAL), or SET result_typing = text.")
        }
        let table = statement?.columnTableName(mismatch.column)
        let place = table.map { " of table \"\($0)\"" } ?? ""
        let row = statement.flatMap { rowid(of: table, $0, portal) }.map { "with rowid \($0)" } ?? "\(portal.rowsOfExecute + 1)"
        return WireError(
            state: .datatypeMismatch,
            message: "column \"\(column.name)\"\(place) holds a \(mismatch.found.name) value that is no "
                + "\(mismatch.announced.sqlName)",
            detail: "It was announced as \(mismatch.announced.sqlName), in row \(row).",
            hint: Self.hintForZone(mismatch) + "Select CAST(\(column.nameInSQLite ?? column.name) AS TEXT), or SET result_typing = text.",
            table: table, column: column.name)
    }

    static func hintForZone(_ mismatch: ColumnMismatch) -> String {
        guard mismatch.announced == .timestamp, mismatch.found == .text else { return "" }
        return "If it has a time zone, declare the column TIMESTAMP WITH TIME ZONE. "
    }

    /// The rowid of the current row in one of its tables, if the statement has selected that.
    func rowid(of table: String?, _ statement: Statement, _ portal: Portal) -> Int64? {
        guard let table, let connection = portal.run?.connection.connection,
            let key = CatalogOIDs.rowidColumn(of: table, on: connection),
            let column = (0..<statement.columnCount).first(where: {
                statement.columnTableName($0) == table && statement.columnOriginName($0) == key
            }), statement.storageClass(column) == .integer
        else { return nil }
        return statement.integer(column)
    }
}
