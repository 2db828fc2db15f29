import Scheduling

/// The WAL as it is now.
package struct WALStatus: Sendable {
    /// In the -wal since it last began anew.
    package var frames: Int
    /// Of these, those that checkpoints have copied into the database file.
    package var copiedFrames: Int
    /// A page and its header.
    package var frameBytes: Int
    /// wal_limit_bytes of the configuration.
    package var limitBytes: Int
    /// New reads wait for a checkpoint.
    package var isGateClosed: Bool
    /// How checkpoints ended since the start.
    package var checkpoints: CheckpointHistory
    /// The oldest snapshot that a client keeps: when it began and whose it is.
    package var oldestSnapshot: (began: Instant, client: ClientID)?
}
