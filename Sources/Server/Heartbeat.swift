import CLinux
import POSIX
import Pool
import Scheduling

/// How the daemon tells a service manager how it is.
package struct ServiceReports: Sendable {
    /// How often the watchdog wants to hear that all is well; nil: there is none.
    package var pingMilliseconds: Int64?
    /// Silence longer than this is no progress: see ProgressCheck.
    package var silenceMilliseconds: Int64
    /// Called by a thread of the crew.
    package var receive: @Sendable (ServerReport) -> Void

    package init(pingMilliseconds: Int64?, silenceMilliseconds: Int64, receive: @escaping @Sendable (ServerReport) -> Void) {
        self.pingMilliseconds = pingMilliseconds
        self.silenceMilliseconds = silenceMilliseconds
        self.receive = receive
    }
}

/// The server at one moment, in a few numbers.
package struct ServerReport: Sendable {
    /// Those that are connected, starting ones among them.
    package var sessions: Int
    package var waitingForWriter: Int
    package var waitingForReader: Int
    /// Of the WAL's frames, those that have been copied back among them.
    package var walBytes: Int
    package var isVacuuming: Bool
    /// An administrator holds new transactions back, or is about to.
    package var isPaused: Bool
    /// Whether the writer gets on. That the crew does, is proved by the report.
    package var finding: ProgressCheck.Finding
}

/// Looks now and then how things are, and reports it.
///
/// A look is an event like any other: a thread of the crew has to wait for events to receive it. So when every one of them is
/// stuck there is no look and no ping, and nothing needs to be counted for that.
///
/// Between the watchdog's pings there are looks only while something happens, so an idle daemon stays asleep.
final class Heartbeat: Sendable {
    private let reports: ServiceReports
    private struct State {
        var check: ProgressCheck
        var eventsSeen = 0
    }
    private let state: Locked<State>
    private let next = NextLook()

    /// How old what is reported may become while something happens.
    private static let busyMilliseconds: Int64 = 5_000

    init(_ reports: ServiceReports) {
        self.reports = reports
        state = Locked(State(check: ProgressCheck(silenceMilliseconds: reports.silenceMilliseconds)))
    }

    var nextLook: Instant { next.instant }

    /// True for one of the threads that ask when a look is due; it has to look.
    func isDue(_ now: Instant) -> Bool { next.takeIfDue(now) }

    /// The server starts, or has been idle and something happens again. Returns when to look at it, if that is news.
    func somethingHappens(_ now: Instant) -> Instant? {
        let soon = now.advanced(byMilliseconds: min(Self.busyMilliseconds, reports.pingMilliseconds ?? .max))
        return next.bringForward(to: soon) ? soon : nil
    }

    /// Looks, and returns when to look again.
    func look(at server: Server, now: Instant) -> Instant {
        let events = server.crew.watch.eventCount
        let work = server.pool.work
        let activities = ProgressCheck.Activities(
            writer: activity(work.writer != .resting, work.atWriter, server), isJob: work.writer == .job,
            sync: activity(work.atSync.thread != nil, work.atSync, server))
        let (finding, isBusy) = state.withLock { state in
            // One is this look's own.
            let isBusy = events &- state.eventsSeen > 1
            state.eventsSeen = events
            return (state.check.look(activities, at: now), isBusy)
        }
        reports.receive(report(of: server, finding))
        var wait = reports.pingMilliseconds ?? .max
        if isBusy { wait = min(wait, Self.busyMilliseconds) }
        let at = now.advanced(byMilliseconds: wait)
        // Something may have happened meanwhile, and wants a look sooner.
        return next.bringForward(to: at) ? at : next.instant
    }

    private func activity(
        _ isActive: Bool, _ work: (changes: Int, thread: UInt?), _ server: Server
    ) -> ProgressCheck.Activity {
        guard isActive else { return .resting }
        guard let thread = work.thread else { return .granted(change: work.changes) }
        // No thread of the crew: it is the one that stops the server.
        guard let used = server.crew.watch.processorNanoseconds(ofThread: thread) else { return .resting }
        return .working(change: work.changes, processorNanoseconds: used)
    }

    private func report(of server: Server, _ finding: ProgressCheck.Finding) -> ServerReport {
        let load = server.pool.load
        let wal = server.pool.walStatus
        var isVacuuming = false
        if case .running = server.pool.maintenanceStatus.activity { isVacuuming = true }
        return ServerReport(
            sessions: server.table.count, waitingForWriter: load.waitingWriters, waitingForReader: load.waitingReaders,
            walBytes: wal.frames * wal.frameBytes, isVacuuming: isVacuuming, isPaused: server.pool.isPausingNow,
            finding: finding)
    }
}

extension Server {
    /// Does a look that is due. The timer must have been set for everything else: a report may have to wait for the
    /// service manager.
    func beat(_ now: Instant) {
        guard let heartbeat, heartbeat.isDue(now), !stopping.hasBegun.load(ordering: .relaxed) else { return }
        deadlines.announce(heartbeat.look(at: self, now: now))
    }
}
