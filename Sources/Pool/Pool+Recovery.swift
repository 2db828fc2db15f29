import Glibc
import Journal
import Logging
import POSIX
import SQLite
import Scheduling

/// After an I/O error on the writer: nothing is tried again on the same connection.
///
/// "After an fsync failure … pages are marked clean" (Rebello et al., Can Applications Recover from fsync Failures?,
/// https://www.usenix.org/conference/atc20/presentation/rebello), so a second sync succeeds and proves nothing. Who waited
/// for the commit was told that its outcome is unknown; here every connection is closed, what the kernel has cached of the
/// WAL is dropped, and the database is opened anew as it is on the disk. If that fails the process ends, and the service
/// manager starts it again.
extension Pool {
    func recover(_ endSnapshots: EndSnapshots) -> [Resumption] {
        let encodingFailure = takeForeignEncoding()
        let failure =
            writer.failure ?? pipelinedSync?.error ?? files.problem ?? encodingFailure
            ?? SQLiteError(extendedCode: SQLiteError.Code.syncFailed, message: "a sync of the WAL has failed")
        log.error(
            .ioError, "the writer cannot go on: every connection is closed and opened again",
            metadata: ["code": "\(failure.extendedCode)", "error": "\(failure.message)"])
        guard closeGate(endSnapshots) else {
            return giveUp(lossWithoutClosing(after: failure) ?? "statements did not end, so \(path) cannot be opened again")
        }
        for slot in slots { slot.reader = nil }
        if let obstacle = writer.places.obstacle { return giveUp("\(path) cannot be opened again, nor looked at: \(obstacle)") }
        do {
            if let reason = try reasonNotToOpenAgain(after: failure) { return giveUp(reason) }
            let left = try filesToOpenAgain()
            pipelinedSync?.close(failure)
            writer.connection.keepWALWhenClosed()
            let isOnDisk = limits.durability == .full && DatabaseFiles.isLoss(failure)
            if !isOnDisk {
                guard try Self.forgetIndex(of: writer.connection, withinMilliseconds: limits.gateGraceMilliseconds) else {
                    return giveUp("another process keeps the write lock of \(path), and may see what the disk has not got")
                }
            }
            try openWriterAgain(left)
            let check = try writer.connection.checkIntegrity(.quick)
            if let damage = check.damage { return giveUp("\(path) is damaged: \(damage)") }
            if let violation = check.violation {
                log.warning(.recovery, "rows break rules of the schema, which is no damage", metadata: ["first": "\(violation)"])
            }
            if let unchecked = check.unchecked {
                log.warning(.recovery, "the database was opened again; not all of it could be checked", metadata: ["first": "\(unchecked)"])
            } else {
                log.notice(.recovery, "the database was opened again and is whole")
            }
        } catch {
            return giveUp("\(path) cannot be opened again: \(error.message)")
        }
        epoch.wrappingAdd(1, ordering: .relaxed)
        state.withLock { $0.recoveries += 1 }
        return openGate()
    }

    /// Taken whatever else has failed: the database is opened anew, and its encoding with it.
    private func takeForeignEncoding() -> SQLiteError? {
        guard hasForeignEncoding.exchange(false, ordering: .sequentiallyConsistent) else { return nil }
        return SQLiteError(extendedCode: SQLiteError.Code.error, message: "the database was replaced by one of another text encoding")
    }

    /// What was committed is saved, as far as that can be, from files that were lost.
    ///
    /// - Returns: why they cannot be opened again, or nil.
    func reasonNotToOpenAgain(after failure: SQLiteError? = nil) throws(SQLiteError) -> String? {
        if let reason = try lostFiles(after: failure) { return reason }
        // Asked now: it may have been deleted since it was looked for.
        if !writer.places.hasWAL, let holder = OutsiderLocks.holder(ofDeletedWALOf: path, isDeleted: true) {
            return Self.deletedWAL(of: path, holder)
        }
        if !writer.places.hasWAL, isServedBesideHidden { return Self.deletedWAL(of: path, Self.processName(0)) }
        return try rescueWALAgain()
    }

