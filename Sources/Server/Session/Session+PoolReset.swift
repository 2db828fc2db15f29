import PostgresWire

/// What asyncpg's pool sends whenever a connection goes back to it, as one thing instead of four statements.
/// https://magicstack.github.io/asyncpg/current/api/index.html#asyncpg.connection.Connection.reset
extension Session {
    private static let poolReset: StaticString = """
        SELECT pg_advisory_unlock_all();
        CLOSE ALL;
        UNLISTEN *;
        RESET ALL;
        """

    /// Answers that text and says true. Not in a transaction, where it has more to heed.
    func answerPoolReset(_ sql: UnsafeRawBufferPointer) -> Bool {
        let known = UnsafeRawBufferPointer(start: Self.poolReset.utf8Start, count: Self.poolReset.utf8CodeUnitCount)
        guard sql.count == known.count, !isConsole, !state.transaction.isExplicit, writerMode == .none,
            sql.elementsEqual(known)
        else { return false }
        closePortals(but: .none)
        // Only savepoints could keep it from that, and there are none without a block.
        guard (try? resetAllSettings()) != nil else { return false }
        try? answer(
            ChatterQuery(question: .advisoryUnlockAll, column: "pg_advisory_unlock_all"), formats: [], describes: true)
        out.commandComplete("CLOSE CURSOR ALL")
        out.commandComplete("UNLISTEN")
        out.commandComplete("RESET")
        return true
    }
}
