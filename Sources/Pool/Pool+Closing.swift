import Glibc
import Journal
import Logging
import POSIX
import SQLite

/// The end of a pool: nobody uses a connection any more.
extension Pool {
    /// Closes everything: readers before the writer, so that the last to close is one that can checkpoint.
    ///
    /// Call it when no client is left.
    package func close() {
        for slot in slots { slot.reader = nil }
        writer.forgetStatements()
        let isEmpty = checkpointBeforeClosing()
        let wal = writer.places.walIdentity
        files.areClosed()
        let aside = SQLiteLibrary.deletingNoWAL(but: wal, isEmpty: isEmpty) { writerSlot.writer = nil }
        writerSlot.lock = nil
        if let aside { log.error(.ioError, "\(path)-wal was replaced as it was closed, twice: the first of these is \(aside) now") }
    }

    /// A process that is killed while it closes may leave a -wal under the name that it had only for that (COwnWAL). With nothing in it it
    /// is its own, and goes. What somebody had just put there belongs to a database of theirs.
    func lookForWALsLeftAside() {
        let prefix = Array("\(path.split(separator: "/").last ?? "")-wal.closing".utf8)
        for name in Directory.names(in: Directory.of(path)) ?? [] where name.utf8.starts(with: prefix) {
            let isNumbered = name.utf8.dropFirst(prefix.count).allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            let file = "\(Directory.of(path))/\(name)"
            var status = stat()
            guard isNumbered, lstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
            if status.st_size == 0 {
                unlink(file)
            } else {
                log.error(
                    .ioError, "\(file) is a -wal that came into the place of \(path)-wal as that was closed: see who has put it there")
            }
        }
    }

    /// Where that is impossible or would do harm, the -wal stays for the next start, and the log says why.
    ///
    /// - Returns: whether the -wal has nothing in it any more.
    private func checkpointBeforeClosing() -> Bool {
        // A lost file is no such failure: what it leaves behind has to be where it belongs.
        let failure = writer.failure ?? pipelinedSync?.error
        guard failure.map(DatabaseFiles.isLoss) ?? true else {
            // What is in memory may differ from what is on the disk: the next start recovers from that.
            let loss = lossWithoutClosing(after: failure)
            writer.connection.keepWALWhenClosed()
            if let loss {
                cannotGoOn(loss)
            } else {
                log.error(.checkpointTrouble, "the last checkpoint is left out after an I/O error: \(needOfWAL)", metadata: Self.keepingWAL)
            }
            return false
        }
        if let reason = reasonToKeepWAL(after: failure) {
            writer.connection.keepWALWhenClosed()
            cannotGoOn(reason)
            return false
        }
        guard reopenBesideNewWAL() else { return false }
        // "When the last connection to a database closes, that connection does one last checkpoint and then deletes the WAL"
        // (https://www.sqlite.org/wal.html), by its name: another one in its place is not this database's to delete.
        defer { if !writer.places.hasWAL { writer.connection.keepWALWhenClosed() } }
        do {
            let before = writer.walFrames.all
            let result = try writer.checkpoint(.truncate).telling(framesBefore: before)
            log.log(
                level: result.isComplete ? .debug : .warning, result.isComplete ? .checkpoint : .outsider,
                result.isComplete ? "last checkpoint" : "another process reads from the -wal, which the database is not whole without",
                metadata: ["frames": "\(result.frames)", "copied": "\(result.copiedFrames)", "busy": "\(result.isBusy)"])
            let isEmpty = result.isComplete && !result.isBusy
            // Closing may delete it all the same, when that process has gone by then, and has nobody to tell that the database is not on the
            // disk.
            if !isEmpty { try writer.connection.syncDatabase() }
            return isEmpty
        } catch {
            // Its second try, as the connection is closed, might "succeed", and the -wal be deleted.
            writer.connection.keepWALWhenClosed()
            log.error(
                .checkpointTrouble, "the last checkpoint failed: \(needOfWAL)",
                metadata: Self.keepingWAL.merging(["error": "\(error.message)"]) { $1 })
            return false
        }
    }

    /// "If a database file is separated from its WAL file, then transactions that were previously committed to the database might be lost"
    /// (https://www.sqlite.org/wal.html#the_wal_file). After a stop nobody expects one, so whoever copies or moves the file has to be told.
    private var needOfWAL: String { "\(path)-wal has what was committed, and the database is not whole without it" }

    /// It is no failure of the stop: nothing is lost, the next start copies it, and a status that says otherwise would have
    /// `Restart=on-failure` undo the console's SHUTDOWN.
    private static let keepingWAL: Logger.Metadata = [
        "hint": "keep the -wal beside it, wherever it is copied or moved; the next start copies it into the database"
    ]

    /// Why nothing may be copied into the database, or why not all that was committed can be.
    private func reasonToKeepWAL(after failure: SQLiteError?) -> String? {
        do {
            // They may have been lost since the last commit. Where they cannot be looked at, what is open lasts.
            if writer.places.obstacle == nil {
                if let reason = try lostFiles(after: failure) { return reason }
                if let reason = try rescueWALAgain() { return reason }
            }
        } catch {
            return "\(path) cannot be closed with all that was committed: \(error.message)"
        }
        return writer.knownFiles.isDatabaseCut ? "\(path) was truncated while it was served, and nothing was copied into it" : nil
    }

    /// What a deleted -wal held is in the one in its place, with what others have committed since: the last checkpoint copies that one.
    func reopenBesideNewWAL() -> Bool {
        let places = writer.places
        guard places.obstacle == nil, places.hasOtherWAL, places.hasIndex else { return true }
        do {
            try openWriterAgain(filesToOpenAgain())
            return true
        } catch {
            cannotGoOn("\(path) cannot be opened again for the last checkpoint: \(error.message)")
            return false
        }
    }
}
