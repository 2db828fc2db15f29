/// The -wal of a database that is about to be closed and opened again. As long as this exists, who deletes it takes away only its name:
/// what it holds can be written into another.
public final class KeptWAL: Sendable {
    private let file: WALInPlace
    /// What the index said of it, before others committed their last.
    private let end: WALIndex.End

    fileprivate init(_ file: WALInPlace, _ end: WALIndex.End) { (self.file, self.end) = (file, end) }

    /// - Returns: whether all of it is there now.
    fileprivate func write(beside fileName: String) throws(SQLiteError) -> Bool {
        // As after a crash: all that its checksums vouch for, whoever has committed it.
        var end = end
        end.frames = Int(UInt32.max)
        let history = WALHistory(end, in: [file])
        // What was copied into the database is there, and less than that would make it older.
        guard history.frames > end.copiedFrames else { return false }
        let new = try WALInPlace(beside: fileName)
        let bytes = new.bytes
        do { try Connection.copy(history, end, from: file, 0, to: new) } catch {
            if let bytes { new.truncate(to: bytes) }
            throw error
        }
        return history.frames >= self.end.frames
    }
}

extension Connection {
    /// The -wal in its place, if that has anything that is not in the database, too.
    public func keptWAL() -> KeptWAL? {
        guard let end = WALIndex(connection: handle)?.end, !end.isEmpty, end.frames > end.copiedFrames,
            let file = WALInPlace(at: fileName + "-wal"), WALHistory.header(of: file)?.salts == end.salts
        else { return nil }
        return KeptWAL(file, end)
    }

    /// Writes it into the -wal that is in its place now, which has no frames, and has everybody read that anew. This connection is to be
    /// opened again afterwards.
    ///
    /// - Parameter isMissing: asked while nobody writes or checkpoints.
    /// - Returns: whether it is all there; nil when another connection writes or checkpoints just now, and nothing has happened then.
    public func putBack(_ kept: KeptWAL, where isMissing: () -> Bool) throws(SQLiteError) -> Bool? {
        // What the index names now is not for it to forget.
        guard let index = WALIndex(connection: handle), index.frames == 0 else { return false }
        var outcome: Result<Bool, SQLiteError> = .success(false)
        let isDone = forgetWALIndex {
            guard index.frames == 0, isMissing() else { return }
            outcome = Result { () throws(SQLiteError) in try kept.write(beside: fileName) }
        }
        guard isDone else { return nil }
        return try outcome.get()
    }
}
