import Pool
import PostgresWire
import SQLite

/// Running a portal's statement: where, with what, and its rows.
extension Session {
    // MARK: Connections

    /// Sees to it that the session has a reader; nil when it has.
    @inline(__always)
    func acquireReader(onlyToPrepare: Bool = false) throws -> Wait? {
        if readerIsOnlyToPrepare && !onlyToPrepare { releaseReader() }
        if reader != nil { return nil }
        if readerIndex == nil {
            beginWait()
            // Before the request: once parked, the session may be another thread's.
            readerIsOnlyToPrepare = onlyToPrepare
            switch pool.requestReader(self, onlyToPrepare: onlyToPrepare, deadline: waitDeadline) {
            case .granted(let index): readerIndex = index
            case .parked: return .parked
            case .stopped(let reason): throw ErrorTranslation.wireError(reason)
            }
        }
        guard let index = readerIndex else { return nil }
        do { reader = try pool.reader(at: index) } catch {
            releaseReader()
            throw ErrorTranslation.wireError(error)
        }
        return nil
    }

    /// Gives the reader back unless a portal or a pinned snapshot needs it.
    @inline(__always)
    func releaseReaderIfUnused() {
        guard portalsOnReader == 0, readerIndex != nil,
            !(state.transaction.pinsSnapshot && writerMode == .none)
        else { return }
        releaseReader()
    }

    @inline(__always)
    func releaseReader() {
        guard let index = readerIndex else { return }
        reader = nil
        readerIndex = nil
        readerIsOnlyToPrepare = false
        if let next = pool.releaseReader(index) { enqueue(next) }
    }

    func enqueue(_ resumption: Resumption) {
        if let worker { worker.enqueue(resumption) } else { server.enqueue(resumption) }
    }

    // MARK: Preparing

    /// Sees to it that the query has been analysed; nil when it has.
    func analyse(_ query: Query) throws -> Wait? {
        let generation = server.schemaGeneration.load(ordering: .acquiring)
        guard query.head.main != .vacuum else {
            throw WireError(
                state: .insufficientPrivilege, message: "VACUUM is not available to clients",
                hint: "It would keep every other writer waiting; upkeep is the daemon's own.")
        }
        if query.analysis?.schemaGeneration != generation {
            if writerMode == .none, let wait = try acquireReader(onlyToPrepare: true) { return wait }
            try analyseNow(query, generation)
        } else if readerIsOnlyToPrepare {
            // Another session was faster while this one waited.
            releaseReader()
        }
        return nil
    }

    private func analyseNow(_ query: Query, _ generation: Int) throws {
        defer { if readerIsOnlyToPrepare { releaseReader() } }
        let connection: PooledConnection = writerMode == .none ? reader! : pool.writer
        let lease: PreparedLease
        do { lease = try connection.statementAfresh(for: query.text) } catch {
            throw preparationError(error, query, connection)
        }
        defer { connection.giveBack(lease) }
        query.analysis = try Analysis(
            lease.statement, head: query.head, sql: query.text.bytes, schemaGeneration: generation)
    }

    @inline(__always)
    private func prepare(_ query: Query, on connection: PooledConnection) throws(WireError) -> PreparedLease {
        do { return try connection.statement(for: query.text) } catch {
            throw preparationError(error, query, connection)
        }
    }

    private func preparationError(
        _ error: SQLiteError, _ query: Query, _ connection: PooledConnection
    ) -> WireError {
        var translated = ErrorTranslation.wireError(
            error, denial: connection.connection.callbacks.denial, sql: query.text.bytes)
        // Drivers ask PostgreSQL's catalogs for this and that, and cope with a table that is missing; some of their
        // questions SQLite cannot even parse.
        if translated.state != .insufficientPrivilege, translated.state != .undefinedFunction, CatalogNames.appear(in: query.text.bytes) {
            server.log.info(
                "catalog query", metadata: ["sql": "\(String(decoding: query.text.bytes, as: UTF8.self))"])
            translated.state = .undefinedTable
            translated.hint = "PostgreSQL's system catalogs are not served; sqlite_schema lists this database's tables."
        }
        return translated
    }

    // MARK: Starting

