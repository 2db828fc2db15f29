import Pool
import PostgresWire
import SQLite

/// Running a portal's statement: where, with what, and its rows.
extension Session {
    // MARK: Connections

    /// Sees to it that the session has a reader; nil when it has.
    @inline(__always)
    func acquireReader(onlyToPrepare: Bool = false) throws(WireError) -> Wait? {
        if let loss = state.transaction.snapshotLoss { throw snapshotError(loss) }
        if readerIsOnlyToPrepare && !onlyToPrepare { releaseReader() }
        if reader != nil {
            if state.transaction.pinsSnapshot, pool.isGateExpired {
                loseSnapshot(.walLimit)
                throw snapshotError(.walLimit)
            }
            return nil
        }
        if readerIndex == nil {
            countRequest()
            // Before the request: once parked, the session may be another thread's.
            readerIsOnlyToPrepare = onlyToPrepare
            readerIndex = pool.takeReader(clientID)
            if readerIndex == nil, let wait = try requestReader() { return wait }
        }
        guard let index = readerIndex else { return nil }
        hasReader.store(true, ordering: .relaxed)
        do { reader = try pool.reader(at: index) } catch {
            releaseReader()
            throw ErrorTranslation.wireError(error)
        }
        if state.transaction.pinsSnapshot, !onlyToPrepare { reader?.beginsToBeKept() }
        return nil
    }

    /// None is free at once.
    private func requestReader() throws(WireError) -> Wait? {
        if let wait = waitUntilRepliesAreSent() {
            readerIsOnlyToPrepare = false
            return wait
        }
        beginWait()
        openParking(now: MonotonicClock.now)
        switch pool.requestReader(self, onlyToPrepare: readerIsOnlyToPrepare, deadline: waitDeadline) {
        case .parked:
            return .parked
        case .granted(let index):
            closeParking()
            endWait()
            readerIndex = index
            return nil
        case .stopped(let reason):
            closeParking()
            throw ErrorTranslation.wireError(reason)
        }
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
        if isReaderIdle { endReaderIdling() }
        reader = nil
        readerIndex = nil
        hasReader.store(false, ordering: .relaxed)
        readerIsOnlyToPrepare = false
        if let next = pool.releaseReader(index) { enqueue(next) }
    }

    func enqueue(_ resumption: Resumption) {
        if let worker { worker.enqueue(resumption) } else { server.ready.enqueue(resumption) }
    }

    // MARK: Preparing

    @inline(__always)
    private func prepare(_ portal: Portal, on connection: PooledConnection) throws(WireError) -> PreparedLease {
        do { return try connection.statement(for: portal.query.text, self) } catch {
            throw preparationError(error, portal.query, connection)
        }
    }

    func preparationError(
        _ error: SQLiteError, _ query: Query, _ connection: PooledConnection
    ) -> WireError {
        if connection.wasStopped(by: error), let reason = connection.stopReason { return stopError(reason) }
        if writerMode != .none { pool.writer.note(error) }
        var translated = ErrorTranslation.wireError(
            error, denial: connection.connection.callbacks.denial, sql: query.text.bytes, source: query.source?.bytes)
        // Drivers ask PostgreSQL's catalogs for this and that, and cope with a table that is missing; some of their
        // questions SQLite cannot even parse.
        if translated.state != .insufficientPrivilege, translated.state != .undefinedFunction,
            CatalogNames.appear(in: query.text.bytes)
        {
            noteCatalogQuery(query.text.bytes)
            translated.state = .undefinedTable
            translated.hint = "Of PostgreSQL's system catalogs, this is not served; sqlite_schema lists this database's tables."
        }
        return query.placed(translated)
    }

    // MARK: Starting

    /// Runs the portal's statement to its first row; nil when it stands there (or at its end).
    @inline(__always)
    func start(_ portal: Portal) throws(WireError) -> Wait? {
        if let loss = portal.snapshotLoss { throw snapshotError(loss) }
        if portal.hasFailed { throw Self.cannotRunAgain(portal) }
        guard !portal.isRunning, !portal.isDone, let known = portal.statement.analysis else { return nil }
        if let wait = try acquireConnection(for: portal, known) { return wait }
        let isOnWriter = writerMode != .none
        let connection: PooledConnection = isOnWriter ? pool.writer : reader!
        let (analysis, lease): (Analysis, PreparedLease)
        do {
            if state.portals.count > 1 { try requireMemoryForAnotherRun() }
            if isOnWriter { try readyWriter(for: portal, known) }
            analysis = try analysisOfToday(known, portal, on: connection)
            lease = analysis.definesSchema ? try prepareDefinition(portal.query) : try prepare(portal, on: connection)
        } catch {
            releaseReaderIfUnused()
            throw error
        }
        if isOnWriter { try requireOpenTransaction(for: lease) }
        if analysis.isRead {
            connection.connection.changeCounters.values = state.counters
        } else {
            connection.connection.beginCountingChanges(for: state.counters)
        }
        portal.begin(
            Portal.Run(lease: lease, connection: connection, isOnWriter: isOnWriter, counts: !analysis.isRead, kind: analysis.kind),
            analysis)
        if !isOnWriter { portalsOnReader += 1 }
        state.transaction.hasQueried = state.transaction.isExplicit
        countTransactionBeginning()
        try takeFirstStep(portal, analysis, lease, on: connection)
        return nil
    }

