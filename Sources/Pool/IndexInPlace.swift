import Glibc

/// The -shm that stands beside a database while this process has another open, which was deleted or moved away. As long as this exists
/// nobody else uses it: not one process has the database open by it, and none can.
final class IndexInPlace {
    /// The locks of a WAL index are the bytes 120 to 127 of its file (https://www.sqlite.org/walformat.html#wal_locks), and
    /// whoever has it open keeps a shared one on the next (`UNIX_SHM_DMS` in
    /// https://www.sqlite.org/src/file/src/os_unix.c).
    private static let (firstLock, locks) = (off_t(120), off_t(9))

    private let descriptor: Int32

    /// nil: somebody uses it; or it is not to be had.
    init?(beside path: String) {
        let opened = open(path + "-shm", O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        guard opened >= 0 else { return nil }
        // The one that this process has open may have come back. To close it, by whatever descriptor, would drop the locks that SQLite
        // has there: "all POSIX advisory locks … are dropped"
        // (https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_). So it stays open.
        guard !DatabaseFiles.isOpenHereBesides(opened) else { return nil }
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = Self.firstLock
        lock.l_len = Self.locks
        guard fcntl(opened, F_SETLK, &lock) == 0 else {
            Glibc.close(opened)
            return nil
        }
        descriptor = opened
    }

    deinit { Glibc.close(descriptor) }
}
