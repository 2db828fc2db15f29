/// What each kind means, for walpoold(8).
extension EventKind {
    /// A sentence, without its full stop.
    package var summary: String {
        switch self {
        case .started: "The daemon serves its database; what the administrator should know then"
        case .stopping: "A signal or a command asks the daemon to stop"
        case .stopped: "The daemon has stopped, and everything is closed"
        case .reloaded: "The configuration was read again, or a mistake in it was found and nothing has changed"
        case .paused: "New transactions wait, or go on"
        case .connected: "A session has begun"
        case .disconnected: "A session has ended"
        case .accessDenied: "Somebody was not let in"
        case .clientError: "A statement or a session ended with an error that log_client_errors names"
        case .slowStatement: "A statement took longer than log_min_duration_statement"
        case .slowGroup: "A group of transactions took longer than log_min_duration_statement until it was committed"
        case .lockWait: "A session has waited for the writer, or for a reader, for longer than log_lock_waits_after"
        case .lockWaitEnded: "Such a session has what it waited for"
        case .killed: "An administrator has ended a session by KILL"
        case .sessionEvicted:
            "A session was ended because it kept something from the others, for a timeout of its own, or for what is no message"
        case .snapshotsEnded: "Snapshots were ended that kept the WAL from being emptied"
        case .checkpoint: "A checkpoint was made"
        case .checkpointTrouble: "A checkpoint failed, or the WAL cannot be emptied"
        case .vacuum: "VACUUM begins, goes on, or is done"
        case .vacuumTrouble: "VACUUM failed, or it is not known when the last one was"
        case .backup: "A backup was made"
        case .backupTrouble: "A backup failed, or the rest of one was found"
        case .ioError: "The disk failed, or the database's file is not what it was"
        case .recovery: "The database was opened again after an I/O error, and what was found then"
        case .stuck: "The writer, or a sync of the WAL, does not get on, or does again"
        case .cannotGoOn: "The daemon cannot serve the database any more and ends with status 74"
        case .outsider: "Another process has the database locked, or keeps the WAL from being emptied"
        case .outOfDescriptors: "Connections wait, or fewer are let in than max_sessions says, because the process may not open more files"
        case .socketLost: "The socket's file was removed or replaced, and nobody finds the daemon any more"
        case .catalogQuery: "A client asked for a catalog of PostgreSQL's"
        case .linesLeftOut: "Lines were left out, because there were too many or their reader was too slow"
        }
    }
}
