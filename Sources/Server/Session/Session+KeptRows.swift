import Pool
import PostgresWire
import SQLite

/// Results that are kept in memory: taking them there, and giving them from there.
extension Session {
    /// Where it is reported that a portal's rows cannot be kept: as the error of the statement that made keeping them necessary, or at the
    /// end of the portal's own rows.
    enum KeepingFailure {
        case isTheStatements, isThePortals
        /// As the first, also when it is wrong with the portal's own query.
        case isTheCommits
    }

    /// Reads what is left of a portal's rows and gives back what it ran on.
    func keepRows(of portal: Portal, _ failure: KeepingFailure) throws(WireError) {
        guard let run = portal.run else { return }
        let kept = KeptRows(columns: run.lease.statement.columnCount)
        let others = openPortals.reduce(0) { $0 + ($1.kept?.byteCount ?? 0) }
        do throws(WireError) {
            let tooLarge = failure == .isTheCommits ? Self.tooMuchToHold : run.counts ? Self.tooMuchReturned : Self.tooMuchToKeep
            try read(run, of: portal, into: kept, SessionLimits.writerResultBytes - others, tooLarge)
        } catch {
            kept.error = error
        }
        finish(portal)
        if run.counts { kept.changes = state.counters.rows }
        kept.step()
        portal.keep(kept)
        guard failure != .isThePortals, let error = kept.error, failure == .isTheCommits || !error.isOfItsQuery else { return }
        // Behind a savepoint the portal outlives this statement, and is not what was stopped.
        kept.error = Self.lostRows
        throw error
    }

    /// A statement that writes is not paused: what RETURNING gives beyond what was asked for is kept. As PostgreSQL: "We do not want to let
    /// the client suspend an update-type query partway through! … On first execution, we run the portal to completion and dump the primary
    /// query's results into the portal tuplestore; the results are then returned to the client as demanded"
    /// (https://github.com/postgres/postgres/blob/master/src/include/utils/portal.h).
    ///
    /// So whatever is wrong with it is its own error, and not one of the message that closes it or commits.
    func completeWrite(of portal: Portal) throws(WireError) {
        guard let run = portal.run, run.counts else { return }
        try? keepRows(of: portal, .isThePortals)
        guard let error = portal.kept?.error else { return }
        finish(portal)
        portal.fail()
        throw error
    }

    private static let lostRows = WireError(
        state: .objectNotInPrerequisiteState, message: "the other rows of this cursor or portal are lost",
        detail: "A statement that was about to write had them kept, and failed before that was done.")

    private func read(
        _ run: Portal.Run, of portal: Portal, into kept: KeptRows, _ limitBytes: Int, _ tooLarge: WireError
    ) throws(WireError) {
        let statement = run.lease.statement
        var hasRow = run.hasRow
        run.connection.beginRun(self)
        defer { run.connection.endRun() }
        while hasRow {
            switch kept.append(statement, limitBytes: limitBytes) {
            case .kept: break
            case .tooLarge: throw tooLarge
            case .noMemory: throw WireError(state: .outOfMemory, message: "there is no memory for the rows of an open cursor")
            }
            do { hasRow = try statement.step() == .row } catch {
                throw stepError(error, run.connection, portal.query, hasParameters: portal.parameters.count > 0)
            }
        }
    }

    private static let tooMuchToKeep = WireError(
        state: .programLimitExceeded, message: "the rows that are left of a cursor or portal are too large to be kept",
        detail: "They were begun after the transaction's first write, and must not change with what it writes next; the limit is "
            + "\(SessionLimits.writerResultBytes) bytes for all of a session's.",
        hint: "Fetch them all or close the cursor before writing, or fetch its first row before the transaction's first write.")

    private static let tooMuchToHold = WireError(
        state: .programLimitExceeded, message: "the rows of a cursor WITH HOLD are too large to be kept",
        detail: "What is left of them when its transaction ends is kept in memory; the limit is \(SessionLimits.writerResultBytes) bytes "
            + "for all of a session's.",
        hint: "Read it inside a transaction, without WITH HOLD; or by key: WHERE id > $1 ORDER BY id LIMIT 1000.")

    private static let tooMuchReturned = WireError(
        state: .programLimitExceeded, message: "the rows that a statement returns are too large to be kept",
        detail: "It is run to its end, and what RETURNING gives beyond the rows that were asked for is kept; the limit is "
            + "\(SessionLimits.writerResultBytes) bytes for all of a session's.",
        hint: "Let it return less, or change fewer rows at a time.")

    /// As `sendRows`, of kept ones.
    func sendKeptRows(of portal: Portal, maxRows: Int) throws(WireError) -> RowsEnd {
        guard let kept = portal.kept else { return .end }
        let before = portal.rowsOfExecute
        defer { counters?.add(.rows, portal.rowsOfExecute - before) }
        while kept.hasRow {
            if maxRows > 0 && portal.rowsOfExecute >= maxRows { return .limit }
            let filled = out.count
            do { try portal.encoder.encodeRow(kept, into: out) } catch {
                portal.fail()
                throw mismatchError(error, nil, portal)
            }
            portal.rowsOfExecute += 1
            kept.step()
            if out.count >= SessionLimits.flushBytes, try flushRows(filled, isOnWriter: writerMode != .none) { return .full }
        }
        guard let error = kept.error else { return .end }
        // As many as were asked for were there.
        if maxRows > 0 && portal.rowsOfExecute >= maxRows { return .limit }
        portal.fail()
        throw error
    }

    /// Of one byte there may be 60 million.
    private static let rowsBetweenLooks = 10_000

    func skipKeptRows(of portal: Portal, maxRows: Int) throws(WireError) -> Int {
        guard let kept = portal.kept else { return 0 }
        var skipped = 0
        while kept.hasRow, maxRows == 0 || skipped < maxRows {
            skipped += 1
            kept.step()
            guard skipped % Self.rowsBetweenLooks == 0, let reason = reasonToStop(now: MonotonicClock.now) else { continue }
            portal.fail()
            throw ErrorTranslation.wireError(reason)
        }
        guard !kept.hasRow else { return skipped }
        if let error = kept.error {
            // As many as were asked for were there.
            if maxRows > 0 && skipped >= maxRows { return skipped }
            portal.fail()
            throw error
        }
        finish(portal)
        return skipped
    }
}