    /// Runs the portal's statement to its first row; nil when it stands there (or at its end).
    @inline(__always)
    func start(_ portal: Portal) throws -> Wait? {
        guard !portal.isRunning, !portal.isDone, let analysis = portal.statement.analysis else { return nil }
        if !analysis.isRead {
            if state.transaction.isReadOnly || (state.settings.defaultReadOnly && !state.transaction.isExplicit) {
                throw Self.readOnlyError(portal.query)
            }
            if let wait = try acquireWriter() { return wait }
        } else if writerMode == .none {
            if let wait = try acquireReader() { return wait }
        }
        let isOnWriter = writerMode != .none
        let connection: PooledConnection = isOnWriter ? pool.writer : reader!
        let lease: PreparedLease
        do { lease = try prepare(portal.query, on: connection) } catch {
            releaseReaderIfUnused()
            throw error
        }
        if analysis.isRead {
            connection.connection.changeCounters.values = state.counters
        } else {
            connection.connection.beginCountingChanges(for: state.counters)
        }
        portal.begin(
            Portal.Run(lease: lease, connection: connection, isOnWriter: isOnWriter, counts: !analysis.isRead))
        if !isOnWriter { portalsOnReader += 1 }
        do {
            for slot in analysis.slots { try bindParameter(slot, portal, analysis, lease.statement) }
        } catch let error as SQLiteError {
            throw ErrorTranslation.wireError(error)
        }
        portal.standOnRow(try nextRow(lease.statement, connection, portal.query))
        if !lease.isVerified(for: analysis) { try verifyColumns(of: portal, lease) }
        return nil
    }

    static func readOnlyError(_ query: Query) -> WireError {
        WireError(
            state: .readOnlySQLTransaction, message: "cannot execute \(query.head.tag) in a read-only transaction")
    }

    @inline(__always)
    private func bindParameter(
        _ slot: ParameterSlot, _ portal: Portal, _ analysis: Analysis, _ statement: Statement
    ) throws {
        let type = portal.statement.parameterTypes[slot.number - 1]
        if type == .unspecified || type == .numeric, analysis.wantsNumber[slot.number - 1] {
            let value = portal.parameters.value(slot.number)
            if value.format == .text, let bytes = value.bytes {
                return try ParameterBinder.bindNumber(bytes, slot, to: statement)
            }
            // Announced as numeric, so that is what a binary value is.
            return try ParameterBinder.bind(slot, type: .numeric, portal.parameters, to: statement)
        }
        try ParameterBinder.bind(slot, type: type, portal.parameters, to: statement)
    }

    /// Steps once, as this session's statement.
    @inline(__always)
    private func nextRow(
        _ statement: Statement, _ connection: PooledConnection, _ query: Query
    ) throws(WireError) -> Bool {
        connection.beginRun(self)
        defer { connection.endRun() }
        do { return try statement.step() == .row } catch {
            throw stepError(error, connection, query)
        }
    }

    func stepError(_ error: SQLiteError, _ connection: PooledConnection, _ query: Query) -> WireError {
        if let reason = connection.stopReason, error.isInterrupt || error.isBusy {
            return ErrorTranslation.wireError(reason)
        }
        // A statement is prepared again inside a step when the schema has changed, so refusals and positions occur
        // here as well.
        defer { connection.connection.callbacks.denial = nil }
        return ErrorTranslation.wireError(
            error, denial: connection.connection.callbacks.denial, sql: query.text.bytes)
    }

    /// The schema has changed, or this connection sees the statement for the first time: what the client was told of
    /// the columns must still be so.
    private func verifyColumns(of portal: Portal, _ lease: PreparedLease) throws(WireError) {
        guard let analysis = portal.statement.analysis else { return }
        if analysis.hasSameColumns(as: lease.statement) {
            lease.markVerified(for: analysis)
            return
        }
        let query = portal.query
        let fresh = try Analysis(
            lease.statement, head: query.head, sql: query.text.bytes,
            schemaGeneration: server.schemaGeneration.load(ordering: .acquiring))
        query.analysis = fresh
        guard !portal.isDescribed, !portal.statement.isDescribed else {
            var error = WireError(
                state: .featureNotSupported, message: "cached plan must not change result type",
                hint: "The table's definition has changed: prepare the statement again.")
            // By this asyncpg knows that preparing again will help.
            error.routine = "RevalidateCachedQuery"
            throw error
        }
        portal.statement.analysis = fresh
    }

    // MARK: Rows

