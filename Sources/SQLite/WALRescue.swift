/// What became of a -wal that was deleted while a connection had it open.
public enum WALRescue: Equatable, Sendable {
    /// The one in its place has every frame that the index names.
    case complete
    /// It has this many of them, up to the end of a transaction, and nobody knows of the others.
    case partial(frames: Int, of: Int)
    /// The frames that are left cannot be put together, so nothing was written.
    case impossible
    /// The one in its place is of another history, so nothing was written.
    case foreign
}

extension Connection {
    /// Writes into the -wal in its place what that has not got, out of the one that was deleted and is open here. Both may have frames
    /// that the other has not: see `WALHistory`.
    ///
    /// This connection must not be in a transaction, and is to be closed afterwards. A checkpoint before that copies all or
    /// fails: what others write from now on is not in the file it has open, which ends where that begins.
    ///
    /// - Parameter besideWriter: another connection may have the write lock all the while. It writes behind the frames that
    ///   the index names; and it begins the -wal anew only if all was copied before its transaction began
    ///   (`walRestartLog` in https://www.sqlite.org/src/file/src/wal.c), and then nothing is done here.
    /// - Returns: nil when another connection writes or checkpoints just now; nothing has happened then.
    public func rescueWAL(besideWriter: Bool = false) throws(SQLiteError) -> WALRescue? {
        guard let index = WALIndex(connection: handle), let old = walFile() else { return .impossible }
        guard besideWriter else { return try withWALLocked { () throws(SQLiteError) in try rescue(index.end, from: old) } }
        return try withoutCheckpoints { () throws(SQLiteError) -> WALRescue? in
            guard let end = index.endBesideWriter else { return nil }
            return try end.frames > end.copiedFrames ? rescue(end, from: old, besideWriter: true) : .impossible
        } ?? nil
    }

    /// What it does with the frames up to this end, which stay where they are meanwhile.
    private func rescue(_ end: WALIndex.End, from old: WALFile, besideWriter: Bool = false) throws(SQLiteError) -> WALRescue {
        guard !end.isEmpty else { return .impossible }
        let new = try WALInPlace(beside: fileName)
        if let header = WALHistory.header(of: new), header.salts != end.salts { return .foreign }
        guard end.frames > 0 else { return .complete }
        // What a failed sync has left at the place of another's commit is found where the others do not fit.
        var history = WALHistory(end, in: [new, old])
        var oldFile = 1
        if !history.isWhole {
            let other = WALHistory(end, in: [old, new])
            if other.isWhole { (history, oldFile) = (other, 0) }
        }
        // Where more was copied into the database than is left here, what is left is older than that.
        let isPrefix = history.frames > 0 && history.frames < end.frames && history.frames >= end.copiedFrames
        guard history.isWhole || isPrefix else { return .impossible }
        // Behind the frames there may be the writer's, in either file.
        let (newBytes, oldBytes): (Int64?, Int64?) = besideWriter ? (nil, nil) : (new.bytes, old.bytes)
        do { try Self.copy(history, end, from: old, oldFile, to: new) } catch {
            // A part of it is of no use, and takes the room that a copy into the database may need.
            if let newBytes { new.truncate(to: newBytes) }
            throw error
        }
        // Who has it open still must find nothing where the next frames belong, rather than zeros.
        let kept = WALHistory.position(history.parts.last { $0.file == oldFile }?.frames.upperBound ?? 0, end)
        if let oldBytes, oldBytes > kept { old.truncate(to: kept) }
        return history.isWhole ? .complete : .partial(frames: history.frames, of: end.frames)
    }

    /// What `rescueWAL` has written is in the database now, and the index has begun anew and names none of it: it goes, as
    /// with any checkpoint that empties the -wal. What another has put there meanwhile stays.
    ///
    /// - Parameter header: of the index, when that was written.
    /// - Returns: nil when another connection writes or checkpoints just now; nothing has happened then.
    public func emptyRescuedWAL(of header: WALIndex.Header) throws(SQLiteError) -> Void? {
        guard let index = WALIndex(connection: handle) else { return () }
        let rescued = WALIndex.End(header, copiedFrames: 0)
        return try withWALLocked { () throws(SQLiteError) -> Void in
            guard index.end.salts != rescued.salts else { return }
            let new = try WALInPlace(beside: fileName)
            if WALHistory.header(of: new)?.salts == rescued.salts { new.truncate(to: 0) }
        }
    }

    /// The -wal that is open has every frame that the index names: a checkpoint may copy them. nil: another connection writes just now.
    public func holdsWholeWAL() -> Bool? {
        guard let index = WALIndex(connection: handle), let file = walFile() else { return false }
        let answer = try? withWALLocked { () throws(SQLiteError) in
            let end = index.end
            return end.isEmpty || WALHistory(end, in: [file]).isWhole
        }
        return answer ?? nil
    }

    /// In the place of the -wal there is one whose frames are taken for this database's by who opens it now: the index has its salts.
    public var hasOwnWALInPlace: Bool { isWALInPlaceOwn ?? false }

    /// In the place of the -wal there is one of another database, or of another history of this one.
    public var hasForeignWALInPlace: Bool { isWALInPlaceOwn.map { !$0 } ?? false }

    /// nil: nobody takes what is there for frames.
    private var isWALInPlaceOwn: Bool? {
        guard let end = WALIndex(connection: handle)?.end, !end.isEmpty, let file = WALInPlace(at: fileName + "-wal"),
            let header = WALHistory.header(of: file)
        else { return nil }
        return header.salts == end.salts
    }

    /// The header comes last: without it nobody takes the frames for any.
    static func copy(
        _ history: WALHistory, _ end: WALIndex.End, from old: any WALSource, _ oldFile: Int, to new: WALInPlace
    ) throws(SQLiteError) {
        let frameBytes = WALHistory.frameHeaderBytes + end.pageBytes
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: frameBytes, alignment: 8)
        defer { buffer.deallocate() }
        for part in history.parts where part.file == oldFile {
            for frame in part.frames {
                let position = WALHistory.position(frame, end)
                guard old.read(buffer, at: position) else {
                    throw SQLiteError(extendedCode: SQLiteError.Code.readFailed, message: "the deleted -wal cannot be read")
                }
                try new.write(UnsafeRawBufferPointer(buffer), at: position)
            }
        }
        try new.sync()
        let written = history.header.withUnsafeBytes { header in
            Result { () throws(SQLiteError) in try new.write(header, at: 0) }
        }
        try written.get()
        try new.sync()
    }
}
