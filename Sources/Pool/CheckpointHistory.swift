import SQLite
import Scheduling

/// What is remembered of checkpoints, for the console and the log.
package struct CheckpointHistory: Sendable {
    /// How a checkpoint ended.
    package struct Outcome: Sendable {
        package var mode: CheckpointPolicy.Mode
        /// Frames that were in the WAL and how many of them are in the database file now; both 0 once it is empty.
        package var frames: Int
        package var copiedFrames: Int
        /// Somebody was in the way.
        package var isBusy: Bool
        /// How long it took.
        package var milliseconds: Int64
        package var ended: Instant

        /// Everything is in the database file now.
        package var isComplete: Bool { !isBusy && frames == copiedFrames }
    }

    /// nil: none since the start.
    package var last: Outcome?
    /// Why the last attempt failed, if it did.
    package var lastError: SQLiteError?
    package var completed = 0
    /// Those that left frames, because somebody reads or writes.
    package var incomplete = 0
    package var failed = 0
    /// How often new reads had to wait.
    package var gateClosings = 0
    /// Snapshots and statements that were ended because the gate would not wait longer.
    package var snapshotsEnded = 0

    /// However they ended.
    package var attempts: Int { completed + incomplete + failed }

    mutating func record(_ outcome: Outcome) {
        last = outcome
        lastError = nil
        if outcome.isComplete { completed += 1 } else { incomplete += 1 }
        if outcome.mode == .gate { gateClosings += 1 }
    }

    mutating func record(_ error: SQLiteError) {
        lastError = error
        failed += 1
    }
}
