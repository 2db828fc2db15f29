import Logging
import SQLite
import Scheduling

/// The -wal was deleted, and what was committed there is only to be had as long as this process has it open.
extension Pool {
    /// As long as the -shm is there, another process goes on behind it in a new -wal: a checkpoint would copy the zeros
    /// that stand in the deleted one in that place. So the new one gets what it has not got (`Connection.rescueWAL`), and
    /// it holds everything then. Otherwise the database itself gets it: the file that is open, whatever is moved into its
    /// place meanwhile.
    ///
    /// A copy that is cut short, by an error or with the process, would leave pages of two times in the database. So a new
    /// -wal is written first even so, as for any checkpoint; but not without the -shm, and not beside another process,
    /// which may have the deleted one open and copy out of it what is newer than the new one.
    ///
    /// - Returns: why what was committed is not all saved, or not gone on with; or nil.
    func rescueWAL() throws(SQLiteError) -> String? {
        guard !writer.places.hasWAL else { return nil }
        // For all of it: a stop may wait for this.
        let end = MonotonicClock.now.advanced(byMilliseconds: limits.gateGraceMilliseconds)
        switch try awaitWholeWAL(until: end) {
        case .isInNewWAL: return nil
        case .isLost(let reason): return reason
        case .isWhole(let foreign): return try saveWholeWAL(beside: foreign, until: end)
        }
    }

    /// What has become of what the deleted one held.
    private enum DeletedWAL {
        /// It is in the new one.
        case isInNewWAL
        /// It is not all saved, or not to be gone on with: why.
        case isLost(String)
        /// It is still there and can be copied. In its place there may be one of another history.
        case isWhole(foreign: DatabaseFiles?)
    }

    private func awaitWholeWAL(until end: Instant) throws(SQLiteError) -> DeletedWAL {
        var foreign: DatabaseFiles?
        // What was waited for may be the first commit of somebody who has made a -wal, so who has one is asked again after it.
        for _ in 1...2 {
            if let found = try lookAtDeletedWAL(until: end, &foreign) { return found }
        }
        // It may have been deleted once more, and what others had committed there with it.
        if case .partial(let frames, let all) = rescueIntoNewWAL(until: end) { return .isLost(lossOfDeletedWAL(behind: frames, of: all)) }
        return .isLost(
            "\(path)-wal was deleted while it was served, and another process has gone on in one that does not fit: "
                + "nothing was copied, and what was committed since the last checkpoint may be lost")
    }

    /// nil: others have committed what the deleted one has not got.
    private func lookAtDeletedWAL(until end: Instant, _ foreign: inout DatabaseFiles?) throws(SQLiteError) -> DeletedWAL? {
        if writer.places.hasOtherWAL {
            switch rescueIntoNewWAL(until: end) {
            case .complete: return .isInNewWAL
            case .foreign: foreign = writer.places.withFilesInPlace
            case .partial(let frames, let all): return .isLost(lossOfDeletedWAL(behind: frames, of: all))
            case .impossible, nil: break
            }
        }
        do {
            let isWhole = try whileNobodyWrites(until: end) { () throws(SQLiteError) in writer.connection.holdsWholeWAL() }
            return isWhole ? .isWhole(foreign: foreign) : nil
        } catch {
            guard rescueIntoNewWAL(until: end) == .complete else { throw error }
            return .isLost(
                "\(path)-wal was deleted while it was served, and another process keeps the write lock: what was committed is in "
                    + "\(path)-wal now")
        }
    }

    private func lossOfDeletedWAL(behind frames: Int, of all: Int) -> String {
        "\(path)-wal was deleted while it was served, and of the \(all) frames in it what stands behind the first \(frames), "
            + "which another process has committed, is in no -wal that is left and lost; what came before is in \(path)-wal now"
    }

    /// - Parameter foreign: a -wal of another history is in its place.
    /// - Returns: as `rescueWAL` does.
    private func saveWholeWAL(beside foreign: DatabaseFiles?, until end: Instant) throws(SQLiteError) -> String? {
        if isServedAlone, let header = writer.walIndex?.copyHeader(), rescueIntoNewWAL(until: end) == .complete {
            copyRescued(header, until: end)
            return nil
        }
        if let reason = waitForRoomToRescue() { return reason }
        guard try isCopiedIntoDatabase(until: end) else {
            // What somebody's snapshot keeps from being copied is saved where others will look for it.
            if rescueIntoNewWAL(until: end) == .complete { return nil }
            throw SQLiteError(extendedCode: SQLiteError.Code.busy, message: "its -wal was deleted, and another process reads from it")
        }
        log.warning(.recovery, "the -wal was deleted; what it held is in the database now")
        return foreign.flatMap(moveForeignWALAway)
    }

