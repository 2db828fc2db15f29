import CSQLite
import CWriteOut

/// What brings the WAL's content into the database's file, and that onto the disk.
extension Connection {
    /// The outcome row of a checkpoint. "busy" is no error: https://www.sqlite.org/c3ref/wal_checkpoint_v2.html
    public struct Checkpoint: Equatable, Sendable {
        /// SQLITE_BUSY: another process checkpoints, or readers or a writer stood in the way of a TRUNCATE.
        public var isBusy: Bool
        /// `pnLog` of `sqlite3_wal_checkpoint_v2`: frames in the WAL, 0 once it is emptied; -1: nothing was done, so it is not known.
        public var frames: Int
        /// `pnCkpt` of it: how many of those are in the database file now, with those that were before; -1 as above.
        public var copiedFrames: Int
        /// Nothing is left in the WAL that is not in the database file too.
        public var isComplete: Bool { !isBusy && frames == copiedFrames }

        /// The same for people: SQLite says 0 of 0 when it has emptied the WAL, of which all there was has been copied then.
        public func telling(framesBefore: Int) -> Checkpoint {
            frames == 0 && isComplete ? Checkpoint(isBusy: false, frames: framesBefore, copiedFrames: framesBefore) : self
        }
    }

    /// SQLite's PASSIVE, which waits for nobody, and TRUNCATE, which waits for readers and writers by the busy handler and
    /// then empties the WAL. https://www.sqlite.org/c3ref/wal_checkpoint_v2.html
    public enum CheckpointMode: Sendable { case passive, truncate }

    /// Copies what the WAL holds into the database file. Only ever call it on the writer connection: SQLite before
    /// 3.51.3 may corrupt a database when one connection checkpoints while another restarts the WAL
    /// (https://www.sqlite.org/wal.html#walresetbug).
    public func checkpoint(_ mode: CheckpointMode) throws(SQLiteError) -> Checkpoint {
        var frames: Int32 = -1
        var copied: Int32 = -1
        let rawMode = mode == .passive ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_TRUNCATE
        // The disk begins with what is copied while more is.
        walpool_write_out_begin()
        let code = sqlite3_wal_checkpoint_v2(handle, "main", rawMode, &frames, &copied)
        walpool_write_out_end()
        guard code == SQLITE_OK || code & 0xFF == SQLITE_BUSY else {
            throw SQLiteError(connection: handle, code: code)
        }
        return Checkpoint(isBusy: code != SQLITE_OK, frames: Int(frames), copiedFrames: Int(copied))
    }

    /// Brings onto the disk what was copied into the database's file, by whomever.
    public func syncDatabase() throws(SQLiteError) {
        guard let file = walpool_shared_file(handle), case let code = walpool_database_sync(file), code != SQLITE_OK else { return }
        throw SQLiteError(extendedCode: code, message: String(cString: sqlite3_errstr(code)))
    }
}
