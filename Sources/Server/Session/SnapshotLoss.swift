/// Why a session's snapshot was ended before its transaction was.
enum SnapshotLoss {
    /// The WAL had to be emptied, and the snapshot stood in the way for longer than `gate_limit`.
    case walLimit
    /// Its reader was idle for longer than `writer_idle_limit` while somebody waited for one.
    case idleReader
}
