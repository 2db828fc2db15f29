import Glibc
import Journal
import Logging
import POSIX
import Scheduling
import Synchronization

/// When VACUUM is due, what is being done about it, and how the last one went: `MaintenanceSchedule` with its file, the
/// system's clocks and the log around it.
///
/// The job itself runs on whoever holds the writer (`Pool+Maintenance`); everybody else only looks.
final class Maintenance: Sendable {
    /// What the next job does.
    enum Step: Equatable {
        /// Look whether it is worth it and possible, and then do it.
        case vacuum
        /// Slices of free pages of an incremental database that are still to be freed, the next one included.
        case slices(left: Int)
        /// Make the file as short as the database is.
        case emptyWAL
    }

    /// One VACUUM, from its beginning until the file has shrunk.
    struct Run {
        var began: Instant
        var before: Vacuum.Size
        var copiedPercent: Int?
    }

    struct State {
        var schedule: MaintenanceSchedule
        var decision = MaintenanceSchedule.Decision.wait(.off)
        var step: Step?
        var isJobQueued = false
        /// An administrator asked for it: neither the interval nor the free pages matter.
        var isRequested = false
        /// The VACUUM that runs, or ran last, was one that an administrator asked for.
        var wasRequested = false
        var run: Run?
        var nextLook = Instant(nanoseconds: 0)
        var emptyWALAttempts = 0
    }

    /// Between two attempts to empty the WAL after a VACUUM, when a long reader stands in the way; doubled each time.
    static let shortestRetryMilliseconds: Int64 = 100
    static let longestRetryMilliseconds: Int64 = 10_000

    let state: Locked<State>
    let file: MaintenanceFile
    /// The file is replaced by the thread of the job or by the one that looks, and each wants it on the disk when it
    /// goes on.
    private let storing = Turn()
    private let isStopping = Atomic<Bool>(false)
    let log: Logger
    let databaseDirectory: String
    let temporaryDirectory: String

    init(database: String, configuration: MaintenanceSchedule.Configuration, log: Logger) {
        self.log = log
        file = MaintenanceFile(database: database)
        databaseDirectory = file.directory
        // As SQLite itself looks for it: https://www.sqlite.org/tempfiles.html#temporary_file_storage_locations
        temporaryDirectory = getenv("SQLITE_TMPDIR").map { String(cString: $0) } ?? databaseDirectory
        var record: MaintenanceRecord?
        switch file.read() {
        case .record(let stored): record = stored
        case .nothing: break
        case .unreadable(let why):
            log.warning(
                .vacuumTrouble, "the maintenance file cannot be read: VACUUM counts from now",
                metadata: ["file": "\(file.path)", "why": "\(why)"])
        }
        state = Locked(State(schedule: MaintenanceSchedule(configuration: configuration, record: record)))
    }

    /// How often a VACUUM that is due looks whether the pause is over.
    private static let pausedLookMilliseconds: Int64 = 1_000

    /// The daemon stops: a VACUUM that runs shall end soon.
    func stop() { isStopping.store(true, ordering: .relaxed) }
    var mustStop: Bool { isStopping.load(ordering: .relaxed) }

    var nextLook: Instant { state.withLock { $0.nextLook } }

    /// Another configuration from now on; returns when to look, which is at once.
    func configure(_ configuration: MaintenanceSchedule.Configuration) -> Instant {
        let now = MonotonicClock.now
        return state.withLock { state in
            guard state.schedule.configuration != configuration else { return state.nextLook }
            state.schedule.configure(configuration)
            state.nextLook = min(state.nextLook, now)
            return state.nextLook
        }
    }

