import Pool
import PostgresWire

/// A COPY FROM STDIN that a session is in the middle of.
///
/// It is never part of a group, whose members have arrived whole, so nothing of it has to be restored when a group runs
/// again.
final class CopyIn {
    /// COPY itself, for the log.
    let text: SQLText
    let insert: Query
    let table: CopyTable
    /// The one that the table was last looked up in.
    var schema: SchemaVersion
    let options: CopyOptions
    let decoder: CopyDecoder
    let rows: CopyRows
    /// Rows of a view count although SQLite counts none.
    var isView: Bool { table.isView }
    /// Rows that triggers did not turn away.
    var inserted: Int64 = 0
    /// Rows that are committed already.
    var committed: Int64 = 0
    /// BATCH: rows since the last commit, those turned away included.
    var rowsInBatch = 0
    /// How long it has been at work, without the times it waited for its client or the writer.
    var nanoseconds = 0

    init(_ table: CopyTable, in schema: SchemaVersion, _ options: CopyOptions, text: SQLText, insert: Query, typing: Typing) {
        (self.table, self.schema) = (table, schema)
        self.text = text
        self.insert = insert
        self.options = options
        decoder = CopyDecoder(
            table: table.name,
            columns: table.columns.map { CopyColumn(name: $0.name, declared: $0.declared, typing: typing) },
            options: options)
        rows = CopyRows()
    }

    /// How many rows may be decoded before some of them are inserted.
    private var rowLimit: Int { options.batchRows.map { $0 - rowsInBatch } ?? .max }

    func take(_ bytes: UnsafeRawBufferPointer) throws(WireError) {
        try rows.append(bytes)
        try decoder.decode(rows, limit: rowLimit, isLast: false)
    }

    /// Decodes more of what has arrived.
    func decode(isLast: Bool) throws(WireError) {
        try decoder.decode(rows, limit: rowLimit, isLast: isLast)
    }

    /// Whether it is time to insert what is decoded. Without the writer, only when no more is to be kept.
    func mustInsert(hasWriter: Bool) -> Bool {
        rows.rows > 0 && (hasWriter || rows.isFull || rows.rows >= rowLimit)
    }

    /// Adds to an error what of the COPY stays in spite of it.
    func explained(_ error: WireError) -> WireError {
        guard let batch = options.batchRows else { return error }
        var error = error
        let rest =
            error.state == .transactionResolutionUnknown
            ? "whether the \(rowsInBatch) behind them were is unknown, and nothing of the rows behind those stays."
            : "nothing of the rows behind them stays."
        let note = "COPY had committed \(committed) rows, in batches of \(batch); \(rest)"
        error.detail = error.detail.map { "\($0) \(note)" } ?? note
        return error
    }
}
