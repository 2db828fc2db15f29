import SQLite
import Scheduling

/// What is remembered of checkpoints, for the console and the log.
public struct CheckpointHistory: Sendable {
    /// How a checkpoint ended.
    public struct Outcome: Sendable {
        public var mode: CheckpointPolicy.Mode
        /// Frames that were in the WAL and how many of them are in the database file now; both 0 once it is empty.
        public var frames: Int
        public var copiedFrames: Int
        /// Somebody was in the way.
        public var isBusy: Bool
        public var milliseconds: Int64
        public var ended: Instant

        public var isComplete: Bool { !isBusy && frames == copiedFrames }
    }

    public var last: Outcome?
    /// Why the last attempt failed, if it did.
    public var lastError: SQLiteError?
    public var completed = 0
    public var incomplete = 0
    public var failed = 0
    /// How often new reads had to wait.
    public var gateClosings = 0
    /// Snapshots and statements that were ended because the gate would not wait longer.
    public var snapshotsEnded = 0

    public var attempts: Int { completed + incomplete + failed }

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

/// The WAL as it is now.
public struct WALStatus: Sendable {
    public var frames: Int
    public var copiedFrames: Int
    public var frameBytes: Int
    public var limitBytes: Int
    public var isGateClosed: Bool
    public var checkpoints: CheckpointHistory
    /// The oldest snapshot that a client keeps: when it began and whose it is.
    public var oldestSnapshot: (began: Instant, client: ClientID)?
}
