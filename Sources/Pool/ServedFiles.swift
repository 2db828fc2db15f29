import SQLite

/// The files the writer has open, for whoever opens them besides: never another database that has their name by now.
///
/// Opening it would do the damage already: SQLite would read the one's file with the other's -wal, find the other's index in
/// its -shm, and truncate that -shm where it sees nobody's lock on it.
final class ServedFiles: Sendable {
    /// nil while the writer is opened anew.
    private let files = Locked<DatabaseFiles?>(nil)

    func wereOpened(_ places: DatabaseFiles) { files.withLock { $0 = places } }
    func areClosed() { files.withLock { $0 = nil } }

    /// What is wrong with them, or nil.
    var problem: SQLiteError? { files.withLock { $0 }?.problem }

    /// Why nobody can tell, or nil.
    var obstacle: String? { files.withLock { $0 }?.obstacle }

    /// Opens something of them, and looks before and afterwards.
    func open<Opened>(_ open: () throws(SQLiteError) -> Opened) throws(SQLiteError) -> Opened {
        if let problem { throw problem }
        let opened = try open()
        if let problem { throw problem }
        return opened
    }
}
