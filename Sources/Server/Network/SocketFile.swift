import Glibc
import POSIX
import Pool
import Scheduling

/// The file of a socket that this process has bound: its path may lead to another daemon's socket by the time it is removed,
/// when somebody has removed ours and that daemon has put its own there.
struct SocketFile: Equatable, Sendable {
    let path: String
    private let identity: FileIdentity

    /// The one that is there now; nil when there is none. The socket keeps it for as long as it is open.
    init?(at path: String) {
        guard let identity = FileIdentity(named: path) else { return nil }
        self.path = path
        self.identity = identity
    }

    /// Whether who connects to the path still comes here.
    var isInPlace: Bool { SocketFile(at: path) == self }

    /// Removes it unless the path leads to another one.
    func remove() {
        let remove = { if isInPlace { unlink(path) } }
        // Where there can be no lock nobody else makes a socket either; and one that does not come to an end holds up no stop.
        do throws(StartError) { try SocketLock.during(path, remove) } catch { remove() }
    }
}

/// One process at a time makes or removes a socket's file. Without that, two that start together find the same stale one, and the
/// later removes what the earlier has just put in its place, which then listens where nobody finds it.
///
/// The lock is a file beside the socket that is there for an instant only. It has not the name of PostgreSQL's own
/// (".s.PGSQL.5432.lock", https://www.postgresql.org/docs/current/app-postgres.html), which is there for as long as a server is.
enum SocketLock {
    static func during<Result>(_ socket: String, _ body: () throws(StartError) -> Result) throws(StartError) -> Result {
        let path = socket + ".starting"
        let lock = try take(path, for: socket)
        defer {
            // In this order, so that who gets the lock of a file that is gone finds that out.
            unlink(path)
            close(lock)
        }
        return try body()
    }

    private static func take(_ path: String, for socket: String) throws(StartError) -> Int32 {
        while true {
            let lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard lock >= 0 else {
                throw StartError("cannot create the socket \(socket): \(path): \(String(cString: strerror(errno)))")
            }
            guard hasLocked(lock) else {
                close(lock)
                throw StartError("another process makes or removes the socket \(socket) and does not come to an end: it has \(path) locked")
            }
            if let file = FileIdentity(ofDescriptor: lock), file == FileIdentity(named: path) { return lock }
            // The process that had it before has removed it, and the next one has another.
            close(lock)
        }
    }

    /// True also on a file system that has no such locks.
    private static func hasLocked(_ lock: Int32) -> Bool {
        let end = MonotonicClock.now.advanced(byMilliseconds: ServerLimits.socketLockMilliseconds)
        return MonotonicClock.pollUntilTrue(by: end, everyMilliseconds: ServerLimits.socketLockPauseMilliseconds) {
            flock(lock, LOCK_EX | LOCK_NB) == 0 || (errno != EWOULDBLOCK && errno != EINTR)
        }
    }
}
