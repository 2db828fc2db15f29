import CLinux
import Glibc
import Journal
import Logging
import POSIX
import SQLite
import Scheduling

/// That one process at a time serves a database: a lock (flock(2)) of its file, which goes with the process however that ends.
///
/// Two daemons would be outsiders to each other: neither's queue knows the other's writers, and with a SQLite that has the WAL-reset bug
/// (https://www.sqlite.org/wal.html#walresetbug) they may corrupt the file. The lock is of the file and not of a name, so that it is
/// noticed behind a symbolic link, a hard link and in a container, too.
///
/// SQLite and whoever else opens the file do not notice it: "there is no interaction between the types of lock placed by flock() and
/// fcntl(2)" (flock(2)), and SQLite's are of fcntl(2). On NFS and the like there is, so there it is not taken.
struct DatabaseLock: ~Copyable {
    /// The file that is locked.
    let file: FileIdentity
    private let descriptor: Int32

    private init(_ file: FileIdentity, _ descriptor: Int32) {
        self.file = file
        self.descriptor = descriptor
    }

    /// Only when this process has no connection to the database any more: "If a process closes any file descriptor referring to a file,
    /// then all of the process's locks on that file are released" (fcntl_locking(2)).
    deinit { close(descriptor) }

    /// Waits a moment for a daemon that is about to end. nil: there is no such file yet, or there are no such locks on its disk. Where the
    /// kernel refuses the lock for another reason, the file is served all the same, without it. The error says who has it.
    ///
    /// - Parameter isRefused: is called before an error is thrown. It closes what has the file open, which is to have its locks until then.
    static func take(_ path: String, _ log: Logger, isRefused: () -> Void = {}) throws(SQLiteError) -> DatabaseLock? {
        if NetworkFileSystem.name(walpool_file_system(path)) != nil { return nil }
        // Of what is no file SQLite says so; a FIFO is not waited for.
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        // One of which nobody knows what it is stays open.
        guard descriptor >= 0, let file = FileIdentity(ofDescriptor: descriptor) else { return nil }
        let lock = DatabaseLock(file, descriptor)
        if isTaken(descriptor) || errno != EWOULDBLOCK { return lock }
        let milliseconds = PoolLimits.databaseLockMilliseconds
        log.notice(.started, "\(holder(of: file)) has \(path) locked: waiting up to \(milliseconds) ms for its end")
        let end = MonotonicClock.now.advanced(byMilliseconds: milliseconds)
        if MonotonicClock.pollUntilTrue(by: end, { isTaken(descriptor) }) { return lock }
        isRefused()
        throw SQLiteError(
            extendedCode: SQLiteError.Code.busy,
            message: "\(holder(of: file)) has this file locked, which one daemon at a time may serve: stop it first")
    }

    private static func isTaken(_ descriptor: Int32) -> Bool { flock(descriptor, LOCK_EX | LOCK_NB) == 0 }

    private static func holder(of file: FileIdentity) -> String { OutsiderLocks.holder(of: file) ?? "another process" }
}

extension Pool.WriterSlot {
    /// The database that was opened was made only then, or has come into the place of the one that was locked.
    func lockOpened(_ log: Logger) throws(SQLiteError) {
        guard let path = writer?.places.path, let file = FileIdentity(at: path), lock?.file != file else { return }
        lock = try DatabaseLock.take(path, log) {
            writer?.connection.keepWALWhenClosed()
            writer = nil
        }
    }
}
