import SQLite

/// What a transaction leaves in the -wal that was rolled back.
///
/// Pages that leave the cache in the middle of it are frames already, and the file stays as long as they have made it: behind what was
/// committed, where later commits write over them, and a checkpoint that begins the WAL anew leaves the file as it is. On a full disk
/// that is the room that a checkpoint needs for the database, and nobody could ever write again.
extension Writer {
    /// When it is looked at. Where a checkpoint has found no room, whatever there is counts.
    enum Occasion { case rollback, checkpoint, checkpointWithoutRoom }

    /// Cuts the file behind what was committed: where it is longer than the WAL may become, and where the disk was full. To be called without
    /// a transaction; an outsider that writes right now is not waited for.
    ///
    /// SQLite does the same with `journal_size_limit`, but only as the WAL begins anew: "Each time a … write-ahead log is reset …, SQLite
    /// compares the size of the … file left in the file-system to the size limit" (https://www.sqlite.org/pragma.html#pragma_journal_size_limit).
    ///
    /// - Returns: whether it was longer.
    @discardableResult
    func cutLongWAL(_ occasion: Occasion) -> Bool {
        // ftruncate() would wait for pages that are on their way to the disk. A checkpoint, which does so anyway, comes to it.
        if occasion == .rollback, !isDiskFull, pipelinedSync?.isAtWork == true { return false }
        guard failure == nil, let walIndex, let file = connection.walFile(), let length = file.bytes else { return false }
        let needsRoom = occasion == .checkpointWithoutRoom
        let wasFull = isDiskFull || needsRoom
        isDiskFull = false
        let excess = length - keptBytes(walIndex, toLastCommit: wasFull)
        let isWorthIt =
            wasFull
            ? excess > (needsRoom ? 0 : Self.worthBytes)
            : excess > 0 && length > changeable.walLimitBytes.load(ordering: .relaxed)
        guard isWorthIt else { return false }
        guard let isCut = try? withWriteLock({ cut(file, toLastCommit: wasFull) }) else {
            isDiskFull = wasFull
            return false
        }
        return isCut
    }

    /// Twice the room that is made ahead: something may have no room for another reason than the disk, again and again.
    private static let worthBytes = 2 * WALRoom.stepBytes

    private func keptBytes(_ walIndex: WALIndex, toLastCommit: Bool) -> Int64 {
        let committed = Int64(walIndex.copyHeader().leastWALBytes)
        guard !toLastCommit else { return committed }
        let frameBytes = Int64(pageBytes + WALFile.frameHeaderBytes)
        return max(committed, WALRoom.bytes(changeable.softFrames(pageBytes: pageBytes), frameBytes: frameBytes))
    }

    /// With the lock nobody appends, and nobody reads behind the frames that the index names: as long as this -shm is everybody's. Where
    /// it was deleted, others have made another one and go on in the same -wal.
    private func cut(_ file: WALFile, toLastCommit: Bool) -> Bool {
        if let problem = places.problem {
            note(problem)
            return false
        }
        // What somebody else has written there is looked into before anything is done to it. Not with what is known by now, for who
        // syncs has that until the disk has answered.
        guard let walIndex, let length = file.bytes, case .own = files.walContent() else { return false }
        let kept = keptBytes(walIndex, toLastCommit: toLastCommit)
        guard length > kept, file.truncate(to: kept) else { return false }
        forgetRoom()
        return true
    }

    /// A COMMIT had no room, and is none. But its frames may be in the file, all but the end of the last, and where that is zeros, as those
    /// that are made ahead, whoever makes the index anew takes them for a commit. So they are cut off before anybody is told.
    ///
    /// SQLite has given back the write lock by then, and another process may have taken it. What that commits is written over the frames; what
    /// it rolls back is not.
    ///
    /// - Returns: why it has failed: where they could not be cut off, nobody knows what will be there.
    func cutUnfinishedCommit(after error: SQLiteError) -> SQLiteError {
        endSnapshot()
        endTransaction()
        hasUnfinishedCommit = true
        let end = MonotonicClock.now.advanced(byMilliseconds: PoolLimits.unfinishedCommitMilliseconds)
        let isCut = MonotonicClock.poll(until: end) { () -> Bool? in
            guard failure == nil else { return false }
            return (try? withWriteLock { removeUnfinishedCommit() }) == true ? true : nil
        }
        if isCut == true { return error }
        // The next transaction begins with it.
        return SQLiteError(
            extendedCode: SQLiteError.Code.truncateFailed,
            message: "a commit had no room (\(error.message)), and what it left in the -wal could not be cut off yet")
    }

    /// With the write lock, before anything is written.
    ///
    /// - Returns: false when that has failed, and nothing more is to be written.
    func removeUnfinishedCommit() -> Bool {
        guard hasUnfinishedCommit else { return true }
        guard let walIndex, let file = connection.walFile(), let length = file.bytes else { return couldNotCut() }
        if length > keptBytes(walIndex, toLastCommit: true) {
            guard cut(file, toLastCommit: true) else { return couldNotCut() }
            // On a disk that never writes over what it has, what was cut off may still be what it has. With `pipelined` it would take the error
            // of a sync that others wait for.
            if waitsForDisk, pipelinedSync == nil { do { try file.sync() } catch { note(error) } }
        }
        hasUnfinishedCommit = failure != nil
        return failure == nil
    }

    private func couldNotCut() -> Bool {
        note(
            SQLiteError(
                extendedCode: SQLiteError.Code.truncateFailed, message: "what a commit without room left in the -wal cannot be cut off"))
        return false
    }
}
