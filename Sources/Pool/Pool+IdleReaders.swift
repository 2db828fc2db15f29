import Scheduling
import Synchronization

/// Readers whose users wait for their clients: see ReaderQueue+Eviction.
///
/// Their users say so without the lock, since nobody looks unless somebody waits for a reader.
extension Pool {
    /// The user of this reader waits for its client from now on. Called by the thread that has the session.
    package func readerBecameIdle(_ index: Int) {
        slots[index].idleSince.store(MonotonicClock.now.nanoseconds, ordering: .relaxed)
    }

    /// It has heard from its client, or gives the reader back.
    package func readerBecameActive(_ index: Int) {
        slots[index].idleSince.store(0, ordering: .relaxed)
    }

    /// For how long this reader has been idle; nil when it is in use.
    package func readerIdleMilliseconds(_ index: Int, now: Instant) -> Int64? {
        let since = slots[index].idleSince.load(ordering: .relaxed)
        return since == 0 ? nil : now.milliseconds(since: Instant(nanoseconds: since))
    }

    func idleReaders(_ state: borrowing State) -> [IdleReader] {
        var idle: [IdleReader] = []
        for index in state.readerQueue.indexesInUse {
            let since = Instant(nanoseconds: slots[index].idleSince.load(ordering: .relaxed))
            guard since.nanoseconds > 0 else { continue }
            idle.append(
                IdleReader(
                    client: state.readerUsers[index], since: since, snapshotBegan: slots[index].snapshot.began ?? since))
        }
        return idle
    }

    /// When to look who is idle, for the first who waits. Others may have waited before, and given up.
    func firstLook(_ state: borrowing State, now: Instant) -> Instant {
        let idle = idleReaders(state)
        return state.readerQueue.userToEvict(among: idle, now: now) == nil ? state.readerQueue.nextLook(among: idle, now: now) : now
    }

    /// Where a client waits for a reader, and for whom, for the notice it is sent.
    package struct ReaderPlace: Sendable {
        package var place: Int
        package var limit: Int
        /// The WAL is being emptied, and no reader is handed out until that is done.
        package var isGateClosed: Bool
        /// The same, until the database has been opened again.
        package var isRecovering: Bool
        /// The one of them that is idle and has the oldest snapshot.
        package var oldestIdle: IdleReader?
    }

    /// nil when it waits for none.
    package func readerPlace(of client: ClientID) -> ReaderPlace? {
        state.withLock { state in
            state.readerQueue.place(of: client).map {
                ReaderPlace(
                    place: $0, limit: state.readerQueue.limit, isGateClosed: state.readerQueue.isGateClosed,
                    isRecovering: state.queuedJobs.contains(.recovery),
                    oldestIdle: idleReaders(state).min { $0.snapshotBegan < $1.snapshotBegan })
            }
        }
    }
}
