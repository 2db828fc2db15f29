import CSQLite

/// A prepared statement. It belongs to one connection and is used by whoever has that connection checked out.
///
/// Source: https://www.sqlite.org/c3ref/stmt.html
public final class Statement {
    @usableFromInline let handle: OpaquePointer
    /// `sqlite3_stmt_readonly`: "if and only if the prepared statement makes no direct changes to the content of the
    /// database file". https://www.sqlite.org/c3ref/stmt_readonly.html
    public let isReadOnly: Bool
    /// 0 for a plain statement, 1 for EXPLAIN, 2 for EXPLAIN QUERY PLAN.
    public let explain: Int
    /// The largest number of a parameter: those are ?NNN, or counted from 1.
    public let parameterCount: Int
    /// The table that it dropped when it was prepared; nil also of one that did not exist then (IF EXISTS).
    public let droppedTable: String?
    /// Set for a statement of the daemon's own. SQLite prepares a statement anew inside `step` when something expired it
    /// (a schema change rolled back, ANALYZE, VACUUM), and asks the authorizer again then.
    @usableFromInline let internalCallbacks: Callbacks?
    /// Points to what counts the pages that the connection's memory map could not read, which no statement outlives; nil when
    /// it has none.
    @usableFromInline let unreadablePages: UnsafePointer<UInt32>?

    init(
        handle: OpaquePointer, internalCallbacks: Callbacks?, unreadablePages: UnsafePointer<UInt32>?, droppedTable: String? = nil
    ) {
        self.handle = handle
        self.droppedTable = droppedTable
        self.unreadablePages = unreadablePages
        self.internalCallbacks = internalCallbacks
        isReadOnly = sqlite3_stmt_readonly(handle) != 0
        explain = Int(sqlite3_stmt_isexplain(handle))
        parameterCount = Int(sqlite3_bind_parameter_count(handle))
    }

    private var isFinalized = false

    deinit { finalize() }

    /// Ends it, and the connection lets go of it. Nothing else may be called from here on.
    ///
    /// Called by whoever has the connection, before they let go of that: the last reference may be somebody's who has not got it any more
    /// when this one is destroyed, and SQLite would work in a connection that is another thread's by then.
    public func finalize() {
        guard !isFinalized else { return }
        isFinalized = true
        sqlite3_finalize(handle)
    }

    /// What a step has come to: a row, whose columns can be read, or the end.
    public enum Step { case row, done }

    /// Runs to the next row or to the end. May re-prepare the statement when the schema has changed.
    @inlinable
    public func step() throws(SQLiteError) -> Step {
        let code = internalCallbacks == nil ? sqlite3_step(handle) : stepInternally()
        // Also for the row before, which was looked at since.
        if let unreadablePages, unreadablePages.pointee != 0 { throw .unreadablePage }
        if code == SQLITE_ROW { return .row }
        if code == SQLITE_DONE { return .done }
        throw failure(code)
    }

    @usableFromInline @inline(never)
    func stepInternally() -> Int32 {
        let wasInternal = internalCallbacks?.isInternal ?? false
        internalCallbacks?.isInternal = true
        defer { internalCallbacks?.isInternal = wasInternal }
        return sqlite3_step(handle)
    }

    @usableFromInline @inline(never)
    func failure(_ code: Int32) -> SQLiteError {
        let error = SQLiteError(connection: sqlite3_db_handle(handle), code: code)
        return internalCallbacks?.noting(error) ?? error
    }

    /// Of one that writes: passes over the rows that it has left. "All of the database modifications are made during the first
    /// sqlite3_step() call, prior to the first output being generated" (https://www.sqlite.org/lang_returning.html), but not what virtual
    /// tables do when it ends. FTS5 writes what it has gathered then, which a connection that is defensive refuses outside of a step
    /// ("table f_data may not be modified"), and with that SQLite rolls back the whole transaction.
    public func stepToEnd() { while sqlite3_stmt_busy(handle) != 0, sqlite3_step(handle) == SQLITE_ROW {} }

    /// Ends the run: what it read is released. The error of a failed step was reported by that step already.
    @inlinable public func reset() { sqlite3_reset(handle) }

    /// Forgets every bound value, so that no pointer into a client's message outlives its run.
    @inlinable public func clearBindings() { sqlite3_clear_bindings(handle) }

    /// True between the first `step` and `done` or `reset`.
    @inlinable public var isRunning: Bool { sqlite3_stmt_busy(handle) != 0 }

