import PostgresWire
import Scheduling

/// The statement that a session is at: how long it may take, and what came up while it ran.
struct RunningStatement {
    /// It has begun, and its time goes on.
    var isActive = false
    /// statement_timeout is over then.
    var deadline = Instant.distantFuture
    /// lock_timeout is over then.
    var lockDeadline = Instant.distantFuture
    /// It says NOWAIT.
    var isImpatient = false
    /// A cancel came for a statement that had done all it had to, and more of its message or pipeline follow.
    var wasCancelled = false
    /// When the client's socket is looked at next; 0 before the first time.
    var nextLookAtClient = Instant(nanoseconds: 0)
    /// See `Session.takeErrorOfFunction`.
    var errorOfFunction: WireError?
    /// What a function has set that the client is told of.
    var settingsToReport: [String] = []
    /// See Logging/Session+SlowStatement.
    var times = StatementTimes()
    /// To be logged when the reply has gone out.
    var slow: SlowStatement?
}