    /// The writer for what writes or locks, a reader for what reads; neither where the session has the writer.
    @inline(__always)
    private func acquireConnection(for portal: Portal, _ analysis: Analysis) throws(WireError) -> Wait? {
        if !analysis.isRead { return try acquireWriter(for: portal) }
        if portal.query.locksRows { return try acquireWriterToLock(portal.query) }
        return writerMode == .none ? try acquireReader() : nil
    }

    @inline(__always)
    private func readyWriter(for portal: Portal, _ analysis: Analysis) throws(WireError) {
        try requireWriterTime()
        if !analysis.runsBesideSnapshot { leaveSnapshot(for: analysis) }
        if writerMode == .lease { server.noteHolderStatement(clientID, portal.query.sent) }
    }

    /// As its connection sees the schema now.
    @inline(__always)
    private func analysisOfToday(
        _ known: Analysis, _ portal: Portal, on connection: PooledConnection
    ) throws(WireError) -> Analysis {
        guard known.schemaVersion != connection.schemaVersion else { return known }
        try renewAnalysis(of: portal, on: connection)
        return portal.statement.analysis ?? known
    }

    /// From here on what fails is the portal's own failure.
    @inline(__always)
    private func takeFirstStep(
        _ portal: Portal, _ analysis: Analysis, _ lease: PreparedLease, on connection: PooledConnection
    ) throws(WireError) {
        do throws(WireError) {
            try bind(portal.parameters, on: connection) { check throws(WireError) in
                for slot in analysis.slots { try bindParameter(slot, portal, lease.statement, check) }
            }
            let schemaBefore = analysis.definesSchema ? try schemaBefore(portal.query) : nil
            portal.standOnRow(try nextRow(lease.statement, connection, portal))
            if let schemaBefore { try requireRoom(forSchemaOf: portal.query, schemaBefore) }
            if !lease.isVerified(for: analysis) { try verifyColumns(of: portal, lease, on: connection) }
        } catch {
            portal.fail()
            throw error
        }
    }

    /// The writer, if the session may write at all.
    @inline(__always)
    private func acquireWriter(for portal: Portal) throws(WireError) -> Wait? {
        try requireMayWrite(portal.query)
        if hasPortals(besides: portal), let wait = try fixResults(before: portal) { return wait }
        running.isImpatient = portal.query.isImpatient
        return try acquireWriter()
    }

    @inline(__always)
    private func requireMayWrite(_ query: Query) throws(WireError) {
        if role == .reader { throw Self.readersCannotWrite("execute \(Self.tag(of: query))") }
        if isReadOnly { throw Self.readOnlyError(query) }
    }

    private static func tag(of query: Query) -> StaticString { query.locksRows ? "SELECT FOR UPDATE" : query.head.tag }

    /// For what `RowLock` says: nothing is written, so what other portals give may still be had from readers.
    @inline(never)
    private func acquireWriterToLock(_ query: Query) throws(WireError) -> Wait? {
        try requireMayWrite(query)
        running.isImpatient = query.isImpatient
        return try acquireWriter()
    }

    /// SQLite does not run it beside the writer's kept snapshot. A definition makes the schema the transaction's own.
    private func leaveSnapshot(for analysis: Analysis) {
        pool.writer.endSnapshot()
        if analysis.definesSchema { pool.writer.beginDraft() }
    }

    static func readOnlyError(_ query: Query) -> WireError {
        WireError(
            state: .readOnlySQLTransaction, message: "cannot execute \(tag(of: query)) in a read-only transaction")
    }

    @inline(__always)
    private func bindParameter(
        _ slot: ParameterSlot, _ portal: Portal, _ statement: Statement, _ check: ConversionBounds.Check?
    ) throws(WireError) {
        try ParameterBinder.bind(
            slot, portal.statement.parameter(slot), portal.parameters, to: statement, check: check)
    }

    /// Steps once, as this session's statement.
    @inline(__always)
    func nextRow(
        _ statement: Statement, _ connection: PooledConnection, _ portal: Portal
    ) throws(WireError) -> Bool {
        connection.beginRun(self)
        defer { connection.endRun() }
        do { return try statement.step() == .row } catch {
            throw stepError(error, connection, portal.query, hasParameters: portal.parameters.count > 0)
        }
    }

    /// - Parameter hasParameters: it works on values that are not in its text.
    func stepError(
        _ error: SQLiteError, _ connection: PooledConnection, _ query: Query, hasParameters: Bool
    ) -> WireError {
        if connection.wasStopped(by: error), let reason = connection.stopReason { return stopError(reason) }
        if writerMode != .none { pool.writer.note(error) }
        if writerMode == .group { noteLeftovers(of: error, query) }
        if let error = takeErrorOfFunction() { return error }
        // A statement is prepared again inside a step when the schema has changed, so refusals and positions occur
        // here as well.
        defer { connection.connection.callbacks.denial = nil }
        var translated = ErrorTranslation.wireError(
            error, denial: connection.connection.callbacks.denial, sql: query.text.bytes, source: query.source?.bytes)
        translated.mayQuoteParameters = hasParameters && error.mayQuoteValues
        return translated
    }

    /// Its statement was stopped while it ran or was prepared.
    func stopError(_ reason: StopReason) -> WireError {
        if reason == .writerTimeLimit { return writerTimeError }
        guard reason == .snapshotTooOld else { return ErrorTranslation.wireError(reason) }
        let translated = stopError(forLoss: .walLimit)
        if state.transaction.pinsSnapshot, !readerIsOnlyToPrepare { state.transaction.snapshotLoss = .walLimit }
        return translated
    }
}
