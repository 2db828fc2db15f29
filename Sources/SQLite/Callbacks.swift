import CHeap
import CSQLite

/// SQLite's progress handler, busy handler and authorizer: what each calls, which is set by the holder of the connection.
public final class Callbacks {
    /// The daemon's own SQL is being prepared or run: the authorizer lets everything pass.
    public var isInternal = false
    /// Why the authorizer refused the statement that was just prepared; the caller takes it and sets nil.
    public var denial: Authorizer.Denial?
    /// See `Connection.takeFailure`.
    var failure: SQLiteError?
    /// The table that the statement just prepared drops.
    var droppedTable: String?
    /// Called about every `progressOperations` virtual machine steps of a statement; true stops it with
    /// SQLITE_INTERRUPT. https://www.sqlite.org/c3ref/progress_handler.html
    ///
    /// Also called while a statement is prepared, see `beginPreparing`; then true stops it with SQLITE_NOMEM or SQLITE_AUTH.
    public var onProgress: (() -> Bool)?
    private var isPreparing = false
    /// Called when another process holds the lock; true tries again, false gives SQLITE_BUSY.
    /// https://www.sqlite.org/c3ref/busy_handler.html
    public var onBusy: ((_ attempt: Int) -> Bool)?
    /// Whose statement runs now, for the functions that a session asks about itself.
    public var sessionFacts: (() -> SessionFacts?)?

    func noting(_ error: SQLiteError) -> SQLiteError {
        if failure == nil, error.isOfCircumstances { failure = error }
        return error
    }

    /// Rare enough to cost nothing (a point SELECT never gets there), often enough to stop a statement within
    /// fractions of a millisecond: a thousand steps take about 10 to 80 microseconds.
    public static let progressOperations: Int32 = 1000

    /// To be called around sqlite3_prepare().
    ///
    /// A join of sixty tables is planned for a quarter of a second, and a common table expression may have it planned a hundred
    /// times. SQLite before 3.41 asks no progress handler meanwhile ("… might be invoked … during sqlite3_prepare()" came with
    /// that version, https://www.sqlite.org/c3ref/progress_handler.html), but it allocates all the time: so the allocator asks.
    @inline(__always)
    func beginPreparing() {
        _ = walpool_stack_was_short()
        droppedTable = nil
        guard onProgress != nil else { return }
        isPreparing = true
        walpool_heap_ask(
            { context in
                let callbacks = Unmanaged<Callbacks>.fromOpaque(context!).takeUnretainedValue()
                return callbacks.onProgress?() == true ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    @inline(__always)
    func endPreparing() {
        guard isPreparing else { return }
        isPreparing = false
        walpool_heap_ask(nil, nil)
    }

    /// SQLite prepares a statement again inside a step when the schema has changed. Nobody has called `beginPreparing` then, but
    /// the authorizer is asked for each SELECT: "SQLITE_SELECT" of https://www.sqlite.org/c3ref/c_alter_table.html
    private func stopsPreparingAgain(_ action: Int32) -> Bool {
        action == SQLITE_SELECT && !isPreparing && onProgress?() == true
    }

    func register(on connection: OpaquePointer) {
        // The connection owns this object and closes before it goes, so an unretained pointer is good.
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_progress_handler(
            connection, Self.progressOperations,
            { context in
                let callbacks = Unmanaged<Callbacks>.fromOpaque(context!).takeUnretainedValue()
                return callbacks.onProgress?() == true ? 1 : 0
            }, context)
        sqlite3_busy_handler(
            connection,
            { context, attempt in
                let callbacks = Unmanaged<Callbacks>.fromOpaque(context!).takeUnretainedValue()
                return callbacks.onBusy?(Int(attempt)) == true ? 1 : 0
            }, context)
        sqlite3_set_authorizer(
            connection,
            { context, action, first, second, schema, _ in
                let callbacks = Unmanaged<Callbacks>.fromOpaque(context!).takeUnretainedValue()
                if walpool_stack_is_short() != 0 || callbacks.stopsPreparingAgain(action) { return SQLITE_DENY }
                if callbacks.isInternal { return SQLITE_OK }
                guard let denial = Authorizer.denial(action: action, first: first, second: second, schema: schema)
                else {
                    if action == SQLITE_DROP_TABLE || action == SQLITE_DROP_VTABLE {
                        callbacks.droppedTable = first.map { String(cString: $0) }
                    }
                    return SQLITE_OK
                }
                callbacks.denial = denial
                return SQLITE_DENY
            }, context)
    }
}
