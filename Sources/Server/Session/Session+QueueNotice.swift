import Glibc
import Pool
import PostgresWire
import Scheduling
import Synchronization

/// Telling a client that it waits for the writer or for a reader, for whom, and at which place.
///
/// A parked session belongs to nobody, and the thread that tells its client must not meet the one that resumes it: so
/// whoever resumes waits out a notice being sent, which takes some microseconds.
extension Session {
    /// Who may touch the session's output.
    enum Parking: UInt8, AtomicRepresentable {
        /// Parked, or about to be: a notice may be sent.
        case open
        case notifying
        /// A thread runs the session.
        case closed
    }

    /// Before the request that may park the session.
    func openParking(now: Instant) {
        let delay = state.settings.queueNoticeMilliseconds
        let notice = delay > 0 ? now.advanced(byMilliseconds: delay) : nil
        let report = eventLog.lockWaitReport(now: now)
        guard notice != nil || report != nil else { return }
        lockWait.began = now
        lockWait.isLogged = false
        parked.noticeAt.store(notice?.nanoseconds ?? .max, ordering: .sequentiallyConsistent)
        parked.reportAt.store(report?.nanoseconds ?? .max, ordering: .sequentiallyConsistent)
        parked.state.store(.open, ordering: .sequentiallyConsistent)
        server.deadlines.announce(min(notice ?? .distantFuture, report ?? .distantFuture))
    }

    /// A thread has the session again, or never let go of it.
    func closeParking() {
        while true {
            let (exchanged, original) = parked.state.compareExchange(
                expected: .open, desired: .closed, ordering: .acquiringAndReleasing)
            if exchanged || original == .closed { break }
            sched_yield()
        }
        parked.noticeAt.store(.max, ordering: .relaxed)
        parked.reportAt.store(.max, ordering: .relaxed)
        parked.snapshotBegan.store(0, ordering: .relaxed)
    }

    /// The timer's thread: tells the client or the log, whichever is due, if the session is still parked.
    func notifyQueued(now: Instant) {
        let (exchanged, _) = parked.state.compareExchange(
            expected: .open, desired: .notifying, ordering: .acquiringAndReleasing)
        guard exchanged else { return }
        defer { parked.state.store(.open, ordering: .releasing) }
        if parked.reportAt.load(ordering: .relaxed) <= now.nanoseconds {
            parked.reportAt.store(.max, ordering: .relaxed)
            logLockWait(now: now)
        }
        guard parked.noticeAt.load(ordering: .relaxed) <= now.nanoseconds else { return }
        parked.noticeAt.store(.max, ordering: .relaxed)
        if let (what, place, detail) = describeWait() {
            out.notice(
                WireError(
                    severity: .notice, state: .successfulCompletion,
                    message: "waiting for \(what) at place \(place) of its queue",
                    detail: pool.isPausingNow ? "The database is paused." : detail,
                    hint: "SET lock_timeout limits the wait; the statement can be cancelled."))
            // What the socket does not take now goes out with the reply. It is not counted: the counters, and the mark, are
            // those of the thread that parked the session.
            let owned = (counters, socketMark)
            (counters, socketMark) = (nil, nil)
            _ = flush()
            (counters, socketMark) = owned
        }
    }

    private func describeWait() -> (what: String, place: Int, detail: String)? {
        let now = MonotonicClock.now
        if let (place, holder) = pool.queuePlace(of: clientID) { return ("the writer", place, Self.describe(holder, now: now)) }
        return pool.readerPlace(of: clientID).map { ("a reader", $0.place, Self.describe($0, now: now)) }
    }

    private static func describe(_ place: Pool.ReaderPlace, now: Instant) -> String {
        if place.isGateClosed, place.isRecovering { return "The database is being opened again after an error." }
        if place.isGateClosed { return "The WAL is being emptied, and no reader is handed out until that is done." }
        let all = "All readers are in use, \(place.limit) of them."
        return place.oldestIdle.map {
            all + " The oldest snapshot of the idle ones is process \($0.client)'s, idle for \(now.milliseconds(since: $0.since)) ms."
        } ?? all
    }

    private static func describe(_ holder: WriterQueue.Holder, now: Instant) -> String {
        switch holder {
        case .transaction(let client, let since, let idleSince):
            let idle = idleSince.map { ", idle for \(now.milliseconds(since: $0)) ms" } ?? ""
            return "Process \(client) has held it for \(now.milliseconds(since: since)) ms\(idle)."
        case .group: return "A group of transactions is being committed, or another process has the database locked."
        case .job(let id):
            switch WriterJob(client: id) {
            case .checkpoint: return "A checkpoint has it."
            case .maintenance: return "VACUUM has it."
            case .recovery: return "It is being opened again after an error."
            case .housekeeping: return "It is being looked after for a moment."
            case nil: return "Upkeep has it."
            }
        case .nobody: return "It is about to be passed on."
        }
    }
}
