import Journal
import Logging
import POSIX
import SQLite
import Scheduling

/// The backups of one database: at most one at a time, since each reads the whole file and holds back checkpoints.
package final class Backups: Sendable {
    private let database: String
    private let files: ServedFiles
    private let settings: ConnectionSettings
    private let log: Logger
    let snapshots = BackupSnapshots()
    private let state = Locked(State())

    private struct State {
        var running: Backup?
        var last: Backup?
        var counts = Counts()
    }

    /// What has become of them since the start.
    package struct Counts: Sendable {
        package var succeeded = 0
        package var failed = 0
        /// nil: none.
        package var lastSuccess: Success?
    }

    /// One that was made.
    package struct Success: Sendable {
        /// Seconds since 1970.
        package var at: Int64
        /// With its check and its sync.
        package var durationMilliseconds: Int64
        /// Of the file.
        package var bytes: Int
    }

    init(database: String, files: ServedFiles, settings: ConnectionSettings, log: Logger) {
        self.database = database
        self.files = files
        self.settings = settings
        self.log = log
    }

    /// The one that is being made.
    package var running: Backup? { state.withLock { $0.running } }
    /// The last that has ended, well or not.
    package var last: Backup? { state.withLock { $0.last } }
    /// As they are now. Takes a lock of its own.
    package var counts: Counts { state.withLock { $0.counts } }

    /// Makes one, on the calling thread, which should be one of its own.
    ///
    /// - Parameters:
    ///   - onCopy: called when all is copied; returns what is wrong with the files that were read, if anything is.
    package func make(
        _ name: String, in directory: String, for owner: any StatementOwner, onStep: (Backup.Status) -> Void = { _ in },
        onCopy: () -> SQLiteError? = { nil }
    ) throws(BackupError) -> Backup.Status {
        try BackupName.require(name)
        let backup = Backup(database: database, files: files, settings: settings, snapshots: snapshots, name: name)
        let other = state.withLock { state -> Backup? in
            if let running = state.running { return running }
            state.running = backup
            return nil
        }
        if let other { throw .alreadyRunning(other.name) }
        defer {
            let success = Self.success(backup)
            state.withLock { state in
                state.running = nil
                state.last = backup
                state.counts.succeeded += success == nil ? 0 : 1
                state.counts.failed += success == nil ? 1 : 0
                state.counts.lastSuccess = success ?? state.counts.lastSuccess
            }
            report(backup)
        }
        try backup.run(into: directory, for: owner, onStep: onStep, onCopy: onCopy)
        return backup.status
    }

    /// nil: it failed.
    private static func success(_ backup: Backup) -> Success? {
        let status = backup.status
        guard status.phase == .done else { return nil }
        return Success(
            at: MaintenanceSchedule.Clocks.now.wallSeconds, durationMilliseconds: milliseconds(backup, status), bytes: status.bytes)
    }

    private static func milliseconds(_ backup: Backup, _ status: Backup.Status) -> Int64 {
        (status.ended ?? MonotonicClock.now).milliseconds(since: backup.began)
    }

    private func report(_ backup: Backup) {
        let status = backup.status
        var metadata: Logger.Metadata = [
            "name": "\(backup.name)", "bytes": "\(status.bytes)",
            "duration": .stringConvertible(LoggedDuration(milliseconds: Self.milliseconds(backup, status))),
        ]
        guard let error = status.error else { return log.notice(.backup, "backup made", metadata: metadata) }
        metadata["error"] = "\(error)"
        log.error(.backupTrouble, "backup failed", metadata: metadata)
    }

    /// Removes what backups of killed daemons have left in the directory.
    package func removeStale(in directory: String) {
        for name in BackupFile.removeStale(in: directory) {
            log.notice(.backupTrouble, "removed an unfinished backup", metadata: ["file": "\(directory)/\(name)"])
        }
    }
}
