import CLinux
import SQLite

/// What a commit is not acknowledged without: that its files are where they will be found again, and as long as they were.
struct OpenFiles {
    let places: DatabaseFiles
    /// The length of the database's file when it was last looked at. Between checkpoints nobody changes it.
    private var databaseBytes: UInt64
    /// A checkpoint may make the file as long as VACUUM has left the database, this process's or another one's.
    private var mayBeShorter = false
    /// The -wal when it was last looked at.
    private var walBytes: UInt64 = 0
    private var walBlocks: UInt64 = 0
    private let wal: WALFile?
    private let walIndex: WALIndex?
    /// From before the last look, so that a checkpoint beside it is found at the next.
    private var marks: WALIndex.CheckpointMarks?
    /// After a crash the index looks as it does in the middle of a checkpoint.
    private let marksAtOpening: WALIndex.CheckpointMarks?

    /// - Parameter walIndex: of the connection, which is open for as long as this is used.
    init(of connection: Connection, walIndex: WALIndex?) {
        self.walIndex = walIndex
        wal = connection.walFile()
        marks = walIndex?.checkpointMarks
        marksAtOpening = marks
        places = DatabaseFiles(of: connection)
        databaseBytes = places.databaseInPlace?.bytes ?? 0
        if let status = places.walInPlace { (walBytes, walBlocks) = (status.bytes, status.blocks) }
    }

    mutating func wereCheckpointed() { mayBeShorter = true }

    /// Why what was written into them may not be found again, or nil.
    mutating func problem() -> SQLiteError? {
        let marksBefore = walIndex?.checkpointMarks
        guard let status = places.databaseInPlace, let walStatus = places.walInPlace, places.hasIndex else {
            // `Pool.lookAtFiles` tells the administrator of an obstacle.
            return places.problem ?? (places.obstacle == nil ? DatabaseFiles.passing : nil)
        }
        let isShorter = status.bytes < databaseBytes
        guard !isShorter || mayBeShorter || somebodyHasCheckpointed else {
            return DatabaseFiles.lost("the database's file was truncated while it was open")
        }
        if let problem = problem(ofWAL: walStatus) { return problem }
        databaseBytes = status.bytes
        (walBytes, walBlocks) = (walStatus.bytes, walStatus.blocks)
        mayBeShorter = false
        marks = marksBefore
        return nil
    }

    /// Somebody has made the -wal shorter, and not by a checkpoint (`: > app.db-wal`, where it has become large). The next commit makes it
    /// as long again, with a hole of zeros before it, so that only the room it takes on the disk may tell. A file system may take some
    /// of that back for reasons of its own: only then is anything read.
    ///
    /// Or it is longer than by its frames, because another was written over it (`cp other.db-wal app.db-wal`); but so it is when room was made
    /// ahead, or a transaction that was rolled back had made some: that is told by what is read, too.
    private func problem(ofWAL status: walpool_file) -> SQLiteError? {
        if status.bytes < walBytes || status.blocks < walBlocks { return walContent(isThorough: true) == .own ? nil : DatabaseFiles.truncatedWAL }
        guard status.bytes > walBytes, let walIndex, status.bytes > walIndex.copyHeader().leastWALBytes else { return nil }
        return walContent() == .own ? nil : DatabaseFiles.writtenOverWAL
    }

    /// Why nothing may be copied out of the -wal, or nil: there stands something else than what was committed.
    var problemOfCopying: SQLiteError? {
        guard let walIndex, walIndex.frames > walIndex.backfilledFrames else { return nil }
        return walContent() == .own ? nil : DatabaseFiles.writtenOverWAL
    }

    /// - Parameter isThorough: see `WALFile.content`. Whether it is another's the header tells.
    func walContent(isThorough: Bool = false) -> WALContent {
        guard let wal, let walIndex else { return .own }
        return wal.content(of: walIndex, isThorough: isThorough)
    }

    /// The database's file lacks what no checkpoint has cut off: what is copied into it now may go into another one that is just being
    /// written over it.
    var isDatabaseCut: Bool {
        guard let status = places.databaseInPlace else { return false }
        return status.bytes < databaseBytes && !mayBeShorter && !somebodyHasCheckpointed
    }

    /// Since the last look, or just now. To be asked when the file was found to be shorter: the marks have changed before that.
    private var somebodyHasCheckpointed: Bool {
        guard let now = walIndex?.checkpointMarks, let marksAtOpening else { return false }
        return now != marks || (now.isUnderWay && !now.hasSameAttempt(as: marksAtOpening))
    }
}
