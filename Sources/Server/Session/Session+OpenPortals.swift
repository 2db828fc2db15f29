import PostgresWire

/// What open portals give does not change with what their own transaction writes.
///
/// "In PostgreSQL, all cursors are insensitive": "changes to the data underlying the cursor, done in the same transaction, after the
/// cursor has been declared" are not visible in it (https://www.postgresql.org/docs/current/sql-declare.html). SQLite: "If changes
/// occur on the same database connection after a query starts running but before the query completes, then it is undefined whether
/// or not the query will see those changes" (https://www.sqlite.org/isolation.html).
extension Session {
    /// Those that a statement may be begun for or stand in: without `simplePortal`, whose statement is over before the next.
    var openPortals: [Portal] {
        var portals = Array(state.portals.values)
        if let unnamed = state.unnamedPortal, !unnamed.isClosed { portals.append(unnamed) }
        return portals
    }

    /// Whether there is a portal besides the one that is about to write.
    @inline(__always)
    func hasPortals(besides writing: Portal?) -> Bool {
        if !state.portals.isEmpty { return true }
        guard let unnamed = state.unnamedPortal else { return false }
        return !unnamed.isClosed && unnamed !== writing
    }

    /// Before a statement writes: portals that have been opened and not asked for rows are begun, on a reader as long as nothing
    /// has been written, and what is left of those that run on the writer is kept. nil: that is done.
    ///
    /// A portal on a reader keeps its snapshot by itself. Nothing is begun without a write, so that a READ COMMITTED block with
    /// a cursor in it still holds no reader.
    @inline(never)
    func fixResults(before writing: Portal?) throws(WireError) -> Wait? {
        for portal in openPortals where portal !== writing {
            if let wait = try begin(portal) { return wait }
            if portal.run?.isOnWriter == true { try keepRows(of: portal, .isTheStatements) }
        }
        return nil
    }

    /// Runs a portal to its first row, if it has not been; what is wrong with its query is for whoever asks for its rows.
    func begin(_ portal: Portal) throws(WireError) -> Wait? {
        guard portal.isFresh, case .sqlite = portal.statement.query.kind, portal.statement.analysis?.isRead == true
        else { return nil }
        do {
            if let wait = try start(portal) { return wait }
        } catch let error where error.isOfItsQuery {
            // The client is told when it asks the portal for its rows.
            finish(portal)
            portal.keep(KeptRows(error))
            return nil
        } catch {
            // A cancel, for one: after a savepoint it may be begun another time.
            finish(portal)
            portal.forgetRun()
            throw error
        }
        countPause(of: portal)
        if portal.run?.hasRow == false { finish(portal) }
        return nil
    }

    /// Before ROLLBACK TO, which ends what runs on the writer: a portal that was opened before the savepoint goes on after it.
    func keepRowsOnWriter() {
        for portal in openPortals where portal.run?.isOnWriter == true { try? keepRows(of: portal, .isThePortals) }
    }
}

extension WireError {
    /// It is wrong with the query itself, and not with the moment it runs in: it was not stopped, and memory, disk and locks
    /// were there.
    var isOfItsQuery: Bool {
        severity == .error && ["0A", "21", "22", "23", "42", "P0"].contains(state.description.prefix(2))
    }
}
