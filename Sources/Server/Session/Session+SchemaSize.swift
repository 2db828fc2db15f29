import Pool
import PostgresWire
import SQLite

/// Every connection keeps the whole schema in memory, and what reads it first is the statement of whoever comes first: a schema larger than
/// `statement_memory_limit_bytes` would be the end of all statements, the DROP that makes it smaller among them. A mebibyte of text may take
/// a hundred.
extension Session {
    /// A definition has run, and goes back if it made the schema too large.
    func requireRoom(forSchemaOf connection: PooledConnection, _ query: Query) throws(WireError) {
        let limit = server.configuration.memory.schemaBytes
        guard query.head.main != .drop, let limit, connection.connection.schemaBytes > limit else { return }
        // It has run to its end, and counts no changes.
        if writerMode == .group { member.leftovers = .possible }
        throw WireError(
            state: .programLimitExceeded, message: "the schema would be too large",
            detail: "It may take \(limit) bytes of memory, an eighth of statement_memory_limit_bytes, in each connection.",
            hint: "Views, triggers, CHECK constraints and defaults count with all they consist of.")
    }
}