    /// Copies all of it. Who only keeps it from being emptied is not waited for: the copy is what counts. It is the last chance, so that may
    /// take its time.
    private func isCopiedIntoDatabase(until end: Instant) throws(SQLiteError) -> Bool {
        var result = try truncate(patienceMilliseconds: 0)
        if result.frames < 0 || result.frames > result.copiedFrames {
            result = try truncate(patienceMilliseconds: end.milliseconds(since: MonotonicClock.now))
        }
        return result.frames >= 0 && result.frames == result.copiedFrames
    }

    /// The new one was deleted, too, before it was opened: then it is written once more.
    ///
    /// - Returns: as `rescueWAL` does.
    func rescueWALAgain() throws(SQLiteError) -> String? {
        guard !writer.places.hasWAL, !writer.connection.hasOwnWALInPlace, writer.walFrames.all > writer.walFrames.copied else { return nil }
        return try rescueWAL()
    }

    /// It was deleted while the database was opened again, and what was committed there is where it is found again by now:
    /// so the database is to be opened once more. SQLite may have opened it before it went; then it is as while it is
    /// served.
    ///
    /// - Parameter left: the files of before.
    func writeWALAnew(_ left: DatabaseFiles) throws(SQLiteError) -> Bool {
        guard !writer.places.hasWAL, writer.places.obstacle == nil, writer.walFrames.all > writer.walFrames.copied else {
            return try putWALBack(left)
        }
        writer.connection.keepWALWhenClosed()
        if let reason = try reasonNotToOpenAgain() { throw DatabaseFiles.lost(reason) }
        return true
    }

    /// It was deleted while nobody had it open: what was kept of it is written into the new one. Not where another process
    /// has the database open, which may have the deleted one open by right.
    private func putWALBack(_ left: DatabaseFiles) throws(SQLiteError) -> Bool {
        guard let kept = left.before?.keptWAL, writer.places.haveLostWAL(since: left), isServedAlone else { return false }
        writer.connection.keepWALWhenClosed()
        let isBack = try whileNobodyWrites { () throws(SQLiteError) in
            try writer.connection.putBack(kept) { writer.places.haveLostWAL(since: left) }
        }
        if isBack { log.warning(.recovery, "the -wal was deleted while the database was opened again; what it held is in the new one now") }
        return isBack
    }

    /// What the deleted one held stands in a new one by now, so nothing is lost where this does not succeed.
    ///
    /// - Parameter header: of the index, before.
    private func copyRescued(_ header: WALIndex.Header, until end: Instant) {
        do {
            guard try truncate(patienceMilliseconds: 0).isComplete else { return }
            try whileNobodyWrites(until: end) { () throws(SQLiteError) in try writer.connection.emptyRescuedWAL(of: header) }
            log.warning(.recovery, "the -wal was deleted; what it held is in the database now")
        } catch {
            log.error(
                .ioError, "what the deleted -wal held cannot be copied into the database yet", metadata: ["error": "\(error.message)"])
        }
    }

    /// nil: the disk is full, for one; or the -wal would stand beside another file.
    func rescueIntoNewWAL(until end: Instant) -> WALRescue? {
        guard writer.places.hasIndex else { return nil }
        do {
            let rescue: WALRescue
            do {
                rescue = try whileNobodyWrites(until: end) { () throws(SQLiteError) in
                    writer.places.databaseInPlace == nil ? .impossible : try writer.connection.rescueWAL()
                }
            } catch let error
                where error.code == SQLiteError.Code.busy
                && OutsiderLocks.holder(ofDeletedWALOf: path, isDeleted: writer.places.isNoWALInPlace) == nil
            {
                // Whoever writes, and does not end, does so behind what was committed: that can be saved before the process
                // ends. One who has the deleted one open has it all, and will copy it; and so has whoever there is, where
                // nobody has made another.
                let end = MonotonicClock.now.advanced(byMilliseconds: PoolLimits.replacementMilliseconds)
                rescue = try whileNobodyWrites(until: end) { () throws(SQLiteError) in
                    writer.places.databaseInPlace == nil ? .impossible : try writer.connection.rescueWAL(besideWriter: true)
                }
            }
            if rescue == .complete { log.warning(.recovery, "the -wal was deleted; what it held is in the new one now") }
            return rescue
        } catch {
            log.error(.ioError, "the -wal was deleted and cannot be written anew", metadata: ["error": "\(error.message)"])
            return nil
        }
    }

    /// - Parameter end: so long it is tried, and once at least; nil: for as long as anything that ends is waited for.
    func whileNobodyWrites<Result>(until end: Instant? = nil, _ work: () throws(SQLiteError) -> Result?) throws(SQLiteError) -> Result {
        let end = end ?? MonotonicClock.now.advanced(byMilliseconds: limits.gateGraceMilliseconds)
        if let result = try MonotonicClock.poll(until: end, work) { return result }
        throw SQLiteError(
            extendedCode: SQLiteError.Code.busy, message: "its -wal was deleted, and another process keeps the write lock")
    }
}
