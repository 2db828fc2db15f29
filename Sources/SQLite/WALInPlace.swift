import Glibc
import POSIX

/// The -wal that stands beside a database now, while a connection has another open that was deleted. It carries no locks, so that
/// opening it beside SQLite drops none.
final class WALInPlace: WALSource, Sendable {
    private let descriptor: Int32

    /// Makes it where there is none, with the owner and the permissions of the database's file, as SQLite does (`findCreateFileMode`
    /// in https://www.sqlite.org/src/file/src/os_unix.c): whoever may use the one may use the other.
    init(beside fileName: String) throws(SQLiteError) {
        let path = fileName + "-wal"
        var opened = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        if opened < 0, errno == ENOENT {
            var database = stat()
            guard stat(fileName, &database) == 0 else { throw Self.error("stat", fileName) }
            let mode = database.st_mode & 0o777
            opened = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
            if opened >= 0 {
                // The umask may have taken some; what fails here is what SQLite lets fail, too.
                _ = fchmod(opened, mode)
                if geteuid() == 0 { _ = fchown(opened, database.st_uid, database.st_gid) }
                Directory.sync(of: path)
            }
        }
        guard opened >= 0 else { throw Self.error("open", path) }
        descriptor = opened
    }

    /// nil: there is none.
    init?(at path: String) {
        let opened = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard opened >= 0 else { return nil }
        descriptor = opened
    }

    deinit { close(descriptor) }

    func read(_ buffer: UnsafeMutableRawBufferPointer, at position: Int64) -> Bool {
        pread(descriptor, buffer.baseAddress, buffer.count, off_t(position)) == buffer.count
    }

    func write(_ bytes: UnsafeRawBufferPointer, at position: Int64) throws(SQLiteError) {
        var done = 0
        while done < bytes.count {
            let count = pwrite(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done, off_t(position) + done)
            guard count > 0 || (count < 0 && errno == EINTR) else { throw Self.error("write", "the new -wal") }
            done += max(count, 0)
        }
    }

    /// How long it is; nil when that cannot be told.
    var bytes: Int64? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : nil
    }

    func truncate(to bytes: Int64) { _ = ftruncate(descriptor, off_t(bytes)) }

    func sync() throws(SQLiteError) {
        guard fsync(descriptor) == 0 else { throw Self.error("fsync", "the new -wal") }
    }

    private static func error(_ call: String, _ path: String) -> SQLiteError {
        SQLiteError(extendedCode: SQLiteError.Code.writeFailed, message: "\(call) of \(path): \(String(cString: strerror(errno)))")
    }
}
