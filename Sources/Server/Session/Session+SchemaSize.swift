import Pool
import PostgresWire
import SQLite

/// Every connection keeps the whole schema in memory, and what reads it first is the statement of whoever comes first: a schema larger than
/// `statement_memory_limit_bytes` would be the end of all statements, the DROP that makes it smaller among them. A mebibyte of text may take
/// a hundred.
extension Session {
    /// What is known before a definition, to tell what it has made.
    struct SchemaBefore {
        /// What the schema takes; nil: the definition cannot make it too large.
        var bytes: Int?
        /// The view that was made last, where another may come whose columns its text does not tell.
        var newestView: String?
        var mayMakeView = false
    }

    /// nil where there is nothing to look at: without a limit, and for what makes nothing.
    func schemaBefore(_ query: Query) throws(WireError) -> SchemaBefore? {
        let isAlter = query.head.main == .alter
        guard isAlter || query.head.main == .create, let limit = server.configuration.memory.schemaBytes else { return nil }
        let writer = pool.writer
        let textBytes = isAlter || hasColumnsOfOthers(query) ? nil : query.text.bytes.count
        var before = SchemaBefore()
        before.bytes = writer.schemaSize.bytesBefore(textBytes: textBytes, limitBytes: limit) { writer.connection.schemaBytes }
        if query.head.creates("CREATE VIEW"), query.text.bytes.contains(UInt8(ascii: "*")) {
            before.mayMakeView = true
            before.newestView = try newestView(query)
        }
        return before
    }

    /// `CREATE TABLE … AS SELECT`, and a virtual table: FTS4's may be another one's index. No other has a SELECT.
    private func hasColumnsOfOthers(_ query: Query) -> Bool {
        guard query.head.creates("CREATE TABLE") else { return false }
        return SQLWord.stands("select", in: query.text.bytes) || SQLWord.stands("virtual", in: query.text.bytes)
    }

    /// The definition has run, and goes back if it made the schema too large. In a database that has been so before it may do anything else.
    func requireRoom(forSchemaOf query: Query, _ before: SchemaBefore) throws(WireError) {
        guard let limit = server.configuration.memory.schemaBytes else { return }
        let writer = pool.writer
        if before.mayMakeView, let view = try newestView(query), view != before.newestView {
            let columnBytes = try columnBytes(ofView: view, query)
            let bytes = writer.schemaSize.bytesWith(columnBytes: columnBytes ?? limit, limitBytes: limit) { writer.connection.schemaBytes }
            guard let bytes, bytes > limit else { return }
        } else {
            guard let bytesBefore = before.bytes, case let bytes = writer.connection.schemaBytes, bytes > limit, bytes > bytesBefore else {
                return
            }
        }
        // It has run to its end, and counts no changes.
        if writerMode == .group { member.leftovers = .possible }
        throw WireError(
            state: .programLimitExceeded, message: "the schema would be too large",
            detail: "It may take \(limit) bytes of memory, an eighth of statement_memory_limit_bytes, in each connection.",
            hint: "Views, triggers, CHECK constraints and defaults count with all they consist of.")
    }

    private func newestView(_ query: Query) throws(WireError) -> String? {
        do { return try pool.writer.connection.newestView() } catch { throw failure(error, query) }
    }

    /// SQLite finds them when somebody asks, and keeps them: `CREATE VIEW v AS SELECT * FROM t` may have two thousand. Who has just made it
    /// asks, for a moment. A view of what is not there has none yet.
    ///
    /// - Returns: nil: it takes longer, and what has been found until then is to be measured.
    private func columnBytes(ofView view: String, _ query: Query) throws(WireError) -> Int? {
        let writer = pool.writer
        let patience = BriefPatience(milliseconds: SessionLimits.viewColumnsMilliseconds)
        writer.beginRun(patience)
        defer { withExtendedLifetime(patience) { writer.endRun() } }
        do throws(SQLiteError) {
            return try writer.connection.columnBytes(ofView: view)
        } catch {
            let isStopped = writer.wasStopped(by: error)
            guard isStopped || !error.isOfCircumstances else { throw failure(error, query) }
            try requireOpenTransaction()
            return isStopped ? nil : 0
        }
    }

    /// Nothing of the definition stays.
    private func failure(_ error: SQLiteError, _ query: Query) -> WireError {
        if writerMode == .group { member.leftovers = .possible }
        return stepError(error, pool.writer, query, hasParameters: false)
    }
}
