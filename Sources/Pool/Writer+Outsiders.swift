import Journal
import Logging
import SQLite
import Scheduling

/// Another process in the way of the writer: the lock that it keeps is waited for, and then it is said who has it.
extension Writer {
    /// Another process has the lock. False: it is not waited for any longer.
    ///
    /// - Parameter attempt: how often this was called for the same lock before.
    func waitForOutsider(attempt: Int) -> Bool {
        // A checkpoint has its own patience, and says by itself who is in its way.
        guard !isCheckpointing else { return waitForOutsider() }
        if attempt == 0 { counters.outsiderWaitBegan.store(MonotonicClock.now.nanoseconds, ordering: .relaxed) }
        if attempt == Self.attemptsBeforeLogging { nameOutsiders() }
        if attempt > 0, attempt % Self.attemptsBeforeMakingWay == 0 { makeWay() }
        guard waitForOutsider() else {
            counters.outsiderWaitHasEnded()
            return false
        }
        countOutsiderWait()
        return true
    }

    /// Again and again, for readers that are used meanwhile may get into the way again.
    private static let attemptsBeforeMakingWay = 10
    /// An outsider that is quick, as a well-behaved one is, needs no line in the log.
    private static let attemptsBeforeLogging = 100

    private func nameOutsiders() {
        outsiderWaits += 1
        let holders = OutsiderLocks.holders(ofDatabase: places.path)
        log.warning(
            .outsider, "waiting for another process that has the database locked",
            metadata: [
                "holders": "\(holders.isEmpty ? "not shown by /proc/locks" : holders.joined(separator: ", "))",
                "waits": "\(outsiderWaits)",
            ])
    }

    /// WAL mode, and a -wal file that exists: a read-only connection cannot create one where the directory is not
    /// writable to it ("SQLITE_CANTOPEN", https://www.sqlite.org/wal.html#read_only_databases).
    static func establishWAL(_ connection: Connection) throws(SQLiteError) {
        connection.callbacks.onBusy = { attempt in
            MonotonicClock.sleep(milliseconds: PoolLimits.lookMilliseconds)
            return attempt * PoolLimits.lookMilliseconds < ConnectionSettings.openTimeoutMilliseconds
        }
        // Of a file that is in that mode already SQLite has opened the -shm by now, and it was made before: see `Pool.openWriter`.
        if try connection.firstText("PRAGMA journal_mode") != "wal" { DatabaseFiles.makeIndexInPlace(connection.fileName) }
        let mode = try connection.firstText("PRAGMA journal_mode = WAL")
        guard mode == "wal" else {
            throw SQLiteError(
                extendedCode: SQLiteError.Code.cannotOpen,
                message: "the database cannot be put into WAL mode (it is in \(mode ?? "?") mode)")
        }
        try connection.executeInternal("BEGIN IMMEDIATE; ROLLBACK")
        _ = try connection.firstText("PRAGMA schema_version")
    }
}
