import POSIX
import SQLite

/// The files the writer has open, for whoever opens them besides: never another database that has their name by now.
///
/// Opening it would do the damage already: SQLite would read the one's file with the other's -wal, find the other's index in
/// its -shm, and truncate that -shm where it sees nobody's lock on it.
final class ServedFiles: Sendable {
    /// nil while the writer is opened anew.
    private let files = Locked<(known: OpenFiles, walIndex: WALIndex?)?>(nil)

    /// - Parameter walIndex: of a connection that is open until `areClosed` has returned.
    func wereOpened(_ known: OpenFiles, _ walIndex: WALIndex?) { files.withLock { $0 = (known, walIndex) } }
    /// - Parameter known: what is in the database from now on until the next checkpoint.
    func wereCheckpointed(_ known: OpenFiles) { files.withLock { $0 = $0.map { (known: known, walIndex: $0.walIndex) } } }
    func areClosed() { files.withLock { $0 = nil } }

    /// nil while they are opened anew.
    var places: DatabaseFiles? { files.withLock { $0?.known.places } }

    /// What the index says; it is there for as long as the lock is held.
    private var walHeader: WALIndex.Header? { files.withLock { $0?.walIndex?.copyHeader() } }

    /// What is wrong with them, or nil.
    var problem: SQLiteError? {
        guard let places else { return nil }
        if let problem = places.problem { return problem }
        guard let header = walHeader, let wal = places.walInPlace, wal.bytes < header.leastWALBytes else { return nil }
        // A checkpoint that empties it says so in the index first.
        return walHeader == header ? DatabaseFiles.truncatedWAL : nil
    }

    /// Why what is read of them may be a mixture, or nil: another database was written into one of them. As far as that can
    /// be told without the writer, which somebody may have for long.
    ///
    /// - Parameter connection: that reads them. Nothing is mapped there.
    func problemOfReading(by connection: Connection) -> SQLiteError? {
        guard let known = files.withLock({ $0?.known }) else { return nil }
        return known.seen(by: connection).problemOfCopying
    }

    /// Why nobody can tell, or nil.
    var obstacle: String? { places?.obstacle }

    /// Opens something of them, and looks before and afterwards.
    ///
    /// - Parameter open: calls what it gets when SQLite has opened the database's file, and nothing else.
    func open<Opened>(
        _ open: (_ whenOpened: (Connection) throws(SQLiteError) -> Void) throws(SQLiteError) -> Opened
    ) throws(SQLiteError) -> Opened {
        if let problem { throw problem }
        let opened = try open { (connection) throws(SQLiteError) in
            if let problem { throw problem }
            // The path leads to the right file now, and when SQLite went there it may have led to another.
            guard !connection.hasMoved else { throw DatabaseFiles.missingForAMoment }
        }
        if let problem { throw problem }
        return opened
    }
}
