import Journal
import Logging
import Pool
import PostgresWire
import Scheduling

/// Losing a snapshot: others need what stands in its way.
extension Session {
    /// A client that reads on would see another state of the database in the middle of its transaction, so everything it
    /// asks for fails until it rolls back. Drivers know 40001 as "run the transaction again".
    func snapshotError(_ loss: SnapshotLoss) -> WireError {
        switch loss {
        case .walLimit:
            WireError(
                state: .serializationFailure, message: "snapshot too old",
                detail: "The WAL reached its limit, and this transaction's snapshot kept it from being emptied for longer than "
                    + "gate_limit.",
                hint: "Run the transaction again; READ COMMITTED keeps no snapshot between statements.")
        case .idleReader:
            WireError(
                state: .serializationFailure,
                message: "the snapshot was ended: it kept a reader idle while others waited for one",
                detail: "writer_idle_limit, which is \(pool.writerIdleMilliseconds) ms, is for readers too.",
                hint: "Run the transaction again without pausing between its statements; READ COMMITTED without a cursor "
                    + "keeps no reader between statements.")
        }
    }

    /// What a statement is told that was stopped because of it.
    func stopError(forLoss loss: SnapshotLoss) -> WireError {
        loss == .idleReader || state.transaction.pinsSnapshot
            ? snapshotError(loss) : ErrorTranslation.wireError(.snapshotTooOld)
    }

    /// Ends the snapshot of a session that waits for its client; the calling worker owns it. False: it has none, or a
    /// younger one.
    func endSnapshot(before: Instant, _ worker: Worker) -> Bool {
        self.worker = worker
        guard let readerIndex, pool.snapshotBegan(readerIndex) ?? Instant(nanoseconds: 0) < before else {
            disownAndArm()
            return false
        }
        endSnapshot(.walLimit)
        return true
    }

    /// It keeps a reader idle, and somebody has waited for one too long; the calling worker owns it.
    func evictFromReader(_ worker: Worker, now: Instant) {
        self.worker = worker
        let limit = pool.writerIdleMilliseconds
        // It may have gone on since the timer's thread looked.
        guard limit > 0, let readerIndex, let idle = pool.readerIdleMilliseconds(readerIndex, now: now), idle >= limit
        else { return disownAndArm() }
        server.metrics.readerEvictions.wrappingAdd(1, ordering: .relaxed)
        if admitsLine(.snapshotsEnded, now: now) {
            var metadata = identity
            metadata["idle"] = .stringConvertible(LoggedDuration(nanoseconds: idle * 1_000_000))
            eventLog.log.notice(
                .snapshotsEnded, "a snapshot was ended that kept a reader idle while others waited", metadata: metadata)
        }
        endSnapshot(.idleReader)
    }

    private func endSnapshot(_ loss: SnapshotLoss) {
        // A COPY that has the writer, or pins nothing, does not need what a cursor beside it stands on.
        let copiesElsewhere = isCopyingIn && (writerMode == .lease || !state.transaction.pinsSnapshot)
        guard running.isActive, !copiesElsewhere else {
            loseSnapshot(loss)
            return disownAndArm()
        }
        // It stands in the middle of a result that the client does not take.
        _ = fail(stopError(forLoss: loss))
        loseSnapshot(loss)
        settle(advance())
    }

    /// Gives the reader back, whatever stood on it. What is asked of the snapshot from here on is an error.
    func loseSnapshot(_ loss: SnapshotLoss) {
        guard readerIndex != nil else { return }
        // A session that has the writer reads there, and of the snapshot it has left what cursors stand on.
        if state.transaction.pinsSnapshot, writerMode == .none { state.transaction.snapshotLoss = loss }
        for portal in [state.unnamedPortal].compactMap({ $0 }) + state.portals.values + [simplePortal]
        where portal.run?.isOnWriter == false {
            portal.snapshotLoss = loss
            finish(portal)
        }
        releaseReader()
    }
}
