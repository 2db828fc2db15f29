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
        guard length > kept else { return false }
        if kept == 0 {
            // Nothing of it is left then, so what it held has to be on the disk, whoever has copied it. A sync that fails is told once.
            do { try connection.syncDatabase() } catch {
                note(error)
                return false
            }
        }
        guard file.truncate(to: kept) else { return false }
        forgetRoom()
        return true
    }

    /// What a COMMIT without room had written was made none (see commit_frames.h), and the disk may still have it, or get it from somebody's
    /// sync that is under way. Nobody is told that it was refused before the disk knows, too. By a descriptor of its own: with
    /// `pipelined` SQLite's would take the error of a sync that others wait for.
    func settleCommitWithoutRoom() throws(SQLiteError) {
        forgetRoom()
        do throws(SQLiteError) {
            guard places.hasWAL else { throw DatabaseFiles.lost("its -wal was deleted or moved away") }
            try Pool.settleWAL(of: connection.fileName, mayDrop: false)
        } catch {
            note(error)
            throw error
        }
    }
}
