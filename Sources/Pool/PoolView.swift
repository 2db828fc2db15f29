import Scheduling

/// The pool at one moment, for whoever looks at it from the console.
package struct PoolView: Sendable {
    /// Who has the writer.
    package var holder: WriterQueue.Holder
    /// Who waits for the writer, in order.
    package var writerQueue: [Waiter]
    /// Who waits for a reader, those who only want to prepare a statement last.
    package var readerQueue: [Waiter]
    /// Handed out now.
    package var readersInUse: Int
    /// Handed out at least once, so open.
    package var readersOpen: Int
    /// How many there may be: `readers` of the configuration.
    package var readersLimit: Int
    /// Since when the holder has the writer.
    package var holderSince: Instant
    /// Since when the holder has waited for another process that has the database locked; nil: it does not.
    package var outsiderWaitBegan: Instant?
    /// Who has which reader, by their indexes.
    package var readerUsers: [(index: Int, client: ClientID)]
    /// Of the connection that only prepares: whether it was ever used, and whether it is now.
    package var isPreparingConnectionOpen: Bool
    package var isPreparingConnectionInUse: Bool
    /// Whether an administrator holds new transactions back.
    package var pause: PoolPause

    /// The longest wait in any queue, or for another process.
    package func longestWaitMilliseconds(now: Instant) -> Int64 { longestWaitMicroseconds(now: now) / 1_000 }

    /// The same in microseconds.
    package func longestWaitMicroseconds(now: Instant) -> Int64 {
        let since = (writerQueue + readerQueue).map(\.since) + (outsiderWaitBegan.map { [$0] } ?? [])
        return since.reduce(0) { max($0, now.microseconds(since: $1)) }
    }
}

extension Pool {
    /// The pool as it is now. Takes the lock.
    package var view: PoolView {
        let outsiderWait = counters.outsiderWaitBegan.load(ordering: .relaxed)
        return state.withLock { state in
            PoolView(
                holder: state.writerQueue.holder, writerQueue: state.writerQueue.waiters,
                readerQueue: state.readerQueue.waiters + state.preparingQueue.waiters,
                readersInUse: state.readerQueue.inUseCount, readersOpen: state.readerQueue.usedCount,
                readersLimit: state.readerQueue.limit, holderSince: state.writerQueue.holderSince,
                outsiderWaitBegan: outsiderWait == 0 ? nil : Instant(nanoseconds: outsiderWait),
                readerUsers: state.readerQueue.indexesInUse.map { ($0, state.readerUsers[$0]) },
                isPreparingConnectionOpen: state.preparingQueue.usedCount > 0,
                isPreparingConnectionInUse: state.preparingQueue.inUseCount > 0,
                pause: state.pause)
        }
    }

    /// How long the WAL is, and what keeps it so. Takes the lock.
    package var walStatus: WALStatus {
        state.withLock { state in
            let snapshots = state.readerQueue.indexesInUse.compactMap { index in
                slots[index].snapshot.began.map { (began: $0, client: state.readerUsers[index]) }
            }
            return WALStatus(
                frames: state.walFrames.all, copiedFrames: state.walFrames.copied, frameBytes: frameBytes,
                limitBytes: changeable.walLimitBytes.load(ordering: .relaxed), isGateClosed: state.readerQueue.isGateClosed,
                checkpoints: state.checkpoints, oldestSnapshot: snapshots.min { $0.began < $1.began })
        }
    }
}

// MARK: Snapshots

/// A snapshot that is kept open, and so keeps the WAL from being emptied.
package struct SnapshotView: Sendable {
    /// Since when it is kept.
    package var began: Instant
    /// nil: a backup's.
    package var client: ClientID?
}

extension Pool {
    /// Those that clients have, and a backup's. What idle readers keep is ended before every checkpoint, so it is none.
    package var snapshots: [SnapshotView] {
        let ofClients = state.withLock { state in
            state.readerQueue.indexesInUse.compactMap { index in
                slots[index].snapshot.began.map { SnapshotView(began: $0, client: state.readerUsers[index]) }
            }
        }
        return ofClients + (backups.snapshots.began.map { [SnapshotView(began: $0)] } ?? [])
    }
}
