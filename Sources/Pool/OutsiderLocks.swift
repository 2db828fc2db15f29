import CLinux
import Glibc
import POSIX

/// Who else has the database locked, as far as the kernel shows it.
///
/// In WAL mode the write lock is byte 120 of the -shm file ("WAL_WRITE_LOCK",
/// https://www.sqlite.org/walformat.html#wal_locks); a connection in exclusive mode, or one that recovers, locks others
/// of its bytes 120 to 127. /proc/locks lists POSIX locks with process and inode: proc(5).
package enum OutsiderLocks {
    /// "sqlite3 (process 1234)" for each, or empty when none is shown (another PID namespace, or gone already).
    ///
    /// - Parameter withReaders: those that only keep the file from being had alone count as well.
    package static func holders(ofDatabase path: String, withReaders: Bool = false) -> [String] {
        guard let file = file(path) else { return [] }
        return processes(thatLock: [file, file + "-shm"], withReaders: withReaders).map(name)
    }

    /// Where the -shm stands: beside the file that a symbolic link leads to.
    private static func file(_ path: String) -> String? { Directory.resolved(path) }

    /// One that has the database open by a -wal that was deleted, or nil when none is shown. Nobody but itself will find what it commits
    /// there, and it tells everybody in the -shm that it is in the -wal: whoever goes on with another one would copy zeros, or
    /// what stands there of another commit, into the database.
    ///
    /// - Parameter isDeleted: that is known, so one whose files are not shown to this process counts as well, and one that
    ///   has not the -wal in its place open.
    static func holder(ofDeletedWALOf path: String, isDeleted: Bool = false) -> String? {
        guard let file = file(path) else { return nil }
        let (wal, index) = ("\(file)-wal", "\(file)-shm")
        return processes(thatLock: [index], withReaders: true).first { process in
            guard let hasDeleted = has(process, "\(wal) (deleted)") else { return isDeleted }
            return hasDeleted || (isDeleted && keepsAnother(process, than: wal, index))
        }.map(name)
    }

    /// The -wal may have been moved away (`mv app.db-wal x`), or the process know it by another path, as in a container:
    /// its link does not say that it was deleted then. But who has the -shm locked has a -wal open: SQLite opens it before
    /// and closes it afterwards (sqlite3WalOpen, sqlite3WalClose in https://www.sqlite.org/src/file/src/wal.c). So it is
    /// looked more than once, for one that has just closed the database and opens it again had the lock at one look and not
    /// the file at the next.
    private static func keepsAnother(_ process: String, than wal: String, _ index: String) -> Bool {
        for look in 1...PoolLimits.outsiderLooks {
            if look > 1 { MonotonicClock.sleep(milliseconds: PoolLimits.lookMilliseconds) }
            guard hasOpen(process, wal) == false, processes(thatLock: [index], withReaders: true).contains(process) else { return false }
        }
        return true
    }

    /// One that has the database open by a -shm that was deleted, or nil when none is shown. Its locks are not those of whoever has made
    /// another since.
    static func holder(ofDeletedIndexOf path: String) -> String? {
        guard let file = file(path) else { return nil }
        return processes(thatLock: [file], withReaders: true).first { has($0, "\(file)-shm (deleted)") ?? false }.map(name)
    }

    /// Who has a `DatabaseLock`, or nil when that is not shown.
    static func holder(of file: FileIdentity) -> String? { processes(thatLock: [file], .wholeFile, withReaders: false).first.map(name) }

    private static func processes(thatLock files: [String], withReaders: Bool) -> [String] {
        // stat(2) only: opening and closing the file would drop SQLite's own locks.
        processes(thatLock: files.compactMap { FileIdentity(at: $0) }, .record, withReaders: withReaders)
    }

    private static func processes(thatLock files: [FileIdentity], _ kind: Kind, withReaders: Bool) -> [String] {
        let own = String(getpid())
        var found: [String] = []
        for line in read("/proc/locks").split(separator: "\n") {
            guard let process = process(thatLocks: files, kind, line: line, withReaders: withReaders), process != own else { continue }
            if !found.contains(process) { found.append(process) }
        }
        return found
    }

    /// As /proc/locks calls them.
    enum Kind: Substring {
        /// SQLite's, of fcntl(2).
        case record = "POSIX"
        /// Of flock(2).
        case wholeFile = "FLOCK"
    }

    /// Who has a lock of this kind on one of these files by this line of /proc/locks; nil: the line is of another file, or of another kind.
    static func process(
        thatLocks files: [FileIdentity], _ kind: Kind = .record, line: some StringProtocol, withReaders: Bool
    ) -> String? {
        // 1: POSIX  ADVISORY  WRITE 1234 fe:00:5678 120 120
        let fields = line.split(separator: " ")
        guard fields.count >= 8, fields[1] == kind.rawValue, withReaders || fields[3] == "WRITE",
            files.contains(where: { isSame(fields[5], as: $0) })
        else { return nil }
        return String(fields[4])
    }

    /// "fe:00:5678": the device's major and minor number in hexadecimal, and the inode in decimal (proc(5)); an inode's number is one file
    /// system's own, and small ones repeat on each. Where no block device is behind the file system the major number is 0, and the kernel's
    /// list may have another minor number than stat(2), as on btrfs and overlayfs: there the inode has to do.
    private static func isSame(_ field: some StringProtocol, as file: FileIdentity) -> Bool {
        let parts = field.split(separator: ":")
        guard parts.count == 3, let major = UInt32(parts[0], radix: 16), let minor = UInt32(parts[1], radix: 16) else { return false }
        let device = dev_t(file.device)
        return parts[2] == String(file.inode) && major == gnu_dev_major(device) && (major == 0 || minor == gnu_dev_minor(device))
    }

    private static func name(_ process: String) -> String {
        let name = read("/proc/\(process)/comm").filter { !$0.isNewline }
        return "\(name.isEmpty ? "unknown" : name) (process \(process))"
    }

    /// Whether a process has this file open, as the links of its descriptors tell it. "If the pathname has been unlinked,
    /// the symbolic link will contain the string ' (deleted)' appended to the original pathname" (proc(5), of another such
    /// link).
    ///
    /// nil: that is not shown to this process.
    private static func has(_ process: String, _ file: String) -> Bool? {
        guard let numbers = Directory.names(in: "/proc/\(process)/fd") else { return errno == ENOENT && isGone(process) ? false : nil }
        var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
        for number in numbers {
            let count = target.withUnsafeMutableBytes {
                readlink("/proc/\(process)/fd/\(number)", $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
            }
            if count > 0, target[..<count].elementsEqual(file.utf8) { return true }
        }
        return false
    }

    /// Whether a process has the file open that is in this place now, by whatever path.
    ///
    /// nil: that is not shown to this process, or it is gone.
    private static func hasOpen(_ process: String, _ path: String) -> Bool? {
        guard let numbers = Directory.names(in: "/proc/\(process)/fd") else { return nil }
        guard let file = FileIdentity(at: path) else { return false }
        return numbers.contains { FileIdentity(at: "/proc/\(process)/fd/\($0)") == file }
    }

    /// Where another user's processes are not shown, as in the service (ProtectProc=), they have no directory either, which "doesn't hide
    /// the fact that a process with a specific PID value exists (it can be learned … by "kill -0 $PID")": proc(5), hidepid. Those of
    /// another PID namespace have no number.
    private static func isGone(_ process: String) -> Bool {
        guard let number = pid_t(process), number > 0 else { return false }
        return kill(number, 0) != 0 && errno == ESRCH
    }

    private static func read(_ path: String) -> String {
        guard let file = fopen(path, "r") else { return "" }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while bytes.count < PoolLimits.lockListBytes {
            let count = fread(&chunk, 1, chunk.count, file)
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
