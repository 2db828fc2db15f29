import CSQLite

/// How large the schema is: in this connection's memory, and what views and virtual tables would take of it.
extension Connection {
    /// What the schema takes that is in memory. To find that out takes as long as to walk through it.
    /// https://www.sqlite.org/c3ref/c_dbstatus_options.html#sqlitedbstatusschemaused
    public var schemaBytes: Int { status(SQLITE_DBSTATUS_SCHEMA_USED, reset: false) }

    /// The name of the view or the virtual table that was made last.
    public func newestWithOwnColumns() throws(SQLiteError) -> String? {
        try firstText(Self.withOwnColumns)
    }

    /// Views and virtual tables, the newest first: "the sqlite_schema.rootpage … is 0 or NULL for views, triggers, and virtual tables"
    /// (https://www.sqlite.org/schematab.html).
    private static let withOwnColumns: StaticString =
        "SELECT name FROM sqlite_schema WHERE type = 'view' OR (type = 'table' AND coalesce(rootpage, 0) = 0) ORDER BY rowid DESC"

    /// What the columns take of all views and virtual tables, and how many of those cannot be used, as a view of what is not there:
    /// their columns are not counted, and they are waiting. None is asked once the limit is passed.
    public func columnBytesOfAll(limitBytes: Int) throws(SQLiteError) -> (bytes: Int, waiting: Int) {
        var names: [String] = []
        let found = try prepareInternal(Self.withOwnColumns)
        while try found.step() == .row { names.append(String(decoding: found.text(0), as: UTF8.self)) }
        var (bytes, waiting) = (0, 0)
        for name in names where bytes <= limitBytes {
            do { bytes += try columnBytes(of: name) } catch {
                if error.isInterrupt || error.isOfCircumstances || error.mayBeStoppedPreparation { throw error }
                waiting += 1
            }
        }
        return (bytes, waiting)
    }

    /// Of a column, beside its name and its declared type: its structure, of 24 bytes at most, and what malloc rounds up of three blocks.
    private static let bytesBesideColumnTexts = 64

    /// What the columns take that SQLite keeps of a view or a virtual table.
    public func columnBytes(of name: String) throws(SQLiteError) -> Int {
        let columns = try prepareInternal("PRAGMA main.table_xinfo(\(SQLQuoting.literal(name)))")
        var bytes = 0
        while try columns.step() == .row { bytes += columns.text(1).count + columns.text(2).count + Self.bytesBesideColumnTexts }
        return bytes
    }
}
