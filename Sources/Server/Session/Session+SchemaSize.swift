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
        let textBytes = isAlter || hasColumnsOfOthers(query) ? nil : query.text.bytes.count
        return writer.schemaSize.bytesBefore(textBytes: textBytes, limitBytes: limit) { writer.connection.schemaBytes }
    }

    /// `CREATE TABLE … AS SELECT`, and a virtual table: FTS4's may be another one's index. No other has a SELECT.
    private func hasColumnsOfOthers(_ query: Query) -> Bool {
        guard query.head.creates("CREATE TABLE") else { return false }
        return SQLWord.stands("select", in: query.text.bytes) || SQLWord.stands("virtual", in: query.text.bytes)
    }

    /// The definition has run, and goes back if it made the schema too large. In a database that has been so before it may do anything else.
    ///
    /// - Parameter bytesBefore: what `schemaBytes(before:)` has said.
    func requireRoom(forSchemaOf query: Query, bytesBefore: Int?) throws(WireError) {
        guard let limit = server.configuration.memory.schemaBytes else { return }
        let writer = pool.writer
        // IF NOT EXISTS, and it does.
        if let bytesBefore, writer.connection.schemaBytes <= bytesBefore { return }
        if query.head.creates("CREATE VIEW") {
            let columnBytes = try bytesOfNewViewsColumns(query)
            let bytes = writer.schemaSize.bytesWith(columnBytes: columnBytes, limitBytes: limit) { writer.connection.schemaBytes }
            guard let bytes, bytes > limit else { return }
        } else {
            guard bytesBefore != nil, writer.connection.schemaBytes > limit else { return }
        }
        // It has run to its end, and counts no changes.
        if writerMode == .group { member.leftovers = .possible }
        throw WireError(
            state: .programLimitExceeded, message: "the schema would be too large",
            detail: "It may take \(limit) bytes of memory, an eighth of statement_memory_limit_bytes, in each connection.",
            hint: "Views, triggers, CHECK constraints and defaults count with all they consist of.")
    }

    /// SQLite finds them when somebody asks, and keeps them: `CREATE VIEW v AS SELECT * FROM t` may have two thousand. Who has just made it
    /// asks. A view of what is not there has none yet.
    private func bytesOfNewViewsColumns(_ query: Query) throws(WireError) -> Int {
        let writer = pool.writer
        writer.beginRun(self)
        defer { writer.endRun() }
        do throws(SQLiteError) {
            return try writer.connection.bytesOfNewestViewsColumns()
        } catch  where error.isOfCircumstances || writer.wasStopped(by: error) {
            if writerMode == .group { member.leftovers = .possible }
            throw stepError(error, writer, query, hasParameters: false)
        } catch {
            return 0
        }
    }
}
