import CSystemd
import Glibc
import Journal
import Logging
import POSIX
import Pool
import Scheduling
import Server

/// What the service manager is told, and when its watchdog is pinged: sd_notify(3). Without a service manager (no
/// NOTIFY_SOCKET) nothing is sent.
final class ServiceNotifications: Sendable {
    let isWanted: Bool
    /// After how long without a ping the service manager takes the daemon for dead; nil: never.
    private let watchdogMilliseconds: Int64?
    private let name: String
    private let log: Logger

    private struct Told {
        /// The last one that was reported; empty: something else was told since.
        var status = ""
        /// Where it is stuck, if it is.
        var stuckAt: ProgressCheck.Place?
        /// The configuration file is one that the next start would not take.
        var hasRefusedFile = false
    }
    private let told = Locked(Told())

    /// How long the writer may get nowhere where the service manager has no opinion of its own; only the status says so then.
    private static let usualSilenceMilliseconds: Int64 = 30_000

    init(databaseName: String, log: Logger) {
        isWanted = getenv("NOTIFY_SOCKET") != nil
        var microseconds: UInt64 = 0
        let hasWatchdog = sd_watchdog_enabled(0, &microseconds) > 0
        watchdogMilliseconds = hasWatchdog && isWanted ? max(1, Int64(clamping: microseconds / 1000)) : nil
        name = databaseName
        self.log = log
    }

    private func send(_ message: String) { sd_notify(0, message) }

    // MARK: From start to stop

    func ready(_ status: String) { send("READY=1\nSTATUS=\(status)") }

    /// `MONOTONIC_USEC` is what Type=notify-reload asks for, from systemd 253 on; others skip it.
    func reloading() {
        send("RELOADING=1\nMONOTONIC_USEC=\(MonotonicClock.now.nanoseconds / 1000)\nSTATUS=reading the configuration")
    }

    /// - Parameter outcome: what came of it, until the next report. That the file was refused is said until one is taken.
    func reloaded(_ outcome: String, isRefused: Bool = false) {
        ready(outcome)
        // After it was sent, so that the next report follows whatever it says.
        told.withLock { told in
            told.status = ""
            told.hasRefusedFile = isRefused
        }
    }

    func stopping() { send("STOPPING=1\nSTATUS=stopping") }

    func cannotStart(_ why: String) { send("STATUS=cannot start: \(why)") }

    /// What goes on takes longer than usual, and gets on.
    func extendTimeout(byMilliseconds milliseconds: Int64) { send("EXTEND_TIMEOUT_USEC=\(milliseconds * 1000)") }

    // MARK: The socket

    /// Has the listening socket kept across a restart.
    func keep(_ sockets: [Int32]) {
        guard isWanted else { return }
        _ = sd_pid_notify_with_fds(
            0, 0, "FDSTORE=1\nFDNAME=\(ServiceSockets.keptName)", sockets, UInt32(sockets.count))
    }

    func forgetKeptSocket() { send("FDSTOREREMOVE=1\nFDNAME=\(ServiceSockets.keptName)") }

    // MARK: How things are

    /// nil when nobody wants to know.
    var reports: ServiceReports? {
        guard isWanted else { return nil }
        return ServiceReports(
            // "… it is recommended to send … every half of the time returned here": sd_watchdog_enabled(3).
            pingMilliseconds: watchdogMilliseconds.map { max(1, $0 / 2) },
            // A disk that is silent for this long has another such time until the service manager acts.
            silenceMilliseconds: watchdogMilliseconds ?? Self.usualSilenceMilliseconds,
            receive: { [self] in report($0) })
    }

    private func report(_ report: ServerReport) {
        let state = Self.status(name, report)
        let stuckAt: ProgressCheck.Place? = if case .stuck(let place, _) = report.finding { place } else { nil }
        let (status, isNews, before) = told.withLock { told in
            let before = told
            let status = before.hasRefusedFile ? "\(state); the configuration file is refused, see the log" : state
            (told.status, told.stuckAt) = (status, stuckAt)
            return (status, before.status != status, before.stuckAt)
        }
        var lines: [String] = []
        if watchdogMilliseconds != nil, stuckAt == nil { lines.append("WATCHDOG=1") }
        if isNews { lines.append("STATUS=\(status)") }
        if !lines.isEmpty { send(lines.joined(separator: "\n")) }
        if stuckAt != nil, before == nil {
            let end = watchdogMilliseconds == nil ? "" : ": the watchdog is pinged no more until it gets on"
            log.critical(.stuck, "\(state)\(end)")
        } else if let before, stuckAt == nil {
            log.notice(.stuck, "\(Self.words(before)) gets on again")
        }
    }

    static func status(_ name: String, _ report: ServerReport) -> String {
        if case .stuck(let place, let milliseconds) = report.finding {
            return "\(words(place)) is stuck for \(milliseconds / 1000) s, \(report.waitingForWriter) wait for the writer"
        }
        var parts = ["\(name): \(report.sessions) sessions"]
        if report.isPaused { parts.append("PAUSED until RESUME") }
        if report.waitingForWriter > 0 { parts.append("\(report.waitingForWriter) wait for the writer") }
        if report.waitingForReader > 0 { parts.append("\(report.waitingForReader) wait for a reader") }
        parts.append("WAL \(tenths(report.walBytes)) MB")
        if report.isVacuuming { parts.append("VACUUM runs") }
        return parts.joined(separator: ", ")
    }

    private static func words(_ place: ProgressCheck.Place) -> String {
        switch place {
        case .writer: "the writer"
        case .sync: "a sync of the WAL"
        }
    }

    /// Megabytes with one decimal, so that not every commit is news.
    private static func tenths(_ bytes: Int) -> String {
        let tenths = (bytes + 50_000) / 100_000
        return "\(tenths / 10).\(tenths % 10)"
    }
}
