import POSIX
import Scheduling

/// The part of the exclusive gate that is about backups: none opens the database while the gate is closed, and the gate
/// can tell whether one still has it open.
final class BackupSnapshots: Sendable {
    private let state = Locked((isClosed: false, began: Instant?.none))

    /// Since when a backup has its snapshot.
    var began: Instant? { state.withLock { $0.began } }
    var areGone: Bool { began == nil }

    /// A backup is about to open the database. False: the gate is closed.
    func begin(_ now: Instant) -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.began = now
            return true
        }
    }

    /// Its connection is closed.
    func end() { state.withLock { $0.began = nil } }

    func close() { state.withLock { $0.isClosed = true } }
    func open() { state.withLock { $0.isClosed = false } }
}
