import Journal
import Logging
import SQLite
import Scheduling

/// The backups of one database: at most one at a time, since each reads the whole file and holds back checkpoints.
public final class Backups: Sendable {
    private let database: String
    private let files: ServedFiles
    private let settings: ConnectionSettings
    private let log: Logger
    let snapshots = BackupSnapshots()
    private let state = Locked(State())

    private struct State {
        var running: Backup?
        var last: Backup?
    }

    init(database: String, files: ServedFiles, settings: ConnectionSettings, log: Logger) {
        self.database = database
        self.files = files
        self.settings = settings
        self.log = log
    }

    /// The one that is being made.
    public var running: Backup? { state.withLock { $0.running } }
    /// The last that has ended, well or not.
    public var last: Backup? { state.withLock { $0.last } }

    /// Makes one, on the calling thread, which should be one of its own.
    public func make(
        _ name: String, in directory: String, for owner: any StatementOwner, onStep: (Backup.Status) -> Void = { _ in }
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
            state.withLock { state in
                state.running = nil
                state.last = backup
            }
            report(backup)
        }
        try backup.run(into: directory, for: owner, onStep: onStep)
        return backup.status
    }

    private func report(_ backup: Backup) {
        let status = backup.status
        var metadata: Logger.Metadata = [
            "name": "\(backup.name)", "bytes": "\(status.bytes)",
            "duration": .stringConvertible(
                LoggedDuration(milliseconds: (status.ended ?? MonotonicClock.now).milliseconds(since: backup.began))),
        ]
        guard let error = status.error else { return log.notice(.backup, "backup made", metadata: metadata) }
        metadata["error"] = "\(error)"
        log.error(.backupTrouble, "backup failed", metadata: metadata)
    }

    /// Removes what backups of killed daemons have left in the directory.
    public func removeStale(in directory: String) {
        for name in BackupFile.removeStale(in: directory) {
            log.notice(.backupTrouble, "removed an unfinished backup", metadata: ["file": "\(directory)/\(name)"])
        }
    }
}
