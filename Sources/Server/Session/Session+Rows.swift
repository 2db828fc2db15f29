import Pool
import PostgresWire
import SQLite

/// What a running portal sends: its columns, its rows, and how it ended.
extension Session {
    /// Runs the portal and says how it ended; nil when it has, or stopped at `maxRows`.
    @inline(__always)
    func runToEnd(_ portal: Portal, maxRows: Int, describes: Bool) throws(WireError) -> Wait? {
        if let wait = try start(portal) { return wait }
        if describes {
            describeColumns(of: portal)
        } else {
            try requireAnnouncedTyping(of: portal)
            try ensureEncoder(of: portal)
        }
        guard portal.isBegun else {
            try requireRows(of: portal)
            complete(portal, changes: 0)
            return nil
        }
        defer { if portal.announces { portal.announceAgain() } }
        switch try sendRows(of: portal, maxRows: maxRows) {
        case .limit:
            times.rows = portal.rowsOfExecute
            portal.rowsOfExecute = 0
            out.portalSuspended()
        case .full:
            return .output
        case .end:
            let kept = portal.kept
            finish(portal)
            complete(portal, changes: kept?.changes ?? state.counters.changes)
        }
        return nil
    }

    /// A portal that has run to its end gives no more rows; one that never had any does not run again.
    private func requireRows(of portal: Portal) throws(WireError) {
        guard portal.isDone, portal.analysis?.columns.isEmpty ?? true else { return }
        throw Self.cannotRunAgain(portal)
    }

    /// In PostgreSQL's words.
    static func cannotRunAgain(_ portal: Portal) -> WireError {
        WireError(state: .objectNotInPrerequisiteState, message: "portal \"\(portal.name)\" cannot be run")
    }

    enum RowsEnd { case end, limit, full }

    @inline(__always)
    func sendRows(of portal: Portal, maxRows: Int) throws(WireError) -> RowsEnd {
        guard portal.isRunning else { return try sendKeptRows(of: portal, maxRows: maxRows) }
        // Looked at in its place: most statements that write have none, and the run would be copied for that.
        guard portal.hasRow, let run = portal.run else { return .end }
        let statement = run.lease.statement
        var hasRow = true
        run.connection.beginRun(self)
        defer { run.connection.endRun() }
        while hasRow {
            if maxRows > 0 && portal.rowsOfExecute >= maxRows {
                portal.standOnRow(true)
                countPause(of: portal)
                portal.keepRows()
                return .limit
            }
            let filled = out.count
            do { try portal.encoder.encodeRow(statement, into: out) } catch {
                throw mismatchError(error, statement, portal)
            }
            portal.rowsOfExecute += 1
            do { hasRow = try statement.step() == .row } catch {
                throw stepError(error, run.connection, portal.query, hasParameters: portal.parameters.count > 0)
            }
            if out.count >= SessionLimits.flushBytes, try isFull(filled, isOnWriter: run.isOnWriter) {
                portal.standOnRow(hasRow)
                countPause(of: portal)
                return .full
            }
        }
        portal.standOnRow(false)
        return .end
    }

    /// Steps over rows without sending them; returns how many.
    func skipRows(of portal: Portal, maxRows: Int) throws(WireError) -> Int {
        guard let run = portal.run else { return try skipKeptRows(of: portal, maxRows: maxRows) }
        var hasRow = run.hasRow
        var skipped = 0
        while hasRow, maxRows == 0 || skipped < maxRows {
            skipped += 1
            hasRow = try nextRow(run.lease.statement, run.connection, portal)
        }
        portal.standOnRow(hasRow)
        if !hasRow { finish(portal) }
        return skipped
    }

