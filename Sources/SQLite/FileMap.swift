import CFileMap
import CSQLite

/// What a fault of the -shm's map, which SQLite shares with every other process, leaves to be said before it ends this one.
public enum IndexFault {
    /// - Parameter line: with its prefix and its end; it goes to stderr as it is.
    public static func say(_ line: String) { _ = walpool_file_map_last_words(line) }
}

/// A read-only connection's memory map of the database file; see file_map.h.
struct FileMap {
    private let map: OpaquePointer
    /// How many pages could not be read. The address is good for as long as the program runs.
    let unreadablePages: UnsafePointer<UInt32>

    /// nil: the connection reads its pages with read(2).
    init?(connection: OpaquePointer) {
        guard let map = walpool_file_map_keep(connection) else { return nil }
        self.map = map
        unreadablePages = walpool_file_map_faults(map)
    }

    /// To be called before the connection is closed.
    func release() { walpool_file_map_release(map) }

    var hasUnreadablePages: Bool { unreadablePages.pointee != 0 }
}

extension SQLiteError {
    /// What a read through the memory map ends with where read(2) would have failed.
    @usableFromInline static var unreadablePage: SQLiteError {
        SQLiteError(extendedCode: Code.memoryMapFailed, message: "a page of the database file cannot be read")
    }
}
