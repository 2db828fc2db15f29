import CSQLite

/// Lets SQLite's limits of memory count what an aggregate keeps in memory of Swift's: so many bytes of SQLite's own are taken beside it,
/// and never touched, so that they cost the process nothing.
public final class CountedMemory {
    private var reserved: UnsafeMutableRawPointer?
    private var bytes = 0
    /// Aggregates that keep less than this are not counted: a query has its groups one after the other, and a block of SQLite's for each
    /// small one would cost more than it guards.
    private static let leastBytes = 4_096

    /// Nothing is counted yet.
    public init() {}

    deinit { sqlite3_free(reserved) }

    /// Counts `wanted` bytes in all from now on. False, with the error set: the statement may not have so many.
    public func grow(to wanted: Int, _ call: FunctionCall) -> Bool {
        guard wanted > max(bytes, Self.leastBytes) else { return true }
        let next = wanted + wanted / 2
        guard let larger = sqlite3_realloc64(reserved, UInt64(next)) else {
            sqlite3_result_error_nomem(call.context)
            return false
        }
        (reserved, bytes) = (larger, next)
        return true
    }
}