    /// Sends what there is; true when the client must take some of it before there is more. On the writer, which
    /// never waits for a client, results are kept instead, up to a limit; `filled` is what the buffer had before the row, so
    /// that a socket that takes nothing is tried again for every so many bytes, and not for every row.
    func isFull(_ filled: Int, isOnWriter: Bool) throws(WireError) -> Bool {
        if isOnWriter, out.count / SessionLimits.flushBytes == filled / SessionLimits.flushBytes { return false }
        // What is in the buffer before a group's commit must not leave it.
        if writerMode != .group, !flush() {
            throw WireError(severity: .fatal, state: .connectionFailure, message: "the client is gone")
        }
        if let reason = reasonToStop(now: MonotonicClock.now) { throw ErrorTranslation.wireError(reason) }
        guard isOnWriter else { return out.count >= SessionLimits.flushBytes }
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

    func mismatchError(_ mismatch: ColumnMismatch, _ statement: Statement?, _ portal: Portal) -> WireError {
        guard let columns = portal.analysis?.columns, columns.indices.contains(mismatch.column) else {
            return WireError(state: .programLimitExceeded, message: "a row is larger than 1 GB")
        }
        let column = columns[mismatch.column]
        if portal.keepsAnnouncedTypes, column.type == .open, !portal.encoder.columns[mismatch.column].isDeclared {
            return PreparedStatement.stale(
                "Column \"\(column.name)\" was announced as \(mismatch.announced.sqlName) by an earlier row, "
                    + "and is a \(mismatch.found.name) value now.")
        }
        if mismatch.isOverflow, column.declared == nil {
            return WireError(
                state: .numericValueOutOfRange, message: "bigint out of range",
                detail: "Column \"\(column.name)\" was announced as bigint, and SQLite makes a real of what no integer can hold.",
                hint: "Calculate with $1::float8 or CAST(x AS REAL), or SET result_typing = text.")
        }
        let table = statement?.columnTableName(mismatch.column)
        let place = table.map { " of table \"\($0)\"" } ?? ""
        let row = statement.flatMap { rowid(of: table, $0, portal) }.map { "with rowid \($0)" } ?? "\(portal.rowsOfExecute + 1)"
        return WireError(
            state: .datatypeMismatch,
            message: "column \"\(column.name)\"\(place) holds a \(mismatch.found.name) value that is no "
                + "\(mismatch.announced.sqlName)",
            detail: "It was announced as \(mismatch.announced.sqlName), in row \(row).",
            hint: Self.hintForZone(mismatch) + "Select CAST(\(column.name) AS TEXT), or SET result_typing = text.",
            table: table, column: column.name)
    }

    private static func hintForZone(_ mismatch: ColumnMismatch) -> String {
        guard mismatch.announced == .timestamp, mismatch.found == .text else { return "" }
        return "If it has a time zone, declare the column TIMESTAMP WITH TIME ZONE. "
    }

    /// The rowid of the current row in one of its tables, if the statement has selected that.
    private func rowid(of table: String?, _ statement: Statement, _ portal: Portal) -> Int64? {
        guard let table, let connection = portal.run?.connection.connection,
            let key = CatalogOIDs.rowidColumn(of: table, on: connection),
            let column = (0..<statement.columnCount).first(where: {
                statement.columnTableName($0) == table && statement.columnOriginName($0) == key
            }), statement.storageClass(column) == .integer
        else { return nil }
        return statement.integer(column)
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
        count(run, of: portal)
        run.connection.giveBack(run.lease)
        if run.counts { endWrite(run, of: portal) }
        return !run.isOnWriter
    }

    /// What only a statement that writes may have done.
    private func endWrite(_ run: Portal.Run, of portal: Portal) {
        guard let analysis = portal.analysis else { return }
        state.counters = run.connection.connection.endCountingChanges(countsRows: analysis.countsRows)
        if analysis.countsRows { run.lease.didChange(rows: Int(state.counters.changes)) }
    }

    // MARK: Describing and completing

    /// - Parameter parameters: what the statement's parameters are, for columns that give one back before there is a row.
    func makeEncoder(
        _ analysis: Analysis, _ format: (Int) -> Format, _ firstRow: ((Int) -> StorageClass)?, _ parameters: [ParameterType] = []
    ) -> RowEncoder {
        var encoder = Analysis.encoder(analysis.columns, formats: format, openTypes: firstRow)
        for (index, column) in analysis.columns.enumerated() where column.type == .open {
            if firstRow == nil, let assumed = column.assumedOfIntegers, assumed.holds(of: parameters) {
                encoder.columns[index].type = assumed.type
            }
            guard let number = column.parameter, number <= parameters.count, parameters[number - 1].isGiven,
                let type = parameters[number - 1].type.stored
            else { continue }
            // The integer in the first row does not tell a truth.
            if firstRow == nil || type == .bool { encoder.columns[index].type = type }
            if type == .bool { (encoder.columns[index].isOpen, encoder.columns[index].isUndecided) = (false, false) }
        }
        if state.settings.typing.results == .declared {
            for (index, column) in analysis.columns.enumerated() {
                guard let own = column.ownType, DeclaredValue.isKnown(own) else { continue }
                encoder.columns[index].type = own
                encoder.columns[index].isDeclared = true
                (encoder.columns[index].isOpen, encoder.columns[index].isUndecided) = (false, false)
            }
        }
        if state.settings.typing.results == .text {
            encoder.isAllText = true
            for index in encoder.columns.indices {
                encoder.columns[index].type = .text
                encoder.columns[index].isOpen = false
            }
        }
        return encoder
    }

    /// The client reads what it is sent by what it was told, and SET result_typing came between.
    @inline(__always)
    private func requireAnnouncedTyping(of portal: Portal) throws(WireError) {
        guard !portal.isDescribed, let typing = portal.statement.announcedTyping, typing != state.settings.typing.results else { return }
        throw PreparedStatement.stale("result_typing was another one when its columns were announced.")
    }

    /// - Parameter told: what a FETCH was announced as, of which the cursor knows nothing.
    @inline(__always)
    func ensureEncoder(of portal: Portal, told: [TypeOID]? = nil) throws(WireError) {
        guard !portal.isDescribed, let analysis = portal.analysis, !analysis.columns.isEmpty else { return }
        let statement = portal.statement
        if portal.resultFormats.isEmpty, analysis.textDescription != nil, state.settings.typing.results == .stored {
            portal.encoder = analysis.textEncoder
        } else if statement.isDescribed {
            // Describe(statement) announced what is assumed without a row.
            portal.encoder = makeEncoder(analysis, portal.format, nil, statement.parameters)
        } else {
            portal.encoder = makeEncoder(analysis, portal.format, firstRow(of: portal), statement.parameters)
            if let announced = told ?? statement.announcedTypes, announced.count == portal.encoder.columns.count {
                portal.keepsAnnouncedTypes = portal.encoder.keep(announced)
            }
        }
        if let told = told ?? statement.typesToKeep { try requireTold(told, of: portal) }
        portal.isDescribed = true
    }

    /// Announces the columns, unless that was done for this run already.
    ///
    /// - Parameter again: the client asks, so it is told, however often.
    @inline(__always)
    func describeColumns(of portal: Portal, again: Bool = false) {
        guard again || !portal.isDescribed, let analysis = portal.analysis, !analysis.columns.isEmpty
        else { return }
        if portal.resultFormats.isEmpty, let description = analysis.textDescription,
            state.settings.typing.results == .stored
        {
            portal.encoder = analysis.textEncoder
            portal.isDescribed = true
            description.withUnsafeBytes { out.append($0) }
            return
        }
        if !portal.isDescribed { portal.encoder = makeEncoder(analysis, portal.format, firstRow(of: portal), portal.statement.parameters) }
        portal.isDescribed = true
        var positions: [Int] = []
        out.rowDescription(Analysis.fields(analysis.columns, portal.encoder), oidPositions: &positions)
        // A client that has sent a Describe may read by its answer whatever comes later, as psycopg reads each FETCH: this one says the
        // same, and no row may change it. A client that only FETCHes is told each time anew.
        for (index, position) in positions.enumerated() { portal.encoder.columns[index].typePosition = portal.announces ? -1 : position }
    }

    func firstRow(of portal: Portal) -> ((Int) -> StorageClass)? {
        if let kept = portal.kept, kept.hasRow { return { kept.storageClass($0) } }
        guard let run = portal.run, run.hasRow else { return nil }
        let statement = run.lease.statement
        return { statement.storageClass($0) }
    }

    /// "INSERT 0 n", "UPDATE n", "SELECT n": the tags are exact, because drivers read the counts.
    @inline(__always)
    private func complete(_ portal: Portal, changes: Int64) {
        commitMark = out.end
        noteLeftoversOfEnd()
        let head = portal.query.head
        times.rows = portal.rowsOfExecute
        if portal.analysis?.countsRows == true {
            times.rows = Int(changes)
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
