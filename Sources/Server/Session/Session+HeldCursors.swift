import PostgresWire

/// Cursors WITH HOLD, which outlive the transaction that has declared them.
///
/// "WITH HOLD specifies that the cursor can continue to be used after the transaction that created it successfully commits. … In the
/// current implementation, the rows represented by a held cursor are copied into a temporary file or memory area so that they remain
/// available for subsequent transactions" (https://www.postgresql.org/docs/current/sql-declare.html). Here it is memory, and as much as
/// a session may keep of its other results: a snapshot that nothing ends would keep the WAL from being emptied.
extension Session {
    /// Before COMMIT: what is left of the rows of this transaction's cursors WITH HOLD is kept. If that fails, so does the COMMIT, and
    /// nothing of the transaction stays.
    func keepCursorsToHold() throws(WireError) -> Wait? {
        for portal in state.portals.values where portal.isHoldable && !portal.isHeld {
            if let wait = try keepToHold(portal) { return wait }
        }
        return nil
    }

    /// nil: that is done.
    func keepToHold(_ portal: Portal) throws(WireError) -> Wait? {
        if let loss = portal.snapshotLoss { throw snapshotError(loss) }
        if let wait = try begin(portal) { return wait }
        try keepRows(of: portal, .isTheCommits)
        if let error = portal.kept?.error { throw error }
        return nil
    }

    /// The transaction is committed, or its commit is on its way to the disk.
    @inline(__always)
    func holdCursors() {
        if !state.portals.isEmpty { holdCursorsOfTransaction() }
    }

    @inline(never)
    private func holdCursorsOfTransaction() {
        var held: [Portal] = []
        for (name, portal) in state.portals where portal.isHoldable && !portal.isHeld {
            // As PostgreSQL does with one that has failed behind a savepoint.
            if portal.hasFailed {
                closePortal(name.text)
            } else {
                portal.hold()
                held.append(portal)
            }
        }
        // The disk, or the group, may have the last word.
        if isUnsynced || writerMode == .group { heldByCommit += held }
    }

    /// Whether there are any, or will be with the transaction's end.
    var hasHeldCursors: Bool { !state.portals.isEmpty && state.portals.values.contains { $0.isHoldable } }

    /// The commit that they were to outlive has failed.
    func closeCursorsOfCommit() {
        for portal in heldByCommit where state.portals[ExactName(portal.name)] === portal { closePortal(portal.name) }
    }
}
