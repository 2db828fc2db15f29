import CCommitFrames
import CSQLite

/// What a connection's commits write into the -wal file leaves by one write each, and all of them have their checksums; see
/// commit_frames.h.
struct CommitFrames {
    let file: WALFile
    private let frames: OpaquePointer

    /// Until SQLite closes the file. nil: there is no memory.
    init?(file: WALFile, database: UnsafeMutablePointer<sqlite3_file>) {
        guard let frames = walpool_commit_frames_of(file.file, database) else { return nil }
        self.file = file
        self.frames = frames
    }

    /// Runs a COMMIT. When it throws and the transaction is still open, that has to be rolled back. When it throws anything but an I/O error,
    /// nothing of it is in the file that may be taken for a commit.
    @inline(__always)
    func gather(_ commit: () throws(SQLiteError) -> Void) throws(SQLiteError) {
        walpool_commit_frames_begin(frames)
        do { try commit() } catch {
            let left = walpool_commit_frames_end(frames)
            if error.isInputOutput { throw error }
            // SQLite keeps the number of the system's last error, which may be an older one's.
            if left.failure & 0xFF == SQLITE_IOERR {
                throw SQLiteError(extendedCode: left.failure, message: String(cString: sqlite3_errstr(left.failure)))
            }
            guard left.has_mark != 0 else { throw error }
            throw SQLiteError(
                extendedCode: SQLiteError.Code.writeFailed,
                message: "a commit failed when it was in the -wal file already (\(error.message))")
        }
        guard walpool_commit_frames_end(frames).is_whole != 0 else {
            throw SQLiteError(extendedCode: SQLiteError.Code.writeFailed, message: "a part of a commit was not written to the -wal file")
        }
    }
}
