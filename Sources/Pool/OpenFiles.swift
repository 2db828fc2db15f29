import CLinux
import SQLite
import Scheduling

/// What is checked before a commit is acknowledged: that the files are still where the next start will look for them, that they are no
/// shorter than they were, and that nobody has written another database into them.
struct OpenFiles {
    let places: DatabaseFiles
    /// The database's file when it was last looked at: how long it was, when it was last written to, and some of it. Between checkpoints
    /// nobody changes it.
    private var databaseBytes: UInt64
    private var databaseModified: UInt64
    private var sample: DatabaseSample?
    private var database: DatabaseFile?
    /// What the last checkpoint was to copy last.
    private var lastPage: DatabaseSample.Page?
    /// A checkpoint was made, by this process. It may make the file as long as VACUUM has left the database, as another one's may.
    private var wasCheckpointed = false
    /// The -wal when it was last looked at.
    private var walBytes: UInt64 = 0
    private var walBlocks: UInt64 = 0
    private var wal: WALFile?
    private var walIndex: WALIndex?
    /// From before the last look, so that a checkpoint beside it is found at the next.
    private var marks: WALIndex.CheckpointMarks?
    /// After a crash the index looks as it does in the middle of a checkpoint.
    private let marksAtOpening: WALIndex.CheckpointMarks?
    /// nil: all paths are looked up each time.
    private var watch: FileWatch?
    /// When they were looked up last and nothing was wrong.
    private var lookedUpAt: Instant?

    /// - Parameter walIndex: of the connection, which is open for as long as this is used.
    init(of connection: Connection, walIndex: WALIndex?) {
        self.walIndex = walIndex
        // Before they are looked at.
        watch = FileWatch(path: connection.fileName)
        wal = connection.walFile()
        database = walIndex == nil ? nil : connection.databaseFile()
        marks = walIndex?.checkpointMarks
        marksAtOpening = marks
        places = DatabaseFiles(of: connection)
        let status = places.databaseInPlace
        databaseBytes = status?.bytes ?? 0
        databaseModified = status?.modified ?? 0
        if let status = places.walInPlace { (walBytes, walBlocks) = (status.bytes, status.blocks) }
        takeSample()
    }

    /// What is known of them, for whoever has the same files open by another connection, for as long as that is open.
    func seen(by connection: Connection) -> OpenFiles {
        var files = self
        (files.database, files.wal, files.walIndex) = (connection.databaseFile(), connection.walFile(), connection.walIndex())
        files.watch = nil
        return files
    }

    /// For whoever looks after each commit from now on; this one looks all paths up.
    mutating func handOver() -> OpenFiles {
        defer { watch = nil }
        return self
    }

    /// To be called before a checkpoint of this process's.
    mutating func willBeCheckpointed() {
        if let wal, let walIndex, let page = wal.lastPage(of: walIndex) { lastPage = page }
    }

    /// To be called after a checkpoint of this process's; then ask for `problem`.
    mutating func wereCheckpointed() { wasCheckpointed = true }

    private mutating func takeSample() { sample = database.map { DatabaseSample(of: $0, and: lastPage) } }

    /// Why what was written into them may not be found again, or nil.
    mutating func problem(now: Instant = MonotonicClock.now) -> SQLiteError? {
        let marksBefore = walIndex?.checkpointMarks
        if areUntouched(now: now) {
            if let walStatus = places.openWAL { return problem(ofOnly: walStatus, marksBefore) }
            // It cannot be asked by its descriptor, so a watch gives nothing.
            watch = nil
        }
        return lookUp(now: now, marksBefore)
    }

    /// Since the paths were looked up nothing has happened to what they lead to, and nobody has written into the database.
    private func areUntouched(now: Instant) -> Bool {
        guard let watch, let lookedUpAt, !wasCheckpointed,
            now.nanoseconds &- lookedUpAt.nanoseconds < FileWatch.trustedNanoseconds
        else { return false }
        return watch.takeEvents()
    }

    /// The -wal is written to by this process all the time, so that no watch tells of others.
    private mutating func problem(ofOnly walStatus: walpool_file, _ marksBefore: WALIndex.CheckpointMarks?) -> SQLiteError? {
        if let problem = problem(ofWAL: walStatus) {
            lookedUpAt = nil
            return problem
        }
        (walBytes, walBlocks) = (walStatus.bytes, walStatus.blocks)
        marks = marksBefore
        return nil
    }

