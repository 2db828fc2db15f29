import CSQLite

/// What last_insert_rowid(), changes() and total_changes() mean to the session whose statement runs now.
///
/// SQLite keeps these three per connection, and here sessions share connections. So the functions are replaced: they
/// answer from the session's own values, except while that session's writing statement runs, when triggers must see
/// what SQLite itself counts.
public final class ChangeCounters {
    /// A session's own values, as they stood after its last writing statement.
    public struct Values: Equatable, Sendable {
        /// `sqlite3_last_insert_rowid`; 0: the session has inserted nothing.
        public var lastInsertRowID: Int64 = 0
        /// `sqlite3_changes64`: rows of its last INSERT, UPDATE or DELETE, without those of triggers and foreign keys.
        public var changes: Int64 = 0
        /// The same for a command tag, which counts what INSTEAD OF triggers have done.
        public var rows: Int64 = 0
        /// `sqlite3_total_changes64`: rows of all its statements, with those of triggers and foreign keys.
        public var totalChanges: Int64 = 0
        /// Of a session that has written nothing.
        public init() {}
    }

    /// Those of the session whose statement runs.
    public var values = Values()
    /// What `sqlite3_total_changes64` was when the running writing statement began; nil while none runs.
    var totalChangesAtStart: Int64?
    /// What `sqlite3_changes64` was then: another session's number.
    var changesAtStart: Int64 = 0
    let triggerRuns = TriggerRuns()

    func register(on connection: OpaquePointer) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        // INNOCUOUS, as the built-in ones are, so that they stay usable in triggers and views while trusted_schema is
        // off: https://www.sqlite.org/c3ref/c_deterministic.html#sqliteinnocuous
        let flags = SQLITE_UTF8 | SQLITE_INNOCUOUS
        sqlite3_create_function_v2(
            connection, "last_insert_rowid", 0, flags, context,
            { call, _, _ in sqlite3_result_int64(call, ChangeCounters.of(call).lastInsertRowID(call)) }, nil, nil, nil)
        // PHP's PDO asks by PostgreSQL's name for it. "An error is reported if nextval has not yet been called in the current session":
        // https://www.postgresql.org/docs/current/functions-sequence.html
        sqlite3_create_function_v2(
            connection, "lastval", 0, flags, context,
            { call, _, _ in
                let rowID = ChangeCounters.of(call).lastInsertRowID(call)
                if rowID != 0 { return sqlite3_result_int64(call, rowID) }
                sqlite3_result_error(call, "lastval is not yet defined in this session", -1)
            }, nil, nil, nil)
        sqlite3_create_function_v2(
            connection, "changes", 0, flags, context,
            { call, _, _ in
                let counters = ChangeCounters.of(call)
                let isOwn = counters.hasCounted(sqlite3_context_db_handle(call))
                sqlite3_result_int64(
                    call, isOwn ? sqlite3_changes64(sqlite3_context_db_handle(call)) : counters.values.changes)
            }, nil, nil, nil)
        sqlite3_create_function_v2(
            connection, "total_changes", 0, flags, context,
            { call, _, _ in
                let counters = ChangeCounters.of(call)
                var total = counters.values.totalChanges
                if let start = counters.totalChangesAtStart {
                    total += sqlite3_total_changes64(sqlite3_context_db_handle(call)) - start
                }
                sqlite3_result_int64(call, total)
            }, nil, nil, nil)
    }

    private func lastInsertRowID(_ call: OpaquePointer?) -> Int64 {
        totalChangesAtStart == nil ? values.lastInsertRowID : sqlite3_last_insert_rowid(sqlite3_context_db_handle(call))
    }

    /// Whether SQLite's changes() already is the running statement's own: one statement of a trigger has ended. Until
    /// then it is what the statement before left there, of whichever session.
    ///
    /// SQLite has no way to set it, so three cases remain wrong, all with a trigger. After the trigger's first statement, when that
    /// changed no row and neither did the last statement on the connection: the session's number before. In the trigger's first
    /// statement for the second row on of an outer one that changes several: SQLite sets changes() back when a trigger ends, and
    /// what it is set back to is another session's number. And the same in the outer statement's own expressions for the rows after one
    /// that fired a trigger.
    private func hasCounted(_ connection: OpaquePointer?) -> Bool {
        guard let totalChangesAtStart else { return false }
        return sqlite3_total_changes64(connection) != totalChangesAtStart || sqlite3_changes64(connection) != changesAtStart
    }

    /// The connection owns its counters and outlives every call, so the pointer it registered is good here.
    private static func of(_ call: OpaquePointer?) -> ChangeCounters {
        Unmanaged<ChangeCounters>.fromOpaque(sqlite3_user_data(call)).takeUnretainedValue()
    }
}

extension Connection {
    /// Call before a session's writing statement runs: from here on SQLite's own counters are the session's.
    @inline(__always)
    public func beginCountingChanges(for values: ChangeCounters.Values) {
        changeCounters.values = values
        changeCounters.totalChangesAtStart = totalChanges
        changeCounters.changesAtStart = changes
        lastInsertRowID = values.lastInsertRowID
        changeCounters.triggerRuns.begin(on: handle)
    }

    /// Call when that statement has ended, well or not; returns the session's new values.
    ///
    /// The total may have more: within a group's transaction a full-text index keeps its terms until the next savepoint, and that may be in
    /// the first step of another session's statement, which then counts what the index writes.
    ///
    /// - Parameter countsRows: the statement was an INSERT, UPDATE or DELETE, the only ones to set changes().
    @inline(__always)
    public func endCountingChanges(countsRows: Bool) -> ChangeCounters.Values {
        var values = changeCounters.values
        values.lastInsertRowID = lastInsertRowID
        let counted = totalChanges - (changeCounters.totalChangesAtStart ?? totalChanges)
        values.totalChanges += counted
        // Of a statement that failed before its first step, because a value could not be bound, SQLite's number is another session's.
        // Whatever a statement counts is in the total, too (sqlite3VdbeSetChanges in https://www.sqlite.org/src/file?name=src/vdbeaux.c).
        if countsRows {
            values.changes = counted == 0 ? 0 : changes
            let mayBeOfView = values.changes == 0 && changeCounters.triggerRuns.count > 0
            values.rows = mayBeOfView ? changeCounters.triggerRuns.rowsOfView(on: self) : values.changes
        }
        changeCounters.values = values
        changeCounters.totalChangesAtStart = nil
        return values
    }
}
