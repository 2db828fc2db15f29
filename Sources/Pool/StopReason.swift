/// Why a running or waiting statement must end.
package enum StopReason: CaseIterable, Equatable, Sendable {
    /// Its client has asked for it.
    case cancelled
    /// It has run for as long as statement_timeout says.
    case statementTimeout
    /// Its transaction has, by transaction_timeout.
    case transactionTimeout
    /// It has had the writer for as long as it may.
    case writerTimeLimit
    /// It has waited for as long as it may: by lock_timeout, or by the patience of a job of the daemon's own.
    case lockTimeout
    /// The daemon ends, or an administrator ends the session.
    case shutdown
    /// Its snapshot keeps the WAL from being emptied, and has done so beyond `gate_limit`.
    case snapshotTooOld
    /// It is a member of a group, not the first, and ran on for longer than those before it are to wait: it runs again, and its
    /// client hears nothing of it. See `GroupCommit`.
    case groupTimeLimit
    /// The client is gone, so nobody wants the result.
    case disconnected
}

extension StopReason {
    /// For a log, of work that is no statement's.
    var words: String {
        switch self {
        case .cancelled: "it was canceled"
        case .statementTimeout: "statement_timeout was over"
        case .transactionTimeout: "transaction_timeout was over"
        case .writerTimeLimit: "writer_time_limit was over"
        case .lockTimeout: "it waited for a lock for too long"
        case .shutdown: "the daemon stops, or an administrator has ended the session"
        case .snapshotTooOld: "its snapshot kept the WAL from being emptied"
        case .groupTimeLimit: "others of its group were not to wait for it"
        case .disconnected: "the client has gone"
        }
    }
}
