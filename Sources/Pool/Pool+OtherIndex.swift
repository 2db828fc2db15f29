import Glibc
import POSIX
import SQLite
import Scheduling

/// Processes that have the database open by a -shm that was deleted. The locks are there: they and whoever makes a new one
/// have none in common, and each would write over what the other has committed. Those of another PID namespace, as in a
/// container, are not in /proc/locks, and F_GETLK tells of them.
extension Pool {
    /// Every connection in WAL mode keeps a shared lock on the database's file (https://www.sqlite.org/lockingv3.html), on
    /// these bytes of it.
    private static let sharedBytes = (first: off_t(0x4000_0002), count: off_t(510))
    /// Every process that has a -shm open keeps a shared lock on this byte of it (`UNIX_SHM_DMS` in
    /// https://www.sqlite.org/src/file/src/os_unix.c).
    private static let indexBytes = (first: off_t(128), count: off_t(1))

    /// One that is there before the database is opened, while there is no -shm in its place, or no -wal: SQLite has both
    /// open as long as it has that lock.
    ///
    /// Only while this process has no connection: closing the descriptor would drop its locks.
    static func processWithLostFiles(_ path: String) -> Int32? {
        guard let fileName = Directory.resolved(path) else { return nil }
        func isOneMissing() -> Bool { access(fileName + "-shm", F_OK) != 0 || access(fileName + "-wal", F_OK) != 0 }
        guard isOneMissing() else { return nil }
        let descriptor = open(fileName, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { Glibc.close(descriptor) }
        let end = MonotonicClock.now.advanced(byMilliseconds: Int64(ConnectionSettings.openTimeoutMilliseconds))
        // In another mode there is none, and readers have the same locks: "the read version", byte 19 of the file, is 2 in WAL mode
        // (https://www.sqlite.org/fileformat2.html#file_format_version_numbers).
        var version: UInt8 = 0
        guard pread(descriptor, &version, 1, 19) == 1, version == 2 else { return nil }
        // Who has just opened the database may be about to make them, and who closes it as the last one has deleted them.
        return MonotonicClock.pollUntilGone(by: end) { isOneMissing() ? processThatLocks(sharedBytes, of: descriptor) : nil }
    }

    /// One whose -shm was deleted while the database was opened, so that the one that is open here is new and nobody else
    /// has it open. Its files need not be shown to this process, as they must be for
    /// `OutsiderLocks.holder(ofDeletedIndexOf:)`.
    ///
    /// - Parameter files: that are open here, by one connection.
    static func processWithAnotherIndex(
        _ files: DatabaseFiles, withinMilliseconds milliseconds: Int64 = Int64(ConnectionSettings.openTimeoutMilliseconds)
    ) -> Int32? {
        guard let (database, index) = files.descriptors else { return nil }
        let end = MonotonicClock.now.advanced(byMilliseconds: milliseconds)
        // Who has just opened the database may be about to open it.
        return MonotonicClock.pollUntilGone(by: end) {
            guard let process = processThatLocks(sharedBytes, of: database) else { return nil }
            return processThatLocks(indexBytes, of: index) == nil ? process : nil
        }
    }

    /// Whether no other process has the database open. /proc/locks may miss one, also where it is long and locks come and
    /// go while it is read.
    var isServedAlone: Bool {
        guard OutsiderLocks.holders(ofDatabase: path, withReaders: true).isEmpty else { return false }
        guard let (database, index) = writer.places.descriptors else { return true }
        return Self.processThatLocks(Self.sharedBytes, of: database) == nil && Self.processThatLocks(Self.indexBytes, of: index) == nil
    }

    /// A process that has the -shm open has no number here. There may be one beside others that have.
    var isServedBesideHidden: Bool { writer.places.descriptors.map { Self.processThatLocks(Self.indexBytes, of: $0.index) == 0 } ?? false }

    static func processName(_ process: Int32) -> String { process > 0 ? "process \(process)" : "a process of another PID namespace" }

    /// Another than this one; nil: nobody has any of them locked. 0: it is of another PID namespace.
    private static func processThatLocks(_ bytes: (first: off_t, count: off_t), of descriptor: Int32) -> Int32? {
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = bytes.first
        lock.l_len = bytes.count
        return fcntl(descriptor, F_GETLK, &lock) == 0 && lock.l_type != Int16(F_UNLCK) ? lock.l_pid : nil
    }
}
