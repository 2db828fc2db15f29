import Glibc
import POSIX

/// That somebody is at work on a backup's temporary file: a lock (flock(2)), which goes with its process however that ends. So a
/// temporary file left by a daemon that was killed can be told from one that another daemon is writing into the same directory.
///
/// Of a file beside it, because what is locked could not be written on every disk that takes backups: "Since Linux 2.6.12, NFS
/// clients support flock() locks by emulating them as fcntl(2) byte-range locks on the entire file. This means that fcntl(2) and
/// flock() locks do interact with one another over NFS", and SQLite's are of that kind. On SMB, "any IO on a locked file will always
/// fail with EACCES when done from a separate file descriptor" (flock(2)).
struct BackupLock: ~Copyable {
    static let ending = "-lock"

    private let path: String
    private let descriptor: Int32

    private init(_ path: String, _ descriptor: Int32) {
        self.path = path
        self.descriptor = descriptor
    }

    /// Removed while it is still locked: who opens it behind that finds another file, or none.
    deinit {
        unlink(path)
        close(descriptor)
    }

    /// The lock of a temporary file; nil: somebody else has it.
    static func take(for temporaryPath: String) throws(BackupError) -> BackupLock? {
        let path = temporaryPath + ending
        for _ in 0..<PoolLimits.backupLockAttempts {
            let descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw .system(call: "open", path: path, errorNumber: errno) }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                let number = errno
                close(descriptor)
                // What refuses a lock of fcntl(2), which it may be underneath: "EACCES or EAGAIN".
                if number == EWOULDBLOCK || number == EACCES { return nil }
                throw .system(call: "flock", path: path, errorNumber: number)
            }
            // Not by its number of links: NFS gives a file that is removed while it is open another name.
            if let file = FileIdentity(ofDescriptor: descriptor), file == FileIdentity(named: path) { return BackupLock(path, descriptor) }
            // Whoever had it has removed it since it was opened here.
            close(descriptor)
        }
        return nil
    }
}