    /// Why what is open cannot be put together with what is at its place now; nil: it can. A -wal that was deleted is copied first,
    /// and so is one that may be the next. The writer is to be opened anew, and what its index names is not to be copied by it.
    ///
    /// Only with the writer, when no reader of the pool's is open, and when the files can be looked at.
    ///
    /// - Parameter failure: what the writer has met.
    func lostFiles(after failure: SQLiteError? = nil) throws(SQLiteError) -> String? {
        // "Return SQLITE_LOCKED if this … connection has an open transaction" (sqlite3BtreeCheckpoint in
        // https://www.sqlite.org/src/file/src/btree.c).
        writer.endSnapshot()
        guard writer.places.databaseInPlace != nil else {
            emptyWALOfLostFile()
            return Self.loss(of: path)
        }
        if let reason = writtenOverDatabase(failure) { return reason }
        guard !writer.places.isWALReplaced else {
            return "\(path)-wal and -shm were deleted, and another process has written into new ones: what was committed in the old ones "
                + "cannot be put together with that"
        }
        if let reason = try rescueWAL() { return reason }
        if let reason = writtenOverWAL(after: failure) { return reason }
        // What was written into the -wal and not onto the disk must not get into the database.
        if (failure ?? files.problem).map(DatabaseFiles.isLoss) == true, let reason = emptyWALBeforeItIsClosed() { return reason }
        guard !writer.places.isIndexReplaced else {
            return "\(path)-shm was deleted, and another process has made a new one: its locks are not the daemon's"
        }
        return nil
    }

    static func deletedWAL(of path: String, _ holder: String) -> String {
        "\(holder) has \(path) open by a -wal that was deleted or moved away: end that process first"
    }

    static func loss(of path: String) -> String { "\(path) was emptied, moved, replaced or deleted while it was served" }

    private func giveUp(_ reason: String) -> [Resumption] {
        cannotGoOn(reason)
        return []
    }

    /// For some milliseconds nobody has the -wal open, while the database is opened anew, and who deletes or moves one of
    /// the files may do so with the next then (`rm app.db-shm; rm app.db-wal` are two processes, a millisecond apart):
    /// nothing that was committed may rest on it by then. It is emptied, too, for to a file that comes in the database's
    /// place (`mv backup.db app.db`) its frames do not belong.
    ///
    /// When the -shm was deleted, a process that makes another writes into it from then on: so what takes long comes before
    /// the last look for one. Who keeps it from being copied or emptied has the -shm that was deleted, and the database is
    /// not opened again beside that. One that was put there and that nobody uses (`mv app.db-shm x; mv x app.db-shm`,
    /// between which the daemon has made another) is kept from everybody until all is copied.
    ///
    /// - Returns: why nothing can be copied out of it.
    private func emptyWALBeforeItIsClosed() -> String? {
        guard writer.places.hasWAL, !writer.knownFiles.isDatabaseCut else { return nil }
        let unused = writer.places.isIndexReplaced ? IndexInPlace(beside: path) : nil
        defer { withExtendedLifetime(unused) {} }
        guard unused != nil || !writer.places.isIndexReplaced else { return nil }
        do {
            guard try whileNobodyWrites({ () throws(SQLiteError) in writer.connection.holdsWholeWAL() }) else {
                return Self.lossOfWAL(of: path)
            }
            // What is not copied yet another process's snapshot keeps from it, which has this -shm.
            guard try writer.checkpoint(.passive).isComplete, unused != nil || !writer.places.isIndexReplaced else { return nil }
            // With another -shm there is nothing to go on with, so it is not closed for another to come.
            guard try unused != nil ? true : truncate(patienceMilliseconds: 0).isComplete else { return nil }
            log.warning(.recovery, "what the -wal held is in the database now")
        } catch {
            log.error(.ioError, "the -wal cannot be copied before the database is opened again", metadata: ["error": "\(error.message)"])
        }
        return nil
    }

