import Glibc
import POSIX

/// Whether the file system has room for what VACUUM or a backup writes.
package enum DiskSpace {
    /// What is to be written, and where.
    struct Need: Equatable {
        var directory: String
        var bytes: Int64
    }

    /// Bytes an ordinary user may still write in the file system of this directory, and which one it is; nil when it
    /// cannot be said.
    static func available(in directory: String) -> (fileSystem: UInt64, bytes: Int64)? {
        var status = stat()
        var space = statvfs()
        guard stat(directory, &status) == 0, statvfs(directory, &space) == 0 else { return nil }
        let blocks = Int64(clamping: space.f_bavail)
        let (bytes, overflow) = blocks.multipliedReportingOverflow(by: Int64(clamping: space.f_frsize))
        return (UInt64(status.st_dev), overflow ? .max : bytes)
    }

    /// The same where a file is.
    static func available(besideFile path: String) -> (directory: String, bytes: Int64)? {
        let directory = Directory.of(path)
        return available(in: directory).map { (directory, $0.bytes) }
    }

    /// A -wal and a -shm take less than that for a start.
    private static let startBytes: Int64 = 256 << 10

    /// Why a database cannot be opened here, in words; nil: not for that.
    package static func littleRoom(forDatabase path: String) -> String? {
        guard let (directory, bytes) = available(besideFile: path), bytes < startBytes else { return nil }
        return "the file system of \(directory) has \(bytes) bytes left"
    }

    /// What is missing, in words; nil when there is room. Needs in one file system are added up.
    static func shortage(
        of needs: [Need], available: (String) -> (fileSystem: UInt64, bytes: Int64)? = available(in:)
    ) -> String? {
        var needed: [UInt64: Int64] = [:]
        for need in needs {
            guard let (fileSystem, bytes) = available(need.directory) else {
                return "the room in \(need.directory) cannot be found out"
            }
            needed[fileSystem, default: 0] += need.bytes
            if needed[fileSystem]! > bytes {
                return "\(need.directory) has room for \(bytes) bytes, and VACUUM writes up to \(needed[fileSystem]!)"
            }
        }
        return nil
    }
}
