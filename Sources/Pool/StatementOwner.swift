import SQLite
import Scheduling

/// What a statement runs for, a session or a job: asked now and then whether to go on.
package protocol StatementOwner: AnyObject {
    /// The reason to stop the running statement now, or nil.
    func reasonToStop(now: Instant) -> StopReason?
    /// The reason to stop waiting for a lock now, or nil.
    func reasonToStopWaiting(now: Instant) -> StopReason?
    /// Whether nobody wants the result any more: a client that is gone must keep neither a reader nor the writer. Asked
    /// by the thread that runs the statement, with no lock held; it may make a system call now and then.
    func isClientGone(now: Instant) -> Bool
    /// What functions like current_user() answer.
    var facts: SessionFacts? { get }
    /// The statement has run for a thousand steps.
    func hasRunForAWhile()
    /// The thread is about to be long (past a millisecond of work, or waiting for another process).
    func willBeLong()
}

extension StatementOwner {
    /// Work of the daemon's own has no client to lose.
    package func isClientGone(now: Instant) -> Bool { false }
    package var facts: SessionFacts? { nil }
    package func hasRunForAWhile() {}
}
