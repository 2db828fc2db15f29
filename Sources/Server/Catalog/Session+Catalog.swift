import Pool
import PostgresWire
import SQLite
import Scheduling

/// Statements about the catalogs: answered at once and whole, from a private connection.
extension Session {
    /// The statement's columns, which are the same in every schema; nil: it has to wait for a reader. It needs none, but to
    /// prepare it takes seconds sometimes, and as many threads as there are readers may be at long work.
    func analysisOfCatalog(_ query: Query, _ statement: CatalogStatement, _ wait: inout Wait?) throws(WireError) -> Analysis? {
        if let known = query.analysis {
            if readerIsOnlyToPrepare { releaseReader() }
            return known
        }
        if writerMode == .none {
            wait = try acquireReader(onlyToPrepare: true)
            guard wait == nil else { return nil }
        }
        defer { if readerIsOnlyToPrepare { releaseReader() } }
        isAtCatalogs = true
        defer { isAtCatalogs = false }
        let catalog: CatalogConnection
        do { catalog = try server.catalogs.takeAny() } catch { throw ErrorTranslation.wireError(error) }
        defer { server.catalogs.giveBack(catalog) }
        let lease = try prepareCatalog(query, statement, on: catalog)
        defer { catalog.pooled.giveBack(lease) }
        let found = Analysis(catalog: lease.statement, statement, of: query)
        query.analysis = found
        server.registry.wasAnalysed(query)
        return found
    }

    /// What it would be stopped for on the connection it has in the pool, for the sake of others. Nothing runs there while it is at a
    /// private one, whose progress handler knows neither of the gate nor of a group.
    func reasonOfOwnConnection(now: Instant) -> StopReason? {
        if writerMode == .group { return pool.writer.stopsMember(now: now) ? .groupTimeLimit : nil }
        return readerIndex != nil && pool.isGateExpired ? .snapshotTooOld : nil
    }

    private func prepareCatalog(
        _ query: Query, _ statement: CatalogStatement, on catalog: CatalogConnection
    ) throws(WireError) -> PreparedLease {
        do { return try catalog.pooled.statement(for: statement.text, self) } catch {
            if catalog.pooled.wasStopped(by: error), let reason = catalog.pooled.stopReason { throw stopError(reason) }
            throw refusedCatalog(
                query, error.message, state: ErrorTranslation.wireError(error).state)
        }
    }

    func refusedCatalog(_ query: Query, _ refusal: CatalogStatement.Refusal) -> WireError {
        guard refusal.isTooLong else { return refusedCatalog(query, refusal.message) }
        return WireError(
            state: .programLimitExceeded, message: "statement too long",
            detail: "A question to the catalogs may have \(CatalogLimits.statementBytes) bytes, whatever sql_length_limit_bytes is.",
            hint: "Pass long lists as one array: = ANY ($1).")
    }

    /// An error instead of an empty result, and the statement in the log, so that it can be made to work.
    func refusedCatalog(_ query: Query, _ message: String, state: SQLState = .featureNotSupported) -> WireError {
        noteCatalogQuery(query.text.bytes)
        return WireError(
            state: state == .syntaxError ? .featureNotSupported : state,
            message: "this question to the catalogs is not understood: \(message)",
            hint: "sqlite_schema and the PRAGMAs tell of tables, too. The statement is in the daemon's log.")
    }

    func run(_ statement: CatalogStatement, _ query: Query, _ invocation: Invocation) throws(WireError) -> Wait? {
        var wait: Wait?
        guard let analysis = try analysisOfCatalog(query, statement, &wait) else { return wait }
        guard (invocation.parameters?.count ?? 0) == statement.parameterCount else {
            throw WireError(
                state: .undefinedParameter, message: "there is no parameter $1",
                hint: "Parameters belong to the extended query protocol.")
        }
        let encoder = CatalogEncoder(
            analysis, formats: invocation.formats ?? [], allText: state.settings.typing.results == .text)
        if let told = invocation.toldTypes { try requireTold(told, encoder.types) }
        if writerMode == .none, let wait = try acquireReader() { return wait }
        defer { releaseReaderIfUnused() }
        isAtCatalogs = true
        defer { isAtCatalogs = false }
        let catalog = try currentCatalog()
        defer { if catalog.version != nil { server.catalogs.giveBack(catalog) } }
        let lease = try prepareCatalog(query, statement, on: catalog)
        defer { catalog.pooled.giveBack(lease) }
        if let parameters = invocation.parameters {
            try bind(parameters, on: catalog.pooled) { check throws(WireError) in
                for slot in analysis.slots {
                    let parameter = catalogParameter(slot.number, invocation.parameterTypes)
                    try ParameterBinder.bind(slot, parameter, parameters, to: lease.statement, check: check)
                }
            }
        }
        if invocation.describes { encoder.describe(to: out) }
        let count = try sendRows(of: lease.statement, on: catalog, encoder)
        noteReplyToCommit()
        out.commandComplete("SELECT", count: Int64(count))
        return nil
    }