    /// Runs the portal and says how it ended; nil when it has, or stopped at `maxRows`.
    @inline(__always)
    func runToEnd(_ portal: Portal, maxRows: Int, describes: Bool) throws -> Wait? {
        if let wait = try start(portal) { return wait }
        if describes { describeColumns(of: portal) } else { ensureEncoder(of: portal) }
        guard portal.isRunning else {
            complete(portal, changes: 0)
            return nil
        }
        switch try sendRows(of: portal, maxRows: maxRows) {
        case .limit:
            portal.rowsOfExecute = 0
            out.portalSuspended()
        case .full:
            return .output
        case .end:
            finish(portal)
            complete(portal, changes: state.counters.changes)
        }
        return nil
    }

    enum RowsEnd { case end, limit, full }

    @inline(__always)
    func sendRows(of portal: Portal, maxRows: Int) throws(WireError) -> RowsEnd {
        guard let run = portal.run else { return .end }
        let statement = run.lease.statement
        var hasRow = run.hasRow
        guard hasRow else { return .end }
        run.connection.beginRun(self)
        defer { run.connection.endRun() }
        while hasRow {
            if maxRows > 0 && portal.rowsOfExecute >= maxRows {
                portal.standOnRow(true)
                return .limit
            }
            do { try portal.encoder.encodeRow(statement, into: out) } catch {
                throw mismatchError(error, statement, portal)
            }
            portal.rowsOfExecute += 1
            do { hasRow = try statement.step() == .row } catch {
                throw stepError(error, run.connection, portal.query)
            }
            if out.count >= SessionLimits.flushBytes, try isFull(run) {
                portal.standOnRow(hasRow)
                return .full
            }
        }
        portal.standOnRow(false)
        return .end
    }

    /// Steps over rows without sending them; returns how many.
    func skipRows(of portal: Portal, maxRows: Int) throws(WireError) -> Int {
        guard let run = portal.run else { return 0 }
        var hasRow = run.hasRow
        var skipped = 0
        while hasRow, maxRows == 0 || skipped < maxRows {
            skipped += 1
            hasRow = try nextRow(run.lease.statement, run.connection, portal.query)
        }
        portal.standOnRow(hasRow)
        if !hasRow { finish(portal) }
        return skipped
    }

    /// Sends what there is; true when the client must take some of it before there is more. On the writer, which
    /// never waits for a client, results are kept instead, up to a limit.
    private func isFull(_ run: Portal.Run) throws(WireError) -> Bool {
        // What is in the buffer before a group's commit must not leave it.
        if writerMode != .group, !flush() {
            throw WireError(severity: .fatal, state: .connectionFailure, message: "the client is gone")
        }
        if let reason = reasonToStop(now: MonotonicClock.now) { throw ErrorTranslation.wireError(reason) }
        guard run.isOnWriter else { return out.count >= SessionLimits.flushBytes }
        guard out.count < SessionLimits.writerResultBytes else {
            throw WireError(
                state: .programLimitExceeded,
                message: "the result of a statement in a writing transaction is too large",
                detail: "It is kept until the client takes it, because nobody else can write meanwhile; the limit is "
                    + "\(SessionLimits.writerResultBytes) bytes.",
                hint: "Read it before the transaction's first write, or outside of it.")
        }
        return false
    }

    private func mismatchError(_ mismatch: ColumnMismatch, _ statement: Statement, _ portal: Portal) -> WireError {
        guard mismatch.column >= 0, let column = portal.statement.analysis?.columns[mismatch.column] else {
            return WireError(state: .programLimitExceeded, message: "a row is larger than 1 GB")
        }
        let table = statement.columnTableName(mismatch.column)
        let place = table.map { " of table \"\($0)\"" } ?? ""
        return WireError(
            state: .datatypeMismatch,
            message: "column \"\(column.name)\"\(place) holds a \(mismatch.found.name) value that is no "
                + "\(mismatch.announced.sqlName)",
            detail: "It was announced as \(mismatch.announced.sqlName), in row \(portal.rowsOfExecute + 1).",
            hint: "Select CAST(\(column.name) AS TEXT), or SET result_typing = text.",
            table: table, column: column.name)
    }

    /// Gives back what a running portal has.
    @inline(__always)
    func finish(_ portal: Portal) {
        let wasOnReader = endRun(of: portal)
        // Only now: a statement that is not kept is finalised when its run ends, and the connection must still be ours.
        if wasOnReader {
            portalsOnReader -= 1
            releaseReaderIfUnused()
        }
    }