    /// Without a sync at each commit the WAL's index names frames before they are on the disk; and with one it may count frames as copied
    /// that a failed sync of the database has dropped since. Another process that has the database
    /// open keeps it, so that closing every connection here does not make it anew: what is lost would be read by everybody, and
    /// what is committed behind it would be lost with it at the next start. A process in the middle of such a snapshot sees
    /// the database as it was before.
    ///
    /// - Returns: false when another process kept the write lock for all that time.
    private static func forgetIndex(of connection: Connection, withinMilliseconds milliseconds: Int64) throws(SQLiteError) -> Bool {
        let fileName = connection.fileName
        let end = MonotonicClock.now.advanced(byMilliseconds: milliseconds)
        return try MonotonicClock.pollUntilTrue(by: end) { () throws(SQLiteError) in
            try connection.forgetWALIndex { () throws(SQLiteError) in try settleWAL(of: fileName) }
        }
    }

    /// From here on the -wal is read as it is on the disk: who looks what became of a commit must not see what a power failure takes back.
    ///
    /// What waits to be written, as a process has left it that ended in its COMMIT, is brought onto the disk. What could not be brought
    /// there may still stand in the kernel's cache as if it were; that is dropped, also what such a process has left. PostgreSQL syncs its data
    /// directory before it recovers from a crash (SyncDataDirectory in
    /// https://github.com/postgres/postgres/blob/REL_15_STABLE/src/backend/storage/file/fd.c).
    ///
    /// The -wal carries no locks, so that opening it beside SQLite (another process may have it open) drops none.
    ///
    /// - Parameter mayDrop: nobody writes meanwhile, and the index is made anew.
    static func settleWAL(of fileName: String, mayDrop: Bool = true) throws(SQLiteError) {
        let descriptor = open(fileName + "-wal", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return }
            throw notOnDisk(fileName, errno)
        }
        defer { Glibc.close(descriptor) }
        var number: Int32 = 0
        // What a failed sync has lost must be dropped before another one is believed.
        for _ in 0..<(mayDrop ? PoolLimits.settlingSyncs : 1) {
            let isOnDisk = fdatasync(descriptor) == 0
            if !isOnDisk { number = errno }
            if mayDrop { posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) }
            if isOnDisk { return }
        }
        throw notOnDisk(fileName, number)
    }

    private static func notOnDisk(_ fileName: String, _ number: Int32) -> SQLiteError {
        SQLiteError(
            extendedCode: SQLiteError.Code.syncFailed,
            message: "\(fileName)-wal cannot be brought onto the disk (\(String(cString: strerror(number))))")
    }

    /// At the start. The process before may have ended between a failed sync and its recovery, and what the kernel has cached of the
    /// -wal, and an index that other processes keep, may then say what the disk has not got. Where another process writes all the
    /// while neither is dropped: one without the other would be worse than nothing.
    ///
    /// Throws when it cannot be brought onto the disk.
    static func forgetCachedWAL(_ path: String, _ settings: ConnectionSettings) throws(SQLiteError) {
        // What may be lost must not be copied by its end, wherever that comes.
        guard access(path + "-wal", F_OK) == 0 || isSymbolicLink(path),
            let connection = try? Connection(
                path: path, mode: .readWrite, settings: settings, creates: false, whenOpened: { $0.keepWALWhenClosed() }),
            connection.walIndex() != nil
        else { return }
        let isForgotten = try forgetIndex(of: connection, withinMilliseconds: Int64(ConnectionSettings.openTimeoutMilliseconds))
        if !isForgotten { try settleWAL(of: connection.fileName, mayDrop: false) }
    }

    private static func isSymbolicLink(_ path: String) -> Bool {
        var byte: CChar = 0
        return readlink(path, &byte, 1) >= 0
    }

    /// Where a process does not show its files, that there is no -wal tells as much: SQLite opens it, and makes it, before
    /// it takes a lock in the -shm (sqlite3WalOpen in https://www.sqlite.org/src/file/src/wal.c). The last one that closes
    /// a database deletes the -wal before it lets go of its locks, so it has a moment to.
    static func holderOfDeletedWAL(_ path: String) -> String? {
        if let holder = OutsiderLocks.holder(ofDeletedWALOf: path) { return holder }
        guard let resolved = Directory.resolved(path) else { return nil }
        let wal = resolved + "-wal"
        let end = MonotonicClock.now.advanced(byMilliseconds: Int64(ConnectionSettings.openTimeoutMilliseconds))
        return MonotonicClock.pollUntilGone(by: end) { OutsiderLocks.holder(ofDeletedWALOf: path, isDeleted: access(wal, F_OK) != 0) }
    }
}
