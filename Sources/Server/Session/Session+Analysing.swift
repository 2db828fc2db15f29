import Pool
import PostgresWire
import SQLite

/// What is known of a statement, in the schema that it will meet.
extension Session {
    /// A statement's text with what is known of it.
    func parsedQuery(_ sql: UnsafeRawBufferPointer) throws(WireError) -> Query {
        try requireLength(of: sql.count)
        turn.add(bytes: sql.count)
        return try isConsole ? Query(console: sql) : server.registry.query(sql, state.settings.likeEscape)
    }

    /// SQLite's limit, looked at before anybody reads a text that may be as long as a message.
    func requireLength(of bytes: Int) throws(WireError) {
        let limit = server.configuration.connection.sqlLengthLimitBytes
        guard bytes <= limit else { throw Self.statementTooLong("\(bytes)", limit) }
    }

    static func statementTooLong(_ bytes: String, _ limit: Int) -> WireError {
        WireError(
            state: .programLimitExceeded, message: "statement too long",
            detail: "It has \(bytes) bytes; sql_length_limit_bytes is \(limit).",
            hint: "Values that are parameters, or that come by COPY, are not part of its text.")
    }

    /// What is known of a query in the schema that the session sees; nil: it has to wait for a connection.
    ///
    /// - Parameter isDeep: types are needed before there are values and rows; see `Analysis.Depth`.
    func analysis(of query: Query, isDeep: Bool = true, _ wait: inout Wait?) throws(WireError) -> Analysis? {
        if case .catalog = query.kind {
            throw refusedCatalog(query, "cursors and PREPARE are not available for catalogs")
        }
        guard query.head.main != .vacuum else {
            throw Self.vacuumRefused(query)
        }
        if let found = known(query, in: visibleSchema, isDeep) {
            // Another session was faster while this one waited.
            if readerIsOnlyToPrepare { releaseReader() }
            return found
        }
        if writerMode == .none {
            wait = try acquireReader(onlyToPrepare: true)
            guard wait == nil else { return nil }
        }
        defer { if readerIsOnlyToPrepare { releaseReader() } }
        if readerIsOnlyToPrepare { reader?.announceSchema() }
        return try analysis(of: query, isDeep, on: writerMode == .none ? reader! : pool.writer)
    }

    /// What it is wanted for is to be had elsewhere. INTO can be nothing but the keyword in it.
    private static func vacuumRefused(_ query: Query) -> WireError {
        var lexer = SQLLexer(query.text.bytes)
        var isCopy = false
        while let token = lexer.next() { isCopy = isCopy || token.matches("into") }
        return WireError(
            state: .insufficientPrivilege, message: "\(isCopy ? "VACUUM INTO" : "VACUUM") is not available to clients",
            hint: isCopy
                ? "BACKUP TO 'name' in the console (database \"walpool\") makes a copy in backup_directory; it is an administrator's."
                : "It would keep every other writer waiting. The daemon does it by itself, and at once when an administrator asks in the "
                    + "console (database \"walpool\"): VACUUM.")
    }

    /// The one that a statement would run in now, as far as that is known before it has a connection.
    private var visibleSchema: SchemaVersion {
        writerMode != .none ? pool.writer.schemaVersion : reader?.schemaVersion ?? pool.schema.version
    }

    private func known(_ query: Query, in schema: SchemaVersion, _ isDeep: Bool) -> Analysis? {
        if let shared = query.analysis, shared.schemaVersion == schema, shared.isDeep || !isDeep { return shared }
        guard let ownAnalyses, ownAnalyses.schema == schema, let own = ownAnalyses[query], own.isDeep || !isDeep
        else { return nil }
        return own
    }

    private func analysis(of query: Query, _ isDeep: Bool, on connection: PooledConnection) throws(WireError) -> Analysis {
        if let found = known(query, in: connection.schemaVersion, isDeep) { return found }
        let lease: PreparedLease
        do { lease = try connection.statementAfresh(for: query.text, self) } catch {
            throw preparationError(error, query, connection)
        }
        defer { connection.giveBack(lease) }
        return try analysis(of: lease, query, isDeep || CompoundSelect.mayBe(query.text.bytes), on: connection)
    }

