import PostgresWire
import SQLite

/// What the statements of one session that stand in the middle of their rows may take together.
extension Session {
    /// Before another statement is begun beside one that stands in the middle of its rows. Beyond the limit of all memory
    /// each may still take a share, and a session that may have a thousand of them at a time must not have it for each.
    func requireMemoryForAnotherRun() throws(WireError) {
        guard SQLiteLibrary.isBeyondLimit else { return }
        throw WireError(
            state: .outOfMemory, message: "out of memory",
            detail: "The statements of all sessions together take more than sqlite_memory_limit_bytes.",
            hint: "Close cursors and portals that are not needed any more.")
    }
}
