import CCommitFrames
import CSQLite

/// What a connection's commits write into the -wal file leaves by one write each, and all of them have their checksums; see
/// commit_frames.h.
struct CommitFrames {
    let file: WALFile
    private let frames: OpaquePointer

    /// nil: there is no memory.
    init?(file: WALFile) {
        guard let frames = walpool_commit_frames_of(file.file) else { return nil }
        self.file = file
        self.frames = frames
    }

    /// To be called before the connection is closed.
    func release() { walpool_commit_frames_release(frames) }

    /// Runs a COMMIT. When it throws and the transaction is still open, that has to be rolled back.
    func gather(_ commit: () throws(SQLiteError) -> Void) throws(SQLiteError) {
        walpool_commit_frames_begin(frames)
        var isWhole = false
        do {
            defer { isWhole = walpool_commit_frames_end(frames) != 0 }
            try commit()
        }
        guard isWhole else {
            throw SQLiteError(extendedCode: SQLiteError.Code.writeFailed, message: "a part of a commit was not written to the -wal file")
        }
    }
}
