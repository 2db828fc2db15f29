import CSQLite

/// Statements that are prepared only to be read, without what CHECK constraints ask.
///
/// On a connection that cannot write SQLite leaves CHECK out of what it knows of a table (sqlite3AddCheckConstraint in
/// https://www.sqlite.org/src/file?name=src/build.c), and so out of the programs that EXPLAIN lists there.
extension Connection {
    /// As `prepareInternal`. What is prepared so must not write.
    public func prepareInternalWithoutChecks(_ sql: String) throws(SQLiteError) -> Statement {
        guard sqlite3_db_readonly(handle, "main") == 0, !hasLostChecks else { return try prepareInternal(sql) }
        _ = ignoreChecks(true)
        let prepared = Result { () throws(SQLiteError) -> Statement in try prepareInternal(sql) }
        // Also where that has failed: it may be the question that has.
        if !ignoreChecks(false) { hasLostChecks = true }
        guard !hasLostChecks else { throw .outOfMemory }
        return try prepared.get()
    }

    /// "Some pragmas run during the SQL compilation stage, not the execution stage" (https://www.sqlite.org/pragma.html), and this one
    /// does: as it is not run, no statement has to be prepared again. Without white space, behind which SQLite looks whether it is
    /// interrupted (sqlite3RunParser in https://www.sqlite.org/src/file?name=src/tokenize.c), and not by `prepare`, which asks whether
    /// to go on.
    ///
    /// - Returns: whether it is so now.
    private func ignoreChecks(_ isIgnoring: Bool) -> Bool {
        callbacks.isInternal = true
        defer { callbacks.isInternal = false }
        // Where there is no memory for it, there may be for the next.
        for _ in 0..<Self.attempts {
            sqlite3_finalize(prepared(isIgnoring ? "PRAGMA\"ignore_check_constraints\"=1" : "PRAGMA\"ignore_check_constraints\"=0"))
            let asked = prepared("PRAGMA\"ignore_check_constraints\"")
            defer { sqlite3_finalize(asked) }
            if sqlite3_step(asked) == SQLITE_ROW, (sqlite3_column_int(asked, 0) != 0) == isIgnoring { return true }
        }
        return false
    }

    private func prepared(_ sql: StaticString) -> OpaquePointer? {
        var statement: OpaquePointer?
        sql.withUTF8Buffer { text in
            text.withMemoryRebound(to: CChar.self) { text in
                _ = sqlite3_prepare_v2(handle, text.baseAddress, Int32(text.count), &statement, nil)
            }
        }
        return statement
    }

    private static let attempts = 3
}
