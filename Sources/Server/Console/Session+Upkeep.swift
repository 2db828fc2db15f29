import Pool
import PostgresWire
import Scheduling

/// CHECKPOINT and VACUUM: jobs of the daemon's own that an administrator wants now.
extension Session {
    /// Waits until one has been tried, and says what came of it. An administrator who no longer wants to wait takes nothing back:
    /// the job stays in the queue.
    func awaitCheckpoint() throws(WireError) {
        let before = pool.walStatus.checkpoints.attempts
        try poll {
            guard pool.walStatus.checkpoints.attempts == before else { return true }
            // Again and again: a job that was at its end when this began was not this one's, and is in the queue no more.
            if let job = pool.requestCheckpoint() { server.ready.enqueue(job) }
            return false
        }
        let checkpoints = pool.walStatus.checkpoints
        if let error = checkpoints.lastError { throw ErrorTranslation.wireError(error) }
        guard let outcome = checkpoints.last else { return }
        tell("checkpoint (\(outcome.mode)): \(Server.describe(outcome)), \(outcome.milliseconds) ms")
    }

    /// Not waited for: it takes minutes where it is worth anything, and a client that goes away must not end it.
    func requestMaintenance() {
        if let job = pool.requestMaintenance(now: MonotonicClock.now) { server.ready.enqueue(job) }
        tell("upkeep was asked for", hint: "SHOW MAINTENANCE says how it goes.")
    }
}
