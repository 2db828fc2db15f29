import DequeModule

/// A pause: transactions that have begun go on to their end, and what is new waits until the pause is over.
///
/// "Each server connection … waits for that server connection to be released" is how PgBouncer's PAUSE does it
/// (https://www.pgbouncer.org/usage.html). A client that is held back keeps its place: a pause changes who is granted now and
/// never the order of those who are held back. The daemon's own jobs pass, since nobody's statement is in them and the
/// administrator who pauses may want a checkpoint.
extension WriterQueue {
    /// From now on only those are granted the writer who pass; the holder keeps it to the end of its transaction.
    public mutating func pause(now: Instant) {
        // PAUSE waits for the holder, too.
        if !isContended { contention.begins(now: now) }
        isPaused = true
    }

    /// Returns who is granted the writer, if it is free and somebody waits.
    public mutating func resume(now: Instant) -> Grant? {
        if isPaused, waiting.isEmpty { contention.wasGivenUp(now: now) }
        isPaused = false
        return holder == .nobody ? release(now: now) : nil
    }

    /// Gives those who are held back, or were until now, other deadlines.
    public mutating func changeDeadlinesOfHeldBack(_ deadline: (ClientID) -> Instant) {
        for index in waiting.indices where !waiting[index].passesPause {
            waiting[index].deadline = deadline(waiting[index].client)
        }
    }
}
