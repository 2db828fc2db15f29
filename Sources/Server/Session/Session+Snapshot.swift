import Pool
import PostgresWire
import Scheduling

/// Losing a snapshot: the WAL had to be emptied, and what this session read from stood in the way for too long.
extension Session {
    /// A client that reads on would see another state of the database in the middle of its transaction, so everything it
    /// asks for fails until it rolls back. Drivers know 40001 as "run the transaction again".
    static let snapshotTooOld = WireError(
        state: .serializationFailure, message: "snapshot too old",
        detail: "The WAL reached its limit, and this transaction's snapshot kept it from being emptied for longer than "
            + "gate_limit.",
        hint: "Run the transaction again; READ COMMITTED keeps no snapshot between statements.")

    /// Ends the snapshot of a session that waits for its client; the calling worker owns it. False: it has none, or a
    /// younger one.
    func endSnapshot(before: Instant, _ worker: Worker) -> Bool {
        self.worker = worker
        guard let readerIndex, pool.snapshotBegan(readerIndex) ?? Instant(nanoseconds: 0) < before else {
            disownAndArm()
            return false
        }
        guard isStatementActive else {
            loseSnapshot()
            disownAndArm()
            return true
        }
        // It stands in the middle of a result that the client does not take.
        _ = fail(snapshotError(.snapshotTooOld))
        loseSnapshot()
        settle(advance())
        return true
    }

    /// Gives the reader back, whatever stood on it. What is asked of the snapshot from here on is an error.
    func loseSnapshot() {
        guard readerIndex != nil, writerMode == .none else { return }
        if state.transaction.pinsSnapshot { state.transaction.hasLostSnapshot = true }
        for portal in [state.unnamedPortal].compactMap({ $0 }) + state.portals.values + [simplePortal]
        where portal.run?.isOnWriter == false {
            portal.hasLostSnapshot = true
            finish(portal)
        }
        releaseReader()
    }

    /// What a statement is told that was stopped for its snapshot's age.
    func snapshotError(_ reason: StopReason) -> WireError {
        state.transaction.pinsSnapshot ? Self.snapshotTooOld : ErrorTranslation.wireError(reason)
    }
}
