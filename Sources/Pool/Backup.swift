import Glibc
import POSIX
import SQLite
import Scheduling

/// One online backup: a copy of the database as one snapshot has it, checked, in a file of its own.
///
/// It reads through a connection of its own, so it takes no reader from anybody, and writers go on beside it. But its
/// snapshot keeps the WAL from beginning anew for as long as the copying takes.
package final class Backup: Sendable {
    /// The file's, in the directory for backups.
    package let name: String
    /// When it was asked for.
    package let began = MonotonicClock.now
    private let database: String
    private let files: ServedFiles
    private let settings: ConnectionSettings
    private let snapshots: BackupSnapshots
    private let box = Locked(Status())

    /// Pages copied before it looks whether to stop: 4 MiB of 4 KiB pages take some milliseconds.
    static let stepPages = 1_000
    /// Between two looks whether what is in the way has gone.
    private static let pauseMilliseconds = 1

    /// Where a backup is. `done` and `failed` are its ends.
    package enum Phase: String, Sendable { case copying, checking, syncing, done, failed }

    /// How far a backup is, for whoever asked for it or looks.
    package struct Status: Sendable {
        package var phase = Phase.copying
        /// Of the snapshot; 0 before it is taken.
        package var pages = 0
        /// Of these; pages are copied in steps, see `stepPages`.
        package var copiedPages = 0
        /// Of all pages.
        package var bytes = 0
        /// nil while it is under way.
        package var ended: Instant?
        /// Why it has failed, if it has.
        package var error: BackupError?
        /// What else the check of the copy has found, in words, or why it was not one of all of it.
        package var remark: String?
        /// Why it shall end, if it shall.
        fileprivate(set) var cancellation: String?
    }

    init(database: String, files: ServedFiles, settings: ConnectionSettings, snapshots: BackupSnapshots, name: String) {
        self.database = database
        self.files = files
        self.settings = Self.settings(settings)
        self.snapshots = snapshots
        self.name = name
    }

    /// As it is now. Takes a lock of its own.
    package var status: Status { box.withLock { $0 } }

    /// While it has its snapshot, and so holds back checkpoints: since when.
    package var snapshotBegan: Instant? { status.phase == .copying ? snapshots.began : nil }

    /// Ends it as soon as it looks, unless it has its copy already: then it is in nobody's way. `why` is for whoever asked
    /// for the backup.
    package func cancel(_ why: String) {
        box.withLock { status in
            if status.phase == .copying { status.cancellation = why }
        }
    }

    /// Makes the backup; returns when it is on the disk under its name.
    ///
    /// - Parameters:
    ///   - owner: asked between two steps, and while the copy is checked, whether to go on.
    ///   - onStep: told how far it is, after each step.
    ///   - onCopy: called when all is copied; returns what is wrong with the files that were read.
    func run(
        into directory: String, for owner: any StatementOwner, onStep: (Status) -> Void, onCopy: () -> SQLiteError?
    ) throws(BackupError) {
        do throws(BackupError) {
            let file = try BackupFile(directory: directory, name: name, mode: databaseMode)
            do throws(BackupError) {
                try makeCopy(file.temporaryPath, directory, owner, onStep, onCopy)
                box.withLock { $0.phase = .syncing }
                try file.publish()
            } catch {
                file.discard()
                throw error
            }
        } catch {
            end(.failed, error)
            throw error
        }
        end(.done, nil)
    }

    private func end(_ phase: Phase, _ error: BackupError?) {
        box.withLock { status in
            status.phase = phase
            status.error = error
            status.ended = MonotonicClock.now
        }
    }

    private var databaseMode: mode_t {
        var status = stat()
        return stat(database, &status) == 0 ? status.st_mode : 0o600
    }

    /// Copies, and checks the copy. When this returns, its connection is closed.
    private func makeCopy(
        _ path: String, _ directory: String, _ owner: any StatementOwner, _ onStep: (Status) -> Void,
        _ onCopy: () -> SQLiteError?
    ) throws(BackupError) {
        let watch = Watch(self, owner)
        do throws(SQLiteError) {
            let copy = try openCopy(path, watch)
            let problem = try copySnapshot(to: copy, directory, watch, onStep)
            box.withLock { status in
                status.phase = .checking
                status.cancellation = nil
            }
            // Of a file that another was written over and the -wal of what was there it would be a mixture, which no check of the
            // copy has to find.
            try watch.requireNoStop()
            if let problem = onCopy() ?? problem { throw problem }
            // The copied header says WAL. In DELETE mode the file is all there is, and can be read where no -wal and no
            // -shm can be made beside it (https://www.sqlite.org/wal.html#read_only_databases).
            guard try copy.firstText("PRAGMA journal_mode = DELETE") == "delete" else {
                throw SQLiteError(extendedCode: SQLiteError.Code.error, message: "the copy cannot be taken out of WAL mode")
            }
            // Not quick_check, which does not compare indexes with their tables: damage is to be found while there are
            // older backups. The snapshot has ended, so its time is nobody else's.
            let check = try copy.checkIntegrity(.full)
            if let damage = check.damage { watch.error = .damaged(damage) }
            let remark =
                check.unchecked.map { "Not all of it could be checked: \($0)" }
                ?? check.violation.map { "The copy is whole, and like the database it breaks a rule of its own: \($0)" }
            box.withLock { $0.remark = remark }
        } catch {
            throw watch.error ?? .sqlite(error)
        }
        if let error = watch.error { throw error }
    }

    /// Each page is read once, in order, which read(2) does best.
    private static func settings(_ settings: ConnectionSettings) -> ConnectionSettings {
        var settings = settings
        settings.memoryMapBytes = 0
        return settings
    }

    private func openCopy(_ path: String, _ watch: Watch) throws(SQLiteError) -> Connection {
        var settings = settings
        settings.lengthLimitBytes = PoolLimits.checkedValueBytes
        let copy = try Connection(path: path, mode: .readWrite, settings: settings)
        watch.attach(to: copy)
        // Nobody else may read it before it is complete, and its only sync is the one before it gets its name.
        try copy.executeInternal(
            "PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY")
        return copy
    }

    /// Returns what is wrong with the files that were read.
    private func copySnapshot(
        to copy: Connection, _ directory: String, _ watch: Watch, _ onStep: (Status) -> Void
    ) throws(SQLiteError) -> SQLiteError? {
        try awaitSnapshot(watch)
        defer { snapshots.end() }
        return try copyPages(to: copy, directory, watch, onStep)
    }

    /// Leave to open the database; waits while the exclusive gate is closed.
    private func awaitSnapshot(_ watch: Watch) throws(SQLiteError) {
        while !snapshots.begin(MonotonicClock.now) {
            try watch.requireNoStop()
            MonotonicClock.sleep(milliseconds: Self.pauseMilliseconds)
        }
    }

    /// Copies the pages. When this returns, the connection it read from is closed.
    ///
    /// - Returns: what is wrong with the files that were read.
    private func copyPages(
        to copy: Connection, _ directory: String, _ watch: Watch, _ onStep: (Status) -> Void
    ) throws(SQLiteError) -> SQLiteError? {
        let source = try files.open { (whenOpened) throws(SQLiteError) in
            try Connection(path: database, mode: .readOnly, settings: settings, whenOpened: whenOpened)
        }
        watch.attach(to: source)
        try source.executeInternal("BEGIN")
        // The first statement that reads takes the snapshot.
        let pages = Int(try source.firstText("PRAGMA page_count") ?? "") ?? 0
        let bytes = pages * (Int(try source.firstText("PRAGMA page_size") ?? "") ?? 0)
        box.withLock { status in
            status.pages = pages
            status.bytes = bytes
        }
        try watch.requireRoom(bytes, directory)
        let backup = try OnlineBackup(from: source, to: copy)
        var step = OnlineBackup.Step.more
        while step != .done {
            try watch.requireNoStop()
            step = try backup.step(pages: Self.stepPages)
            if step == .busy { MonotonicClock.sleep(milliseconds: Self.pauseMilliseconds) }
            let copied = backup.pageCount - backup.remainingPages
            box.withLock { $0.copiedPages = copied }
            onStep(status)
        }
        try backup.finish()
        // Whoever is writing into the database just now may have written a half of what is looked at.
        return files.problemOfReading(by: source).flatMap { _ in files.problemOfReading(by: source) }
    }

    /// Whether to go on, asked between steps and from inside of SQLite.
    private final class Watch {
        private let backup: Backup
        private let owner: any StatementOwner
        /// Why it ended, where SQLite can only say that it was interrupted.
        var error: BackupError?

        init(_ backup: Backup, _ owner: any StatementOwner) {
            self.backup = backup
            self.owner = owner
        }

        func attach(to connection: Connection) {
            connection.callbacks.onProgress = { self.mustStop() }
            connection.callbacks.onBusy = { _ in
                MonotonicClock.sleep(milliseconds: Backup.pauseMilliseconds)
                return !self.mustStop()
            }
        }

        private func mustStop() -> Bool {
            let now = MonotonicClock.now
            if let why = backup.box.withLock({ $0.cancellation }) {
                error = .cancelled(why)
            } else if let reason = owner.reasonToStop(now: now) {
                error = .stopped(reason)
            } else if owner.isClientGone(now: now) {
                error = .stopped(.disconnected)
            }
            return error != nil
        }

        func requireNoStop() throws(SQLiteError) {
            if mustStop() { throw SQLiteError.interrupted }
        }

        /// A backup must not be what fills the disk: the writers' commits would fail, too.
        func requireRoom(_ bytes: Int, _ directory: String) throws(SQLiteError) {
            guard let (_, free) = DiskSpace.available(in: directory), free < bytes else { return }
            error = .noRoom(neededBytes: bytes, freeBytes: Int(free))
            throw SQLiteError(extendedCode: SQLiteError.Code.full, message: "no room")
        }
    }
}
