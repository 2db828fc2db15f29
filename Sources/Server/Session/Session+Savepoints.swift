import Pool
import PostgresWire
import SQLite

/// Savepoints: the session's own until the transaction has the writer, where SQLite's are named by index, since PostgreSQL lets a name
/// be used twice.
extension Session {
    func savepoint(_ name: String) throws(WireError) {
        try requireBlock("SAVEPOINT")
        guard state.transaction.savepoints.count < SessionLimits.savepoints else {
            throw WireError(state: .programLimitExceeded, message: "too many savepoints in this transaction")
        }
        try requireShort(name)
        if writerMode != .none {
            try onWriter("SAVEPOINT s\(state.transaction.savepoints.count)")
        }
        state.transaction.savepoints.append(Savepoint(name: ExactName(name), isReadOnly: state.transaction.isReadOnly))
    }

    func release(_ name: String) throws(WireError) {
        let index = try savepointIndex(name, "RELEASE SAVEPOINT")
        if writerMode != .none {
            try onWriter("RELEASE s\(index)")
        }
        takeModesBack(toSavepoint: index)
        state.transaction.savepoints.removeSubrange(index...)
        // Portals opened after it now belong to the savepoint around it, or to the transaction.
        for portal in state.portals.values { portal.savepointDepth = min(portal.savepointDepth, index) }
    }

    func rollback(to name: String) throws(WireError) {
        let index = try savepointIndex(name, "ROLLBACK TO SAVEPOINT")
        closePortals(deeperThan: index)
        if writerMode != .none {
            keepRowsOnWriter()
            try onWriter("ROLLBACK TO s\(index)")
            pool.writer.schemaMayBeAnother()
        }
        takeSettingsBack(toSavepoint: index)
        takeModesBack(toSavepoint: index)
        state.transaction.savepoints.removeSubrange((index + 1)...)
        state.transaction.block = .open
    }

    private func savepointIndex(_ name: String, _ command: String) throws(WireError) -> Int {
        try requireBlock(command)
        let wanted = ExactName(name)
        if let index = state.transaction.savepoints.lastIndex(where: { $0.name == wanted }) { return index }
        // After an error that SQLite rolls the transaction back for; see `failTransaction`.
        let isRolledBack = state.transaction.hasFailed && state.transaction.savepoints.isEmpty
        throw WireError(
            state: .invalidSavepointSpecification, message: "savepoint \"\(name)\" does not exist",
            hint: isRolledBack ? "The whole transaction is rolled back, with its savepoints, and ROLLBACK ends it." : nil)
    }

    func requireBlock(_ command: String) throws(WireError) {
        guard state.transaction.isExplicit else {
            throw WireError(
                state: .noActiveSQLTransaction, message: "\(command) can only be used in transaction blocks")
        }
    }

    /// Savepoints made before the first write exist only here until the writer has a transaction to put them into.
    func establishSavepoints() throws(WireError) {
        for index in state.transaction.savepoints.indices { try onWriter("SAVEPOINT s\(index)") }
    }

    private func onWriter(_ sql: String) throws(WireError) {
        try requireOpenTransaction()
        do { try pool.writer.connection.executeInternal(sql) } catch {
            pool.writer.note(error)
            throw ErrorTranslation.wireError(error)
        }
    }
}
