import Logging
import SQLite
import Scheduling

/// What belongs to a file that is not in its place any more must not stay beside the one that is, or that comes: at the next start its
/// frames would be taken for that file's ("Mispairing database files and hot journals", https://www.sqlite.org/howtocorrupt.html),
/// and a restored backup would be damaged.
extension Pool {
    /// The -wal belongs to the file that is open, wherever that is now. So its frames go there, and what does not is moved away.
    func emptyWALOfLostFile() {
        let (places, left) = (writer.places, filesLeft)
        // What was written over it is for what came there (`cp backup.db-wal app.db-wal; mv backup.db app.db`).
        guard !isWALForeign else { return }
        var isCopied = false
        do {
            // The second time because the first look takes a while.
            if !mayAnotherBeWrittenInto, try whileNobodyWrites({ () throws(SQLiteError) in writer.connection.holdsWholeWAL() }),
                !mayAnotherBeWrittenInto
            {
                let result = try writer.connection.checkpoint(.truncate)
                isCopied = places.hasWAL && result.frames >= 0 && result.frames == result.copiedFrames
                // The file that came in the database's place may be on the disk already.
                try writer.connection.walFile()?.sync()
            }
        } catch {
            log.error(.ioError, "\(path)-wal cannot be emptied", metadata: ["error": "\(error.message)"])
        }
        moveAway(left, isCopied: isCopied)
        // It is in its place again, since it was found empty.
        if writer.knownFiles.isDatabaseWrittenOver { moveOwnWALAway() }
    }

    /// Into a file that was emptied somebody writes another (`cp backup.db app.db`), or has done so by now; and what was in
    /// it is in no -wal.
    private var mayAnotherBeWrittenInto: Bool {
        let files = writer.knownFiles
        return files.places.isDatabaseEmptied || files.isDatabaseWrittenOver || files.isDatabaseCut
    }

    /// The process ends without closing anything, since a statement does not end, or after an I/O error without its last
    /// checkpoint. Nothing of a file that was lost may stay beside another in its place even so. And what was committed
    /// into a -wal that was deleted ends with the process: a new one takes it up that the next start finds, for which only
    /// nobody may write.
    ///
    /// Only with the writer.
    ///
    /// - Returns: what may be lost, or nil.
    func lossWithoutClosing(after failure: SQLiteError?) -> String? {
        writer.endSnapshot()
        guard writer.places.obstacle == nil else { return nil }
        guard writer.places.databaseInPlace != nil else {
            emptyWALOfLostFile()
            return Self.loss(of: path)
        }
        if let reason = writtenOverDatabase(failure) ?? writtenOverWAL(after: failure, stays: true) { return reason }
        guard !writer.places.hasWAL else { return nil }
        let end = MonotonicClock.now.advanced(byMilliseconds: limits.gateGraceMilliseconds)
        var rescue = rescueIntoNewWAL(until: end)
        if rescue == .foreign {
            if let reason = moveForeignWALAway(writer.places.withFilesInPlace) { return reason }
            rescue = rescueIntoNewWAL(until: end)
        }
        return rescue == .complete ? nil : Self.lossOfDeletedWAL(of: path)
    }

    /// The same for a process that ends without `close`, beside threads that do not end: none of them gets the writer any more.
    package func lossWithoutClosing() -> String? {
        let now = MonotonicClock.now
        let isMine = state.withLock { state in
            state.writerQueue.holder == .nobody && state.writerQueue.requestFirst(WriterJob.housekeeping.client, now: now) != nil
        }
        if isMine, pipelinedSync?.isAtWork != true { return lossWithoutClosing(after: writer.failure ?? pipelinedSync?.error) }
        // The statement that does not end may be the writer's, or the sync does not, and nothing can be copied then.
        guard let places = files.places, places.obstacle == nil else { return nil }
        moveAway(places)
        return places.databaseInPlace == nil ? Self.loss(of: path) : places.hasWAL ? nil : Self.lossOfDeletedWAL(of: path)
    }

    private static func lossOfDeletedWAL(of path: String) -> String {
        "\(path)-wal was deleted while it was served, and what was committed there may be lost"
    }

    /// Those that belong to the database that is open. Another process may have gone on in another -wal, which does, too; one that comes
    /// from elsewhere belongs to what comes next (`mv backup.db-wal app.db-wal; mv backup.db app.db`).
    var filesLeft: DatabaseFiles {
        let places = writer.places
        return !places.hasWAL && writer.connection.hasOwnWALInPlace ? places.withFilesInPlace : places
    }

    /// A -wal may have come since it was last asked whose it is, and SQLite would take its frames for this database's.
    ///
    /// The writer is closed next, so they are looked at now: what is there, and not what was there when they were opened.
    func filesToOpenAgain() throws(SQLiteError) -> DatabaseFiles {
        if !writer.places.hasWAL, writer.connection.hasForeignWALInPlace, let reason = moveForeignWALAway(writer.places.withFilesInPlace) {
            throw DatabaseFiles.lost(reason)
        }
        return filesLeft.beforeClosing(
            hadFrames: writer.walFrames.all > writer.walFrames.copied, keeping: writer.connection.keptWAL())
    }

    /// In the place of the -wal that was deleted there is one of another database. It may be that of a backup whose database comes next
    /// (`mv backup.db-wal app.db-wal; mv backup.db app.db`); otherwise it would be taken for this one's.
    ///
    /// - Returns: why this one cannot be opened again.
    func moveForeignWALAway(_ foreign: DatabaseFiles) -> String? {
        guard !isDatabaseLost(withinMilliseconds: PoolLimits.replacementMilliseconds) else { return Self.loss(of: path) }
        guard foreign.hasFrames else { return nil }
        do {
            let name = try foreign.moveWALAway(keepsIndex: true)
            log.error(.ioError, "\(path)-wal was replaced by one of another database, which was moved to \(name)")
            return nil
        } catch {
            return "\(path)-wal was replaced by one of another database, which cannot be moved away: \(error.message)"
        }
    }

    /// Gives the -wal that is left of a file another name, if there is anything in it. Another process that has it open
    /// goes on as before, with the file that is gone, whatever the names are. But while nothing has come into that file's
    /// place it may come back itself, and would be damaged without what was not copied.
    ///
    /// - Parameter isCopied: all that was committed is in the file it belongs to.
    func moveAway(_ left: DatabaseFiles, isCopied: Bool = false) {
        guard left.databaseInPlace == nil, left.hasFrames else { return }
        guard isCopied || left.isReplaced(withinMilliseconds: PoolLimits.replacementMilliseconds) else {
            return log.error(
                .ioError, "\(path)-wal belongs to the file that was lost: put that back, or delete the -wal before another comes there")
        }
        do {
            let name = try left.moveWALAway()
            log.error(
                .ioError, "\(path)-wal belongs to the file that was lost and was moved to \(name)",
                metadata: ["hint": "\(isCopied ? "all that was committed is in that file, too" : "that file is not whole without it")"])
        } catch {
            log.error(
                .ioError, "\(path)-wal belongs to the file that was lost: delete it before the daemon starts on another file",
                metadata: ["error": "\(error.message)"])
        }
    }
}