    private mutating func lookUp(now: Instant, _ marksBefore: WALIndex.CheckpointMarks?) -> SQLiteError? {
        // First, so that what happens from here on is found the next time. `lookedUpAt` stays nil until everything was looked at, so
        // nothing that is taken here is lost.
        watch?.takeEvents()
        lookedUpAt = nil
        guard let status = places.databaseInPlace, let walStatus = places.walInPlace, places.hasIndex else {
            // `Pool.lookAtFiles` tells the administrator of an obstacle.
            return places.problem ?? (places.obstacle == nil ? DatabaseFiles.missingForAMoment : nil)
        }
        if let problem = problem(of: status) { return problem }
        if let problem = problem(ofWAL: walStatus) { return problem }
        if status.modified != databaseModified { takeSample() }
        (databaseBytes, databaseModified) = (status.bytes, status.modified)
        (walBytes, walBlocks) = (walStatus.bytes, walStatus.blocks)
        wasCheckpointed = false
        marks = marksBefore
        lookedUpAt = now
        return nil
    }

    /// The same of the database alone, for whoever is about to begin the -wal anew: the index has other salts then, as
    /// after a checkpoint.
    var problemOfDatabase: SQLiteError? { places.databaseInPlace.flatMap { problem(of: $0) } }

    private func problem(of status: walpool_file) -> SQLiteError? {
        isWrittenOver(status) ? DatabaseFiles.writtenOver : isCut(status) ? DatabaseFiles.truncated : nil
    }

    /// Somebody has made the -wal shorter, and not by a checkpoint (`: > app.db-wal`, where it has become large). The next
    /// commit makes it as long again, with a hole of zeros before it, so that only the room it takes on the disk may tell.
    /// A file system may take some of that back for reasons of its own: only then is anything read.
    ///
    /// The -wal may also be longer than its frames are: another was written over it (`cp other.db-wal app.db-wal`), or room was made ahead,
    /// or a transaction that was rolled back had made it longer. What is read tells these apart.
    private func problem(ofWAL status: walpool_file) -> SQLiteError? {
        if status.bytes < walBytes || status.blocks < walBlocks {
            return problem(walContent(isThorough: true), else: DatabaseFiles.truncatedWAL)
        }
        guard status.bytes > walBytes, let walIndex, status.bytes > walIndex.copyHeader().leastWALBytes else { return nil }
        return problem(walContent(), else: DatabaseFiles.writtenOverWAL)
    }

    /// Where the disk does not say what stands there, nobody has written over it as far as is known: that is an error like another.
    private func problem(_ content: WALContent, else loss: SQLiteError) -> SQLiteError? {
        switch content {
        case .own: nil
        case .foreign, .cut: loss
        case .unreadable(let code): SQLiteError(extendedCode: code, message: "the -wal cannot be read")
        }
    }

    /// Why nothing may be copied out of the -wal, or nil: there stands something else than what was committed, or the
    /// database's file is not the one that it belongs to any more.
    var problemOfCopying: SQLiteError? {
        guard !isDatabaseWrittenOver else { return DatabaseFiles.writtenOver }
        guard let walIndex, walIndex.frames > walIndex.backfilledFrames else { return nil }
        return problem(walContent(), else: DatabaseFiles.writtenOverWAL)
    }

    /// - Parameter isThorough: see `WALFile.content`. Whether it is another's the header tells.
    func walContent(isThorough: Bool = false) -> WALContent {
        guard let wal, let walIndex else { return .own }
        return wal.content(of: walIndex, isThorough: isThorough)
    }

    /// See `WALFile.isForeign` and `isOfAnother`.
    var hasForeignWAL: Bool { look { $0.isForeign(to: $1) } }
    var hasWALOfAnother: Bool { look { $0.isOfAnother(than: $1) } }

    private func look(_ isSo: (WALFile, WALIndex) -> Bool) -> Bool {
        guard let wal, let walIndex else { return false }
        return isSo(wal, walIndex)
    }

    /// Another database was written into the file (`cp backup.db app.db`), and what is in the -wal is not for that.
    var isDatabaseWrittenOver: Bool { places.databaseInPlace.map(isWrittenOver) ?? false }

    /// A time that has changed proves nothing (`touch`), but without it nothing is read.
    private func isWrittenOver(_ status: walpool_file) -> Bool {
        guard status.modified != databaseModified, !wasCheckpointed, !somebodyHasCheckpointed,
            let sample, let database, let wal, let walIndex, sample.isWrittenOver(in: database, besides: wal, walIndex)
        else { return false }
        return !somebodyHasCheckpointed
    }

    /// The database's file lacks what no checkpoint has cut off: what is copied into it now may go into another one that is just being
    /// written over it.
    var isDatabaseCut: Bool { places.databaseInPlace.map(isCut) ?? false }

    private func isCut(_ status: walpool_file) -> Bool {
        status.bytes < databaseBytes && !wasCheckpointed && !somebodyHasCheckpointed
    }

    /// Since the last look, or just now. To be asked when the file was found to be another: the marks have changed before that.
    private var somebodyHasCheckpointed: Bool {
        guard let now = walIndex?.checkpointMarks, let marksAtOpening else { return false }
        return now != marks || (now.isUnderWay && !now.hasSameAttempt(as: marksAtOpening))
    }
}
