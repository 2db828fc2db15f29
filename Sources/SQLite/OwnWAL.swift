import COwnWAL
import POSIX

extension SQLiteLibrary {
    /// Closes connections, or whatever else `close` does on this thread. Of all files that SQLite deletes meanwhile as a -wal none goes
    /// but the one that is meant, whatever has come to its name.
    ///
    /// - Parameters:
    ///   - wal: the one that is meant; nil: no -wal goes.
    ///   - isEmpty: there is nothing in it any more; if there is, somebody else has written it.
    /// - Returns: where one is now that had come there and could not be put back, as a third has come since; nil: there is none.
    public static func deletingNoWAL(but wal: FileIdentity?, isEmpty: Bool, _ close: () -> Void) -> String? {
        // Inode 0 is no file's: directories have always marked what is deleted by it.
        walpool_own_wal_begin(wal?.device ?? 0, wal?.inode ?? 0, isEmpty ? 1 : 0)
        close()
        return walpool_own_wal_end().map { String(cString: $0) }
    }
}
