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
            try completeWrite(of: portal)
            running.times.rows = portal.rowsOfExecute
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
        if portal.isRowSent { hasRow = try stepOn(statement, run.connection, portal) }
        while hasRow {
            let filled = out.count
            do { try portal.encoder.encodeRow(statement, into: out) } catch {
                portal.fail()
                throw mismatchError(error, statement, portal)
            }
            portal.rowsOfExecute += 1
            if maxRows > 0 && portal.rowsOfExecute >= maxRows {
                pause(portal)
                return .limit
            }
            hasRow = try stepOn(statement, run.connection, portal)
            if out.count >= SessionLimits.flushBytes, try flushRows(filled, isOnWriter: run.isOnWriter) {
                portal.standOnRow(hasRow)
                countPause(of: portal)
                return .full
            }
        }
        portal.standOnRow(false)
        return .end
    }

    /// As many rows as were asked for are there. What the next one is, or whether there is one, is found out when somebody asks for it: that
    /// may take long, and fail, and is no matter of those before it.
    private func pause(_ portal: Portal) {
        portal.isRowSent = true
        countPause(of: portal)
        portal.keepRows()
    }

    @inline(__always)
    func stepOn(_ statement: Statement, _ connection: PooledConnection, _ portal: Portal) throws(WireError) -> Bool {
        portal.isRowSent = false
        do { return try statement.step() == .row } catch {
            portal.fail()
            throw stepError(error, connection, portal.query, hasParameters: portal.parameters.count > 0)
        }
    }

    /// Steps over rows without sending them; returns how many.
    func skipRows(of portal: Portal, maxRows: Int) throws(WireError) -> Int {
        guard let run = portal.run else { return try skipKeptRows(of: portal, maxRows: maxRows) }
        var hasRow = run.hasRow
        var skipped = 0
        run.connection.beginRun(self)
        defer { run.connection.endRun() }
        if portal.isRowSent { hasRow = try stepOn(run.lease.statement, run.connection, portal) }
        while hasRow {
            skipped += 1
            if maxRows > 0 && skipped >= maxRows {
                portal.isRowSent = true
                return skipped
            }
            hasRow = try stepOn(run.lease.statement, run.connection, portal)
        }
        portal.standOnRow(false)
        finish(portal)
        return skipped
    }

    /// Sends what there is; true: the client must take some of it before there is more. On the writer, which
    /// never waits for a client, results are kept instead, up to a limit; `filled` is what the buffer had before the row, so
    /// that a socket that takes nothing is tried again for every so many bytes, and not for every row.
    func flushRows(_ filled: Int, isOnWriter: Bool) throws(WireError) -> Bool {
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
        if run.counts { run.lease.statement.stepToEnd() }
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

    // MARK: Completing

    /// "INSERT 0 n", "UPDATE n", "SELECT n": the tags are exact, because drivers read the counts.
    @inline(__always)
    private func complete(_ portal: Portal, changes: Int64) {
        marks.commit = out.end
        noteLeftoversOfEnd()
        let head = portal.query.head
        running.times.rows = portal.rowsOfExecute
        if portal.analysis?.countsRows == true {
            running.times.rows = Int(changes)
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
