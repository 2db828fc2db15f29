import Journal
import Logging
import SQLite
import Scheduling

/// The owner of upkeep's statements, whom they ask whether to go on: upkeep ends when the daemon does, and waits for others only a
/// moment, because every writer waits for it.
final class MaintenanceOwner: StatementOwner {
    private let maintenance: Maintenance
    private let writer: Writer
    private let began: Instant
    private let writtenBefore: Int
    private var nextReport: Instant
    private var nextLogLine: Instant
    /// When its first wait began; nil: it has not waited.
    private var waitBegan: Instant?
    /// Pages of the copy; 0 when there is none.
    var expectedPages = 0

    /// How long a reader or another process is waited for.
    static let patienceMilliseconds: Int64 = 250
    private static let reportMilliseconds: Int64 = 500
    private static let logMilliseconds: Int64 = 10_000

    init(maintenance: Maintenance, writer: Writer, began: Instant) {
        self.maintenance = maintenance
        self.writer = writer
        self.began = began
        writtenBefore = writer.connection.pagesWritten
        nextReport = began.advanced(byMilliseconds: Self.reportMilliseconds)
        nextLogLine = began.advanced(byMilliseconds: Self.logMilliseconds)
    }

    func reasonToStop(now: Instant) -> StopReason? {
        if maintenance.mustStop { return .shutdown }
        if now >= nextReport { report(now) }
        return nil
    }

    func reasonToStopWaiting(now: Instant) -> StopReason? {
        if maintenance.mustStop { return .shutdown }
        let waitBegan = waitBegan ?? now
        self.waitBegan = waitBegan
        return now.milliseconds(since: waitBegan) >= Self.patienceMilliseconds ? .lockTimeout : nil
    }

    /// The thread has said so before it took the job.
    func willBeLong() {}

    /// What SQLite has written so far is nearly all into the temporary copy, each page once.
    private func report(_ now: Instant) {
        nextReport = now.advanced(byMilliseconds: Self.reportMilliseconds)
        guard expectedPages > 0 else { return }
        let percent = min(100, (writer.connection.pagesWritten - writtenBefore) * 100 / expectedPages)
        maintenance.state.withLock { $0.run?.copiedPercent = percent }
        guard now >= nextLogLine else { return }
        nextLogLine = now.advanced(byMilliseconds: Self.logMilliseconds)
        maintenance.log.notice(
            .vacuum, "VACUUM goes on", metadata: ["copied": "\(percent) %", "seconds": "\(now.milliseconds(since: began) / 1000)"])
    }
}