    /// Looks at the clocks. True: the job is to be queued.
    ///
    /// - Parameters:
    ///   - isPaused: an administrator has something to do with the file: a VACUUM that is due begins afterwards.
    ///   - willBeLong: called before the file is replaced, which waits for the disk.
    func look(now: Instant, isPaused: Bool, willBeLong: () -> Void) -> Bool {
        let clocks = MaintenanceSchedule.Clocks.now
        let (look, wantsJob) = state.withLock { state in
            let look = state.schedule.look(clocks)
            state.decision = look.decision
            let isRetryDue = state.step == .emptyWAL && state.nextLook <= now
            state.nextLook = look.lookAgainMilliseconds.map(now.advanced(byMilliseconds:)) ?? .distantFuture
            guard !state.isJobQueued, !mustStop else { return (look, false) }
            if look.decision == .run, state.step == nil {
                guard !isPaused else {
                    state.nextLook = now.advanced(byMilliseconds: Self.pausedLookMilliseconds)
                    return (look, false)
                }
                state.step = .vacuum
            }
            state.isJobQueued = state.step == .emptyWAL ? isRetryDue : state.step != nil
            return (look, state.isJobQueued)
        }
        for finding in look.findings { report(finding) }
        if look.mustStore {
            willBeLong()
            store()
        }
        return wantsJob
    }

    /// Asks for it now, whatever the schedule says; one that runs already is it. True: the job is to be queued.
    func request() -> Bool {
        state.withLock { state in
            guard state.run == nil, !mustStop else { return false }
            state.isRequested = true
            // A copy that is still in the WAL goes first.
            if state.step != .emptyWAL { state.step = .vacuum }
            state.emptyWALAttempts = 0
            defer { state.isJobQueued = true }
            return !state.isJobQueued
        }
    }

    func store() {
        storing.take {
            guard let record = state.withLock({ $0.schedule.record }) else { return }
            do throws(MaintenanceFile.WriteError) { try file.write(record) } catch {
                log.error(
                    .vacuumTrouble, "the maintenance file cannot be written",
                    metadata: ["file": "\(file.path)", "error": "\(error.description)"])
            }
        }
    }

    private func report(_ finding: MaintenanceSchedule.Finding) {
        switch finding {
        case .firstSight:
            log.info(.vacuum, "no VACUUM is known of this database: the interval begins now", metadata: ["file": "\(file.path)"])
        case .clockStepped(let seconds):
            log.notice(.vacuum, "the system's clock was set", metadata: ["seconds": "\(seconds)"])
        case .stampReplaced(let ago):
            log.warning(
                .vacuumTrouble, "the time of the last VACUUM cannot be right: the interval begins now",
                metadata: ["seconds_ago": "\(ago)", "file": "\(file.path)"])
        }
    }
}

// MARK: For people

/// What `SHOW MAINTENANCE` tells.
package struct MaintenanceStatus: Sendable {
    /// What it is doing.
    package enum Activity: Equatable, Sendable {
        case waiting(MaintenanceSchedule.Waiting)
        /// Waits for the writer.
        case queued
        /// For so long; the part that is copied, where it can be estimated.
        case running(milliseconds: Int64, copiedPercent: Int?)
        /// Done, but for the file's length: readers of an older snapshot still need what is behind its end.
        case shrinking
        /// The same, and another was asked for, whose copy would come into the WAL as well.
        case queuedBehindShrinking
    }

    package var activity: Activity
    /// What is remembered of those before; nil: nothing yet.
    package var record: MaintenanceRecord?
    /// On the wall clock, in seconds; nil when it is off.
    package var nextDue: Int64?
    package var configuration: MaintenanceSchedule.Configuration
}

extension Maintenance {
    var status: MaintenanceStatus {
        let now = MonotonicClock.now
        let clocks = MaintenanceSchedule.Clocks.now
        return state.withLock { state in
            let activity: MaintenanceStatus.Activity =
                if state.step == .emptyWAL {
                    state.isRequested ? .queuedBehindShrinking : .shrinking
                } else if let run = state.run {
                    .running(milliseconds: now.milliseconds(since: run.began), copiedPercent: run.copiedPercent)
                } else if state.isJobQueued || state.isRequested {
                    .queued
                } else if case .wait(let waiting) = state.decision {
                    .waiting(waiting)
                } else {
                    .queued
                }
            return MaintenanceStatus(
                activity: activity, record: state.schedule.record, nextDue: state.schedule.nextDue(clocks),
                configuration: state.schedule.configuration)
        }
    }
}
