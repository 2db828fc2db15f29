import CSQLite

/// The three places where SQLite calls the daemon, as closures that whoever has the connection checked out reads.
public final class Callbacks {
    /// The daemon's own SQL is being prepared or run: the authorizer lets everything pass.
    public var isInternal = false
    /// Why the authorizer refused the statement that was just prepared; the caller takes it and sets nil.
    public var denial: Authorizer.Denial?
    /// Called about every `progressOperations` virtual machine steps of a statement; true stops it with
    /// SQLITE_INTERRUPT. https://www.sqlite.org/c3ref/progress_handler.html
    public var onProgress: (() -> Bool)?
    /// Called when another process holds the lock; true tries again, false gives SQLITE_BUSY.
    /// https://www.sqlite.org/c3ref/busy_handler.html
    public var onBusy: ((_ attempt: Int) -> Bool)?
    /// Whose statement runs now, for the functions that a session asks about itself.
    public var sessionFacts: (() -> SessionFacts?)?

    /// Rare enough to cost nothing (a point SELECT never gets there), often enough to stop a statement within
    /// fractions of a millisecond: a thousand steps take about 10 to 80 microseconds.
    public static let progressOperations: Int32 = 1000

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
                if callbacks.isInternal { return SQLITE_OK }
                guard let denial = Authorizer.denial(action: action, first: first, second: second, schema: schema)
                else { return SQLITE_OK }
                callbacks.denial = denial
                return SQLITE_DENY
            }, context)
    }
}
