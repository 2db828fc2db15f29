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
        /// Another view or virtual table may come, whose columns its text does not tell.
        var mayHaveOwnColumns = false
        /// The one that was made last.
        var newest: String?
        /// Views may get columns: nil: none do; otherwise see `SchemaSize`.
        var table: Table?
    }

    enum Table { case ofItsText, ofAnother }

    /// nil where there is nothing to look at: without a limit, and for what makes nothing.
    func schemaBefore(_ query: Query) throws(WireError) -> SchemaBefore? {
        let isAlter = query.head.main == .alter
        guard isAlter || query.head.main == .create, let limit = server.configuration.memory.schemaBytes else { return nil }
        let writer = pool.writer
        let isVirtual = makesTable(query, with: "virtual")
        // FTS4's may be another one's index. No other table has a SELECT.
        let hasOthersColumns = isVirtual || makesTable(query, with: "select") || makesTable(query, with: "without", "unique")
        let textBytes = isAlter || hasOthersColumns ? nil : query.text.bytes.count
        var before = SchemaBefore()
        before.bytes = writer.schemaSize.bytesBefore(textBytes: textBytes, limitBytes: limit) { writer.connection.schemaBytes }
        if isVirtual || query.head.creates("CREATE VIEW") {
            before.mayHaveOwnColumns = true
            before.newest =
                try atColumns(query, SessionLimits.viewColumnsMilliseconds) { () throws(SQLiteError) in
                    try writer.connection.newestWithOwnColumns()
                } ?? nil
        } else if isAlter || query.head.creates("CREATE TABLE") {
            before.table = makesTable(query, with: "select") ? .ofAnother : .ofItsText
        }
        return before
    }

    private func makesTable(_ query: Query, with words: StaticString...) -> Bool {
        query.head.creates("CREATE TABLE") && words.allSatisfy { SQLWord.stands($0, in: query.text.bytes) }
    }

    /// The definition has run, and goes back if it made the schema too large. In a database that has been so before it may do anything else.
    func requireRoom(forSchemaOf query: Query, _ before: SchemaBefore) throws(WireError) {
        guard let limit = server.configuration.memory.schemaBytes else { return }
        // Before somebody looks at columns, for SQLite keeps those then.
        if let bytesBefore = before.bytes, case let bytes = pool.writer.connection.schemaBytes,
            bytes > limit + pool.writer.schemaSize.columnBytes, bytes > bytesBefore
        {
            throw schemaTooLarge(limit)
        }
        if before.mayHaveOwnColumns, try hasTooManyColumns(query, before, limit) { throw schemaTooLarge(limit) }
        if let table = before.table, try haveTooManyColumns(query, table, limit) { throw schemaTooLarge(limit) }
    }

    private func schemaTooLarge(_ limit: Int) -> WireError {
        // It has run to its end, and counts no changes.
        if writerMode == .group { member.leftovers = .possible }
        return WireError(
            state: .programLimitExceeded, message: "the schema would be too large",
            detail: "It may take \(limit) bytes of memory, an eighth of statement_memory_limit_bytes, in each connection.",
            hint: "Views, triggers, CHECK constraints and defaults count with all they consist of.")
    }

    /// SQLite finds a view's columns when somebody asks, and keeps them: `CREATE VIEW v AS SELECT * FROM t` may have two thousand. Who has
    /// just made it asks, for a moment; one that takes longer counts as many. A view of what is not there has none yet.
    private func hasTooManyColumns(_ query: Query, _ before: SchemaBefore, _ limit: Int) throws(WireError) -> Bool {
        let writer = pool.writer
        let connection = writer.connection
        let own = try atColumns(query, SessionLimits.viewColumnsMilliseconds) { () throws(SQLiteError) -> Int? in
            guard let made = try connection.newestWithOwnColumns(), made != before.newest else { return nil }
            do throws(SQLiteError) { return try connection.columnBytes(of: made) } catch {
                guard !writer.wasStopped(by: error), !error.isOfCircumstances else { throw error }
                return 0
            }
        }
        // Nothing was made.
        if case .some(.none) = own { return false }
        return try writer.schemaSize.isFull(
            withColumnBytes: (own ?? nil) ?? SessionLimits.slowViewColumnBytes, limitBytes: limit
        ) { () throws(WireError) in try columnsOfAll(query, limit) }
    }

    /// Views of the table that was made or altered, be they older than it.
    private func haveTooManyColumns(_ query: Query, _ table: Table, _ limit: Int) throws(WireError) -> Bool {
        let writer = pool.writer
        let views = try atColumns(query, SessionLimits.viewColumnsMilliseconds) { () throws(SQLiteError) in
            try writer.connection.viewCount()
        }
        let text = (bytes: query.text.bytes.count, columns: query.text.bytes.count { $0 == UInt8(ascii: ",") } + 1)
        return try writer.schemaSize.isFull(
            withViews: views ?? 1, ofTable: views != nil && table == .ofItsText ? text : nil, limitBytes: limit
        ) { () throws(WireError) in try columnsOfAll(query, limit) }
    }

    private func columnsOfAll(_ query: Query, _ limit: Int) throws(WireError) -> Int? {
        let connection = pool.writer.connection
        return try atColumns(query, SessionLimits.allColumnsMilliseconds) { () throws(SQLiteError) in
            try connection.columnBytesOfAll(limitBytes: limit)
        }
    }

    /// nil: there was no time for it.
    private func atColumns<Result>(
        _ query: Query, _ milliseconds: Int64, _ work: () throws(SQLiteError) -> Result
    ) throws(WireError) -> Result? {
        let writer = pool.writer
        let patience = BriefPatience(milliseconds: milliseconds)
        writer.beginRun(patience)
        defer { withExtendedLifetime(patience) { writer.endRun() } }
        do { return try work() } catch {
            // An error of the disk may have ended the transaction.
            try requireOpenTransaction()
            if writer.wasStopped(by: error) { return nil }
            // Nothing of the definition stays.
            if writerMode == .group { member.leftovers = .possible }
            throw stepError(error, writer, query, hasParameters: false)
        }
    }
}
