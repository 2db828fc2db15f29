import Pool
import PostgresWire
import SQLite

/// COPY TO STDOUT: a query whose rows go out as CopyData, one message for each, as fast as the client takes them and no
/// faster.
extension Session {
    func copyOut(_ copy: CopyStatement, _ options: CopyOptions, _ query: Query) throws(WireError) -> Wait? {
        if !simplePortal.isRunning, let wait = try prepareCopyOut(copy, options, query) { return wait }
        let portal = simplePortal
        guard let analysis = portal.analysis else { return nil }
        beginCopyOut(portal, analysis, options)
        guard try sendCopyRows(portal, analysis, options) else { return .output }
        let rows = portal.rowsOfExecute
        finish(portal)
        if options.format == .binary { sendCopyTrailer(withHeader: rows == 0) }
        out.copyDone()
        marks.commit = out.end
        out.commandComplete("COPY", count: Int64(rows))
        running.times.rows = rows
        portal.rowsOfExecute = 0
        return nil
    }

    private func prepareCopyOut(_ copy: CopyStatement, _ options: CopyOptions, _ query: Query) throws(WireError) -> Wait? {
        var inner = query.inner
        if case .table(let table) = copy.source {
            var wait: Wait?
            guard let found = try copyTable(table, options, &wait) else { return wait }
            inner = try self.query(for: found.table.select)
        }
        guard let inner else { return nil }
        var wait: Wait?
        guard let analysis = try self.analysis(of: inner, &wait) else { return wait }
        guard !analysis.columns.isEmpty else {
            throw WireError(state: .featureNotSupported, message: "COPY query must have a RETURNING clause")
        }
        if case .query = copy.source { try requireForced(options, among: analysis) }
        guard analysis.slots.isEmpty else {
            throw WireError(
                state: .undefinedParameter, message: "there is no parameter $\(analysis.slots[0].number)",
                hint: "The query of a COPY takes no parameters.")
        }
        reuseSimplePortal(for: try PreparedStatement(query: inner, analysis: analysis, given: [], typing: state.settings.typing))
        return try start(simplePortal)
    }

    /// What FORCE_QUOTE names must be a column of the query. Those of a table have been looked for before.
    private func requireForced(_ options: CopyOptions, among analysis: Analysis) throws(WireError) {
        try options.forceQuote.require(among: analysis.columns.map(\.name)) {
            WireError(state: .undefinedColumn, message: "column \"\($0)\" does not exist")
        }
    }

    private func beginCopyOut(_ portal: Portal, _ analysis: Analysis, _ options: CopyOptions) {
        guard !portal.isDescribed, let analysis = portal.analysis else { return }
        let format = options.wireFormat
        portal.encoder = makeEncoder(analysis, { _ in format }, format == .binary ? firstRow(of: portal) : nil)
        // What is sent is what each value is, so that it can be read back into any column: a computed boolean is 1 or 0.
        for (index, column) in analysis.columns.enumerated() where column.type == .fixed(.bool) && column.declared == nil {
            portal.encoder.columns[index].type = portal.encoder.isAllText ? .text : .int8
        }
        portal.isDescribed = true
        out.copyOutResponse(columns: analysis.columns.count, format: format)
        if options.header == .present {
            CopyEncoder(options, analysis, portal.encoder).encodeHeader(analysis.columns.map(\.name), into: out)
        }
    }

    /// False: the client must take some of it first.
    private func sendCopyRows(_ portal: Portal, _ analysis: Analysis, _ options: CopyOptions) throws(WireError) -> Bool {
        guard let run = portal.run, run.hasRow else { return true }
        let statement = run.lease.statement
        let encoder = CopyEncoder(options, analysis, portal.encoder)
        var hasRow = true
        run.connection.beginRun(self)
        defer { run.connection.endRun() }
        while hasRow {
            let filled = out.count
            do {
                if options.format == .binary {
                    try encodeBinaryCopyRow(portal, statement)
                } else {
                    try encoder.encodeRow(statement, into: out)
                }
            } catch { throw mismatchError(error, statement, portal) }
            portal.rowsOfExecute += 1
            do { hasRow = try statement.step() == .row } catch {
                throw stepError(error, run.connection, portal.query, hasParameters: portal.parameters.count > 0)
            }
            if out.count >= SessionLimits.flushBytes, try flushRows(filled, isOnWriter: run.isOnWriter) {
                portal.standOnRow(hasRow)
                countPause(of: portal)
                return false
            }
        }
        portal.standOnRow(false)
        return true
    }

    /// The header shares the first row's message: psycopg, for one, looks for it there.
    private func encodeBinaryCopyRow(_ portal: Portal, _ statement: Statement) throws(ColumnMismatch) {
        guard portal.rowsOfExecute == 0 else {
            let mark = out.end
            try portal.encoder.encodeRow(statement, into: out)
            return out.renameDataRowToCopyData(at: mark)
        }
        let row = OutputBuffer()
        try portal.encoder.encodeRow(statement, into: row)
        let mark = out.beginCopyData()
        appendCopyHeader()
        // Without the row's own type and length.
        out.append(UnsafeRawBufferPointer(rebasing: row.readable[5...]))
        guard out.endMessage(mark) else { throw .ofRow(in: out) }
    }

    private func appendCopyHeader() {
        CopyDecoder.signature.withUnsafeBytes { out.append($0) }
        // No flags, and no header extension.
        out.append64(0)
    }

    private func sendCopyTrailer(withHeader: Bool) {
        let mark = out.beginCopyData()
        if withHeader { appendCopyHeader() }
        out.append16(-1)
        _ = out.endMessage(mark)
    }
}
