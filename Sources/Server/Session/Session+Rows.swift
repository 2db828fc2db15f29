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
            complete(portal, changes: 0, isPastEnd: true)
            return nil
        }
        defer { if portal.announces { portal.announceAgain() } }
        switch try sendRows(of: portal, maxRows: maxRows) {
        case .limit:
            keepErrorBehind(of: portal)
            try completeWrite(of: portal)
            running.times.rows = portal.rowsOfExecute
            portal.endRowsOfExecute()
            out.portalSuspended()
        case .full:
            return .output
        case .end:
            let kept = portal.kept
            finish(portal)
            complete(portal, changes: kept?.changes ?? state.counters.rows, isPastEnd: maxRows == 0 || portal.rowsOfExecute < maxRows)
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
                portal.fail()
                throw mismatchError(error, statement, portal)
            }
            portal.rowsOfExecute += 1
            do { hasRow = try statement.step() == .row } catch {
                let asked = maxRows > 0 && portal.rowsOfExecute >= maxRows
                try fail(run, of: portal, error, hasWhatWasAsked: asked)
                return .limit
            }
            if out.count >= SessionLimits.flushBytes, try flushRows(filled, isOnWriter: run.isOnWriter) {
                portal.standOnRow(hasRow)
                countPause(of: portal)
                return .full
            }
        }
        portal.standOnRow(false)
        return .end
    }

    /// The row behind those that were asked for is looked for before they are told of, so that a run that is over gives its connection
    /// back. That it fails is no matter of theirs: who asks for it hears of that.
    private func fail(_ run: Portal.Run, of portal: Portal, _ error: SQLiteError, hasWhatWasAsked: Bool) throws(WireError) {
        let isStopped = run.connection.wasStopped(by: error)
        let translated = stepError(error, run.connection, portal.query, hasParameters: portal.parameters.count > 0)
        guard hasWhatWasAsked, !run.counts, !isStopped, !error.isOfCircumstances, !error.isInterrupt else {
            portal.fail()
            throw translated
        }
        countPause(of: portal)
        portal.keepRows()
        portal.errorBehind = KeptRows(translated)
    }

    /// Where the row behind those that were asked for could not be had: its connection is given back, and the error is what is left.
    func keepErrorBehind(of portal: Portal) {
        guard let kept = portal.errorBehind else { return }
        portal.errorBehind = nil
        finish(portal)
        portal.keep(kept)
    }

    /// Steps over rows without sending them; returns how many.
    func skipRows(of portal: Portal, maxRows: Int) throws(WireError) -> Int {
        guard let run = portal.run else { return try skipKeptRows(of: portal, maxRows: maxRows) }
        var hasRow = run.hasRow
        var skipped = 0
        while hasRow, maxRows == 0 || skipped < maxRows {
            skipped += 1
            hasRow = try stepOn(run, of: portal, hasWhatWasAsked: maxRows > 0 && skipped >= maxRows)
        }
        portal.standOnRow(hasRow)
        if portal.errorBehind != nil { keepErrorBehind(of: portal) } else if !hasRow { finish(portal) }
        return skipped
    }

    private func stepOn(_ run: Portal.Run, of portal: Portal, hasWhatWasAsked: Bool) throws(WireError) -> Bool {
        run.connection.beginRun(self)
        defer { run.connection.endRun() }
        do { return try run.lease.statement.step() == .row } catch {
            try fail(run, of: portal, error, hasWhatWasAsked: hasWhatWasAsked)
            return false
        }
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
        if let reason = reasonToStop(now: MonotonicClock.now) { throw stopError(reason) }
        guard isOnWriter else { return out.count >= SessionLimits.flushBytes }
        guard out.count < SessionLimits.writerResultBytes else {
            throw WireError(
                state: .programLimitExceeded,
                message: "the result of a statement in a writing transaction is too large",
                detail: "It is kept until the client takes it, because nobody else can write meanwhile; the limit is "
                    + "\(SessionLimits.writerResultBytes) bytes.",
                hint: "Read it before the transaction's first write, or outside of it, and without FOR UPDATE.")
        }
        return false
    }

    /// Gives back what a running portal has.
    @inline(__always)
    func finish(_ portal: Portal) {
        let wasOnReader = endRun(of: portal)
        // Only now: a statement that is not kept is finalised when it is given back, and the connection must still be ours.
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
        if analysis.countsRows { run.lease.didChange(rows: Int(state.counters.rows)) }
    }

    // MARK: Completing

    /// "INSERT 0 n", "UPDATE n", "SELECT n": the tags are exact, because drivers read the counts.
    @inline(__always)
    private func complete(_ portal: Portal, changes: Int64, isPastEnd: Bool) {
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
        if isPastEnd { portal.passEnd() }
        portal.endRowsOfExecute()
    }
}