    /// Looks at a prepared statement, and keeps what it finds. For its types it is prepared once more, so this may take long.
    private func analysis(
        of lease: PreparedLease, _ query: Query, _ isDeep: Bool, on connection: PooledConnection
    ) throws(WireError) -> Analysis {
        connection.beginRun(self)
        defer { connection.endRun() }
        _ = SQLiteLibrary.takeRefusal()
        _ = connection.connection.takeFailure()
        func analysis(_ depth: Analysis.Depth?) throws(WireError) -> Analysis {
            try Analysis(lease.statement, of: query, schemaVersion: connection.schemaVersion, depth: depth)
        }
        var found = try analysis(isDeep ? depth(connection) : nil)
        if !found.isDeep, found.mayHoldBooleans { found = try analysis(depth(connection)) }
        // An analysis that was stopped is not whole, and would be shared with all sessions.
        if let reason = connection.stopReason { throw stopError(reason) }
        if SQLiteLibrary.takeRefusal() { throw ErrorTranslation.wireError(SQLiteError.outOfMemory) }
        // And so would one be that could not read the schema. On the writer the transaction may be no more.
        if let failure = connection.connection.takeFailure() { throw preparationError(failure, query, connection) }
        if found.schemaVersion == pool.schema.version {
            query.analysis = found
            server.registry.wasAnalysed(query)
        } else {
            own(connection.schemaVersion).keep(found, of: query)
        }
        return found
    }

    private func own(_ schema: SchemaVersion) -> OwnAnalyses {
        if let ownAnalyses, ownAnalyses.schema == schema { return ownAnalyses }
        let fresh = OwnAnalyses(schema)
        ownAnalyses = fresh
        return fresh
    }

    private func depth(_ connection: PooledConnection) -> Analysis.Depth? {
        guard let oids = try? catalogOIDs(connection) else { return nil }
        return Analysis.Depth(connection: connection.connection, oids: oids)
    }

    /// The tables' OIDs, found once for each schema.
    private func catalogOIDs(_ connection: PooledConnection) throws(SQLiteError) -> CatalogOIDs {
        let schema = connection.schemaVersion
        if let known = server.oidsOfSchema.withLock({ $0 }), known.schema == schema { return known.oids }
        if let ownAnalyses, ownAnalyses.schema == schema, let known = ownAnalyses.oids { return known }
        let oids = try CatalogOIDs(on: connection.connection)
        if schema == pool.schema.version {
            server.oidsOfSchema.withLock { $0 = (schema, oids) }
        } else {
            own(schema).oids = oids
        }
        return oids
    }

    // MARK: A statement that was prepared in another schema

    /// What its parameters and its computed columns are may be something else in the schema it meets now: it is looked up before
    /// anything is bound. Columns that are as they are declared can wait until the first step (see `verifyColumns`).
    func renewAnalysis(of portal: Portal, on connection: PooledConnection) throws(WireError) {
        guard let stale = portal.statement.analysis, !stale.slots.isEmpty || stale.hasComputedTypes else { return }
        let fresh = try analysis(of: portal.query, stale.isDeep, on: connection)
        try portal.statement.adopt(fresh, isDescribed: portal.isDescribed)
        if fresh.keptBytes > stale.keptBytes { try requireRoom(forGrown: portal.statement) }
    }

    /// Before it is told what a statement's columns and parameters are: what is known of it may be of a transaction that was rolled
    /// back since, and the client would keep to that.
    func renewAnalysis(of statement: PreparedStatement) throws(WireError) -> Wait? {
        guard case .sqlite = statement.prepared.kind, let stale = statement.analysis,
            stale.schemaVersion != visibleSchema || readerIsOnlyToPrepare
        else { return nil }
        // It is prepared again, and may have to wait for that: as Parse it can be cancelled, and has its time.
        try beginStatement()
        var wait: Wait?
        guard let fresh = try analysis(of: statement.prepared, isDeep: stale.isDeep, &wait) else { return wait }
        finishStatement()
        try statement.adopt(fresh, isDescribed: false)
        if fresh.keptBytes > stale.keptBytes { try requireRoom(forGrown: statement) }
        return nil
    }

    /// The schema has changed, or this connection sees the statement for the first time: what the client was told of
    /// the columns must still be so.
    func verifyColumns(of portal: Portal, _ lease: PreparedLease, on connection: PooledConnection) throws(WireError) {
        guard let analysis = portal.analysis else { return }
        if analysis.hasSameColumns(as: lease.statement) {
            lease.markVerified(for: analysis)
            return
        }
        let fresh = try self.analysis(of: lease, portal.query, analysis.isDeep, on: connection)
        guard !portal.isDescribed, !portal.statement.areColumnsTold else { throw PreparedStatement.stale() }
        portal.take(fresh)
        if fresh.keptBytes > analysis.keptBytes { try requireRoom(forGrown: portal.statement) }
    }
}
