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
        /// nil: no view or virtual table gets columns by it.
        var gives: Gives?

        /// To whom a definition may give columns.
        enum Gives {
            /// To a view or a virtual table that is made, and to views that wait for it. `newest` is the one that was made last.
            case toItself(newest: String?)
            /// To views that wait for a table.
            case asTable
            /// To views of a table.
            case asAltered
        }
    }

    /// nil where there is nothing to look at: without a limit, and for what makes nothing.
    func schemaBefore(_ query: Query) throws(WireError) -> SchemaBefore? {
        guard let limit = server.configuration.memory.schemaBytes else { return nil }
        let writer = pool.writer
        let isAlter = query.head.main == .alter
        guard isAlter || query.head.main == .create else {
            if query.head.main == .drop { writer.schemaSize.loses() }
            return nil
        }
        let isVirtual = makesTable(query, with: "virtual")
        // FTS4's may be another one's index. No other table has a SELECT.
        let hasOthersColumns = isVirtual || makesTable(query, with: "select") || makesTable(query, with: "without", "unique")
        let textBytes = isAlter || hasOthersColumns ? nil : query.text.bytes.count
        var before = SchemaBefore()
        before.bytes = writer.schemaSize.bytesBefore(textBytes: textBytes, limitBytes: limit) { writer.connection.schemaBytes }
        if isVirtual || query.head.creates("CREATE VIEW") {
            let newest = try atColumns(query, SessionLimits.viewColumnsMilliseconds) { () throws(SQLiteError) in
                try writer.connection.newestWithOwnColumns()
            }
            before.gives = .toItself(newest: newest ?? nil)
        } else if isAlter {
            before.gives = .asAltered
        } else if query.head.creates("CREATE TABLE") {
            before.gives = .asTable
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
        guard let gives = before.gives, let columns = try columns(of: query, gives) else { return }
        let isFull = try pool.writer.schemaSize.isFull(with: columns, limitBytes: limit) { () throws(WireError) in
            let connection = pool.writer.connection
            return try atColumns(query, SessionLimits.allColumnsMilliseconds, orWithoutMemory: true) { () throws(SQLiteError) in
                let (bytes, waitingViews) = try connection.columnBytesOfAll(limitBytes: limit)
                return SchemaSize.Count(bytes: bytes, waitingViews: waitingViews)
            }
        }
        if isFull { throw schemaTooLarge(limit) }
    }

    private func schemaTooLarge(_ limit: Int) -> WireError {
        // It has run to its end, and counts no changes.
        if writerMode == .group { member.leftovers = .possible }
        return WireError(
            state: .programLimitExceeded, message: "the schema would be too large",
            detail: "It may take \(limit) bytes of memory, an eighth of statement_memory_limit_bytes, in each connection.",
            hint: "Views, triggers, CHECK constraints and defaults count with all they consist of.")
    }

    /// What it may have given; nil: nothing was made.
    private func columns(of query: Query, _ gives: SchemaBefore.Gives) throws(WireError) -> SchemaSize.Columns? {
        switch gives {
        case .toItself(let newest): try columnsOfNewest(query, before: newest)
        case .asTable: .table
        case .asAltered: .altered
        }
    }

    /// SQLite finds a view's columns when somebody asks, and keeps them: `CREATE VIEW v AS SELECT * FROM t` may have two thousand. Who has
    /// just made it asks, for a moment; one that takes longer counts as many. A view of what is not there has none yet.
    private func columnsOfNewest(_ query: Query, before newest: String?) throws(WireError) -> SchemaSize.Columns? {
        let writer = pool.writer
        let connection = writer.connection
        let found = try atColumns(query, SessionLimits.viewColumnsMilliseconds) { () throws(SQLiteError) -> SchemaSize.Columns? in
            guard let made = try connection.newestWithOwnColumns(), made != newest else { return nil }
            do throws(SQLiteError) { return .made(bytes: try connection.columnBytes(of: made)) } catch {
                guard !writer.wasStopped(by: error), !error.isOfCircumstances else { throw error }
                return .made(bytes: nil)
            }
        }
        return found ?? SchemaSize.Columns.made(bytes: SessionLimits.slowViewColumnBytes)
    }

    /// nil: there was no time for it, or no memory where that may be.
    private func atColumns<Result>(
        _ query: Query, _ milliseconds: Int64, orWithoutMemory: Bool = false, _ work: () throws(SQLiteError) -> Result
    ) throws(WireError) -> Result? {
        let writer = pool.writer
        let patience = BriefPatience(milliseconds: milliseconds)
        writer.beginRun(patience)
        defer { withExtendedLifetime(patience) { writer.endRun() } }
        do { return try work() } catch {
            // An error of the disk may have ended the transaction.
            try requireOpenTransaction()
            if writer.wasStopped(by: error) || (orWithoutMemory && error.code == SQLiteError.outOfMemory.code) { return nil }
            // Nothing of the definition stays.
            if writerMode == .group { member.leftovers = .possible }
            throw stepError(error, writer, query, hasParameters: false)
        }
    }
}
