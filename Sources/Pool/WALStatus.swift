import Scheduling

/// The WAL as it is now.
package struct WALStatus: Sendable {
    package var frames: Int
    package var copiedFrames: Int
    package var frameBytes: Int
    package var limitBytes: Int
    package var isGateClosed: Bool
    package var checkpoints: CheckpointHistory
    /// The oldest snapshot that a client keeps: when it began and whose it is.
    package var oldestSnapshot: (began: Instant, client: ClientID)?
}
