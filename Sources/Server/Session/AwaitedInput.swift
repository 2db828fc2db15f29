import Scheduling

/// What a session waits for its client to do, and until when.
struct AwaitedInput {
    enum Reason { case nothing, startup, idleInTransaction, clientWrite, copyData }

    var reason = Reason.startup
    /// When the wait is over, for whoever owns the session; `Session.deadline` may be earlier, when somebody asks the timer to look.
    var until = Instant.distantFuture
    /// Whether what has come since was enough for the wait to begin anew.
    var activity = InputActivity()
}
