import Glibc
import Journal
import Logging
import POSIX
import SQLite

/// Opening the writer: at the start, and anew after an error.
extension Pool {
    static func openWriter(
        into slot: WriterSlot, _ path: String, _ settings: ConnectionSettings, _ limits: PoolLimits,
        _ changeable: ChangeableLimits, _ schema: CommittedSchema, _ log: Logger, _ counters: PoolCounters,
        again left: DatabaseFiles? = nil, recoveries: Int = 0
    ) throws(SQLiteError) {
        if let holder = holderOfDeletedWAL(path) {
            throw SQLiteError(extendedCode: SQLiteError.Code.busy, message: deletedWAL(of: path, holder))
        }
        if let process = processWithLostFiles(path) { throw keepsLostFiles(process) }
        let isNew = try DatabaseFiles.isToBeMade(path)
        var settings = settings
        settings.synchronous = limits.durability == .full ? .full : .normal
        // Otherwise SQLite makes one when it puts the file into WAL mode: see `Writer.establishWAL`. Of a database that was open here before it
        // is known that it was put into that mode.
        DatabaseFiles.makeIndexInPlace(path) { file in left.map { $0.databaseInPlace != nil } ?? DatabaseFiles.isInWALMode(file) }
        try forgetCachedWAL(path, settings)
        let writer = try Writer(
            path: path, again: left, creates: isNew && left == nil, settings: settings, limits: limits, changeable: changeable,
            work: slot.atWriter, schema: schema, log: log, counters: counters)
        // It may have been deleted since it was asked for, and the one that is open be new.
        if let error = OutsiderLocks.holder(ofDeletedIndexOf: path).map(deletedIndex)
            ?? processWithAnotherIndex(writer.places).map(otherIndex)
        {
            writer.connection.keepWALWhenClosed()
            throw error
        }
        if let left, !writer.places.areOfSameDatabase(as: left) {
            writer.connection.keepWALWhenClosed()
            throw DatabaseFiles.replaced
        }
        slot.writer = writer
        slot.files.wereOpened(writer.files, writer.walIndex)
        writer.whenCheckpointed = { [files = slot.files] in files.wereCheckpointed($0) }
        if limits.durability == .pipelined { writer.leaveSyncs(toThreadsWith: slot.atSync, recoveries: recoveries) }
    }

    /// A file that was moved away after a stop, or whose disk is not mounted, leaves nothing that a start could be refused for: a new
    /// database is what whoever starts the daemon for the first time wants. So it is said.
    func tellOfNewDatabase() {
        let news = "a new, empty database was made at \(path)"
        let record = maintenance.file.path
        guard access(record, F_OK) == 0 else { return log.notice(.started, "\(news)") }
        log.warning(
            .started, "\(news), and \(record) says that one was served under this name before",
            metadata: [
                "hint": """
                if that was moved away, or its disk is not mounted: stop the daemon, delete the new one with its -maintenance, and put \
                the other into its place
                """
            ])
    }

    static func deletedIndex(_ holder: String) -> SQLiteError {
        SQLiteError(
            extendedCode: SQLiteError.Code.busy,
            message: "\(holder) has the database open, but its -shm was deleted: end that process first")
    }

    static func keepsLostFiles(_ process: Int32) -> SQLiteError {
        SQLiteError(
            extendedCode: SQLiteError.Code.busy,
            message: "\(processName(process)) has the database open, but its -wal or its -shm was deleted or moved away: "
                + "end that process first")
    }

    /// Who may only read the -shm, and opens the database while nobody else has it open, does without one and has no lock there.
    static func otherIndex(_ process: Int32) -> SQLiteError {
        SQLiteError(
            extendedCode: SQLiteError.Code.busy,
            message: "\(processName(process)) has the database open, but not the -shm that is there, "
                + "which was deleted since or which it may only read: end that process first")
    }

    /// Never another database, which may have come there meanwhile: then this throws, and nothing of the old one is left beside it.
    ///
    /// - Parameter left: `filesToOpenAgain`, as long as the index told whose the -wal is.
    func openWriterAgain(_ left: DatabaseFiles) throws(SQLiteError) {
        let recoveries = state.withLock { $0.recoveries } + 1
        writer.connection.keepWALWhenClosed()
        files.areClosed()
        writerSlot.writer = nil
        do throws(SQLiteError) {
            try Self.settleWAL(of: left.path)
            schema.forget()
            try Self.openWriter(
                into: writerSlot, path, settings, limits, changeable, schema, log, counters, again: left, recoveries: recoveries)
            // One that has come while nobody had it open belongs to what comes next, and must not get frames of this one.
            guard !writer.places.hasFrames || writer.places.haveSameWAL(as: left) else {
                writer.connection.keepWALWhenClosed()
                throw DatabaseFiles.lost("another -wal has come beside it")
            }
            if try writeWALAnew(left) { return try openWriterAgain(filesToOpenAgain()) }
            guard !writer.places.haveLostWAL(since: left) else {
                writer.connection.keepWALWhenClosed()
                throw DatabaseFiles.lost(
                    "its -wal was deleted or emptied while nobody had it open, and what was committed there may be lost")
            }
        } catch {
            moveAway(left)
            throw error
        }
        writerMakesWay()
    }
}
