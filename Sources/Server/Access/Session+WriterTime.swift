import Pool
import PostgresWire
import Scheduling

/// How long a session may have the writer at a stretch: its access rule's limit, which no SET prolongs.
///
/// The other timeouts bound a statement or an idle moment, and a client may set most of them itself. This one bounds what
/// everybody else who writes waits for, whatever the client does meanwhile: one long statement, thousands of short ones, or
/// nothing.
extension Session {
    /// The writer is this session's from now on.
    @inline(__always)
    func beginWriterTime() {
        let limit = access.limits.writerTimeLimitMilliseconds
        if limit > 0 { writerDeadline = MonotonicClock.now.advanced(byMilliseconds: limit) }
    }

    /// Before each statement on the writer: short ones never come to the progress handler.
    @inline(__always)
    func requireWriterTime() throws(WireError) {
        // The statement before this one has read the clock.
        if writerMode == .group, !member.isSingleStatement, let counters,
            pool.writer.stopsMember(now: Instant(nanoseconds: Int64(counters.mark)))
        {
            throw ErrorTranslation.wireError(.groupTimeLimit)
        }
        guard writerDeadline < .distantFuture, MonotonicClock.now >= writerDeadline else { return }
        throw writerTimeError
    }

    /// A block ends with its session: after an error it could keep the writer for its savepoints. A statement without a
    /// block gives the writer up by failing.
    var writerTimeError: WireError {
        var error = ErrorTranslation.wireError(.writerTimeLimit)
        guard !state.transaction.isExplicit else { return error }
        error.severity = .error
        error.state = .queryCanceled
        error.message = "canceling statement because it has had the writer for too long"
        return error
    }

    /// When the transaction is over whatever happens.
    var blockDeadline: Instant { min(state.transaction.deadline, writerDeadline) }
}