    /// How often SQLite has prepared the statement again, which it does when the schema has changed.
    /// https://www.sqlite.org/c3ref/c_stmtstatus_counter.html#sqlitestmtstatusreprepare
    @inlinable public var preparations: Int32 { sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_REPREPARE, 0) }

    /// The longest value that its connection allows.
    public var lengthLimit: Int { Int(sqlite3_limit(sqlite3_db_handle(handle), SQLITE_LIMIT_LENGTH, -1)) }

    // MARK: Parameters. Indexes start at 1.

    /// As written, with its first character; nil for a plain `?`, and for what is no parameter.
    /// https://www.sqlite.org/c3ref/bind_parameter_name.html
    public func parameterName(_ index: Int) -> String? {
        sqlite3_bind_parameter_name(handle, Int32(index)).map { String(cString: $0) }
    }

    @inlinable
    func check(_ code: Int32) throws(SQLiteError) { if code != SQLITE_OK { throw failure(code) } }

    /// Binds NULL. This and the others fail with SQLITE_MISUSE while the statement runs, with SQLITE_RANGE for an index that is none, and
    /// those for text and blobs with SQLITE_TOOBIG. https://www.sqlite.org/c3ref/bind_blob.html
    @inlinable public func bindNull(_ index: Int) throws(SQLiteError) {
        try check(sqlite3_bind_null(handle, Int32(index)))
    }
    /// Binds an integer.
    @inlinable public func bind(_ value: Int64, at index: Int) throws(SQLiteError) {
        try check(sqlite3_bind_int64(handle, Int32(index), value))
    }
    /// Binds a real number; NaN becomes NULL.
    @inlinable public func bind(_ value: Double, at index: Int) throws(SQLiteError) {
        try check(sqlite3_bind_double(handle, Int32(index), value))
    }
    /// Binds text without copying it: the bytes must stay in place until `clearBindings`.
    @inlinable public func bindText(inPlace bytes: UnsafeRawBufferPointer, at index: Int) throws(SQLiteError) {
        // A null pointer would bind NULL, and an empty buffer may well have one; any address does for no bytes.
        let base = bytes.baseAddress ?? UnsafeRawPointer(handle)
        try check(walpool_bind_text_static(handle, Int32(index), base, bytes.count))
    }
    /// Binds a blob without copying it: the bytes must stay in place until `clearBindings`.
    @inlinable public func bindBlob(inPlace bytes: UnsafeRawBufferPointer, at index: Int) throws(SQLiteError) {
        let base = bytes.baseAddress ?? UnsafeRawPointer(handle)
        try check(walpool_bind_blob_static(handle, Int32(index), base, bytes.count))
    }
    /// Binds a copy of the text, which must be UTF-8.
    public func bindText(copying bytes: UnsafeRawBufferPointer, at index: Int) throws(SQLiteError) {
        let base = bytes.baseAddress ?? UnsafeRawPointer(handle)
        try check(walpool_bind_text_copy(handle, Int32(index), base, bytes.count))
    }
    /// The same of a string.
    public func bindText(copying text: String, at index: Int) throws(SQLiteError) {
        try text.withBytes { bytes throws(SQLiteError) in try bindText(copying: bytes, at: index) }
    }
    /// Binds a copy of the blob.
    public func bindBlob(copying bytes: UnsafeRawBufferPointer, at index: Int) throws(SQLiteError) {
        let base = bytes.baseAddress ?? UnsafeRawPointer(handle)
        try check(walpool_bind_blob_copy(handle, Int32(index), base, bytes.count))
    }

    // MARK: Columns. Indexes start at 0.

    /// Of a row; 0 for a statement that returns none.
    @inlinable public var columnCount: Int { Int(sqlite3_column_count(handle)) }

    /// What AS says; without it SQLite makes no promise. https://www.sqlite.org/c3ref/column_name.html
    public func columnName(_ column: Int) -> String {
        sqlite3_column_name(handle, Int32(column)).map { String(cString: $0) } ?? ""
    }
    /// The type a table's column was declared with; nil for an expression.
    public func columnDeclaredType(_ column: Int) -> String? {
        sqlite3_column_decltype(handle, Int32(column)).map { String(cString: $0) }
    }
    /// The table whose column it is, also behind views and aliases; nil for an expression.
    /// https://www.sqlite.org/c3ref/column_database_name.html
    public func columnTableName(_ column: Int) -> String? {
        sqlite3_column_table_name(handle, Int32(column)).map { String(cString: $0) }
    }
    /// That column's own name in its table; nil for an expression.
    public func columnOriginName(_ column: Int) -> String? {
        sqlite3_column_origin_name(handle, Int32(column)).map { String(cString: $0) }
    }

    /// SQLITE_INTEGER, SQLITE_FLOAT, SQLITE_TEXT, SQLITE_BLOB or SQLITE_NULL; call it before any conversion.
    @inlinable public func storageClass(_ column: Int) -> StorageClass {
        StorageClass(rawValue: sqlite3_column_type(handle, Int32(column))) ?? .null
    }
    /// The value, converted as CAST does if it is of another storage class. https://www.sqlite.org/c3ref/column_blob.html
    @inlinable public func integer(_ column: Int) -> Int64 { sqlite3_column_int64(handle, Int32(column)) }
    /// The same as a real number.
    @inlinable public func double(_ column: Int) -> Double { sqlite3_column_double(handle, Int32(column)) }
    /// The bytes of a text value, valid until the next step or reset.
    @inlinable public func text(_ column: Int) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_text(handle, Int32(column))
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, Int32(column))))
    }
    /// The bytes of a blob value, valid until the next step or reset.
    @inlinable public func blob(_ column: Int) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(handle, Int32(column))
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, Int32(column))))
    }
}

/// How SQLite stores one value. https://www.sqlite.org/datatype3.html#storage_classes_and_datatypes
public enum StorageClass: Int32, Sendable {
    case integer = 1
    case real = 2
    case text = 3
    case blob = 4
    case null = 5
}
