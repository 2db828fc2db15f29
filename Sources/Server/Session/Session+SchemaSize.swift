import Pool
import PostgresWire
import SQLite

/// Every connection keeps the whole schema in memory, and what reads it first is the statement of whoever comes first: a schema larger than
/// `statement_memory_limit_bytes` would be the end of all statements, the DROP that makes it smaller among them. A mebibyte of text may take
/// a hundred.
extension Session {
    /// What the schema takes before a definition that might make it too large; nil for any other.
    func schemaBytes(before query: Query) -> Int? {
        let isAlter = query.head.main == .alter
        guard isAlter || query.head.main == .create, let limit = server.configuration.memory.schemaBytes else { return nil }
        let writer = pool.writer
        return writer.schemaSize.bytesBefore(textBytes: isAlter ? nil : query.text.bytes.count, limitBytes: limit) {
            writer.connection.schemaBytes
        }
    }

    /// The definition has run, and goes back if it made the schema too large. In a database that has been so before it may do anything else.
    func requireRoom(forSchemaOf query: Query, bytesBefore: Int) throws(WireError) {
        guard let limit = server.configuration.memory.schemaBytes else { return }
        let bytes = pool.writer.connection.schemaBytes
        guard bytes > limit, bytes > bytesBefore else { return }
        // It has run to its end, and counts no changes.
        if writerMode == .group { member.leftovers = .possible }
        throw WireError(
            state: .programLimitExceeded, message: "the schema would be too large",
            detail: "It may take \(limit) bytes of memory, an eighth of statement_memory_limit_bytes, in each connection.",
            hint: "Views, triggers, CHECK constraints and defaults count with all they consist of.")
    }
}