    private func catalogParameter(_ number: Int, _ types: [TypeOID]) -> ParameterType {
        let type = number <= types.count ? types[number - 1] : .unspecified
        // Catalog columns have an affinity each, which converts what came without a type.
        let isText = [.unspecified, .text, .varchar, .bpchar, .name, .char].contains(type)
        return isText ? ParameterType.text : ParameterType(type: type, rule: .typed)
    }

    private func sendRows(
        of statement: Statement, on catalog: CatalogConnection, _ encoder: CatalogEncoder
    ) throws(WireError) -> Int {
        let start = out.end
        var count = 0
        catalog.pooled.beginRun(self)
        defer { catalog.pooled.endRun() }
        while true {
            do { guard try statement.step() == .row else { return count } } catch {
                if catalog.pooled.wasStopped(by: error), let reason = catalog.pooled.stopReason { throw stopError(reason) }
                if let error = takeErrorOfFunction() { throw error }
                // Functions of the catalogs say what is wrong in their own words.
                let translated = ErrorTranslation.wireError(error)
                var failed = WireError(state: translated.state, message: error.message)
                if translated.state == .outOfMemory { failed.hint = translated.hint }
                failed.mayQuoteParameters = statement.parameterCount > 0 && error.mayQuoteValues
                throw failed
            }
            try encoder.encode(statement, to: out)
            count += 1
            guard out.end - start < CatalogLimits.answerBytes else {
                throw WireError(state: .programLimitExceeded, message: "the answer about the catalogs is too large")
            }
        }
    }

    /// The catalogs of the schema that this session sees now.
    private func currentCatalog() throws(WireError) -> CatalogConnection {
        let pooled: PooledConnection = writerMode == .none ? reader! : pool.writer
        let connection = pooled.connection
        // To ask for a view's columns is to have it compiled.
        pooled.beginRun(self)
        defer { pooled.endRun() }
        let schema: ServedSchema
        let version: String
        do throws(SQLiteError) {
            version = "\(pool.schemaEra) \(try connection.firstText("PRAGMA schema_version") ?? "")"
            if writerMode == .none || !pool.writer.seesDraft, let found = server.catalogs.take(version: version) { return found }
            _ = SQLiteLibrary.takeRefusal()
            schema = try ServedSchema(connection)
        } catch {
            throw pooled.stopReason.map { stopError($0) } ?? ErrorTranslation.wireError(error)
        }
        // A view whose columns could not be asked for has none, and others would be told so.
        if let reason = pooled.stopReason { throw stopError(reason) }
        if SQLiteLibrary.takeRefusal() { throw ErrorTranslation.wireError(SQLiteError.outOfMemory) }
        // What is not committed is nobody else's to see, and its number may come again with another schema.
        var (looks, reason): (Int, StopReason?) = (0, nil)
        do {
            return try CatalogConnection(schema, version: writerMode == .none ? version : nil) {
                looks += 1
                if looks == 2 { willBeLong() }
                reason = reasonToStop(now: MonotonicClock.now)
                return reason != nil
            }
        } catch {
            throw reason.map { stopError($0) } ?? ErrorTranslation.wireError(error)
        }
    }
}

extension Analysis {
    /// Of a statement about the catalogs.
    convenience init(catalog prepared: Statement, _ statement: CatalogStatement, of query: Query) {
        let names = ResultNames.names(in: query.text.bytes, columnCount: prepared.columnCount, isRewritten: true)
        let types = statement.types(ofColumns: (0..<prepared.columnCount).map { prepared.columnName($0) })
        let columns = (0..<prepared.columnCount).map { index in
            let declared = prepared.columnDeclaredType(index)?.split(separator: " ").last.map {
                $0.hasPrefix("\"") ? String($0.dropFirst().dropLast()) : String($0)
            }
            let inferred = (index < types.count ? types[index] : nil) ?? CatalogViews.columnTypes[prepared.columnName(index)]
            let type = (declared ?? inferred).flatMap { CatalogStatement.oid(ofType: $0) } ?? .text
            return Column(name: names?[index] ?? prepared.columnName(index), type: .fixed(type), assumed: type, declared: declared)
        }
        // `?7` makes places for 1 to 6 as well.
        let slots = (0..<prepared.parameterCount).map { ParameterSlot(index: $0 + 1, number: $0 + 1) }
        self.init(columns: columns, slots: slots, parameterTypes: statement.parameterTypes)
    }
}