    /// True: the statement ran on the session's reader.
    @inline(__always)
    private func endRun(of portal: Portal) -> Bool {
        guard let run = portal.finish() else { return false }
        run.connection.giveBack(run.lease)
        if portal.statement.analysis?.definesSchema == true { schemaDidChange() }
        if run.counts {
            state.counters = run.connection.connection.endCountingChanges(
                countsRows: portal.statement.analysis?.countsRows ?? false)
        }
        return !run.isOnWriter
    }

    /// Once for the transaction that made the change, and again when it has been committed.
    private func schemaDidChange() {
        hasChangedSchema = true
        server.schemaGeneration.wrappingAdd(1, ordering: .acquiringAndReleasing)
    }

    func announceCommittedSchema() {
        guard hasChangedSchema else { return }
        hasChangedSchema = false
        server.schemaGeneration.wrappingAdd(1, ordering: .acquiringAndReleasing)
    }

    // MARK: Describing and completing

    func makeEncoder(
        _ analysis: Analysis, _ format: (Int) -> Format, _ firstRow: ((Int) -> StorageClass)?
    ) -> RowEncoder {
        var encoder = Analysis.encoder(analysis.columns, formats: format, openTypes: firstRow)
        if state.settings.resultsAsText {
            encoder.isAllText = true
            for index in encoder.columns.indices {
                encoder.columns[index].type = .text
                encoder.columns[index].isOpen = false
            }
        }
        return encoder
    }

    @inline(__always)
    func ensureEncoder(of portal: Portal) {
        guard !portal.isDescribed, let analysis = portal.statement.analysis, !analysis.columns.isEmpty else { return }
        if portal.resultFormats.isEmpty, analysis.textDescription != nil, !state.settings.resultsAsText {
            portal.encoder = analysis.textEncoder
        } else if portal.statement.isDescribed {
            // Describe(statement) announced what is assumed without a row.
            portal.encoder = makeEncoder(analysis, portal.format, nil)
        } else {
            portal.encoder = makeEncoder(analysis, portal.format, firstRow(of: portal))
        }
        portal.isDescribed = true
    }

    /// Announces the columns, unless that was done for this run already.
    ///
    /// - Parameter again: the client asks, so it is told, however often.
    @inline(__always)
    func describeColumns(of portal: Portal, again: Bool = false) {
        guard again || !portal.isDescribed, let analysis = portal.statement.analysis, !analysis.columns.isEmpty
        else { return }
        if portal.resultFormats.isEmpty, let description = analysis.textDescription,
            !state.settings.resultsAsText
        {
            portal.encoder = analysis.textEncoder
            portal.isDescribed = true
            description.withUnsafeBytes { out.append($0) }
            return
        }
        if !portal.isDescribed { portal.encoder = makeEncoder(analysis, portal.format, firstRow(of: portal)) }
        portal.isDescribed = true
        var positions: [Int] = []
        out.rowDescription(Analysis.fields(analysis.columns, portal.encoder), oidPositions: &positions)
        for (index, position) in positions.enumerated() { portal.encoder.columns[index].typePosition = position }
    }

    func firstRow(of portal: Portal) -> ((Int) -> StorageClass)? {
        guard let run = portal.run, run.hasRow else { return nil }
        let statement = run.lease.statement
        return { statement.storageClass($0) }
    }

    /// "INSERT 0 n", "UPDATE n", "SELECT n": the tags are exact, because drivers read the counts.
    @inline(__always)
    private func complete(_ portal: Portal, changes: Int64) {
        commitMark = out.end
        let head = portal.query.head
        if portal.statement.analysis?.countsRows == true {
            switch head.main {
            case .insert, .replace: out.commandComplete("INSERT 0", count: changes)
            case .update: out.commandComplete("UPDATE", count: changes)
            default: out.commandComplete("DELETE", count: changes)
            }
        } else {
            switch head.main {
            case .select, .values, .table: out.commandComplete("SELECT", count: Int64(portal.rowsOfExecute))
            default: out.commandComplete(head.tag)
            }
        }
        portal.rowsOfExecute = 0
    }
}

/// Whether a statement names PostgreSQL's system catalogs.
enum CatalogNames {
    static func appear(in sql: UnsafeRawBufferPointer) -> Bool {
        for token in SQLLexer(sql) where token.isIdentifierLike {
            let name = token.name
            if name.hasPrefix("pg_") || name.lowercased() == "information_schema" { return true }
        }
        return false
    }
}
