import CLinux
import Glibc
import POSIX

/// Whether anything has happened to the names of a database's files, or anybody has written into the database, since that was asked last.
///
/// Three paths are looked up after each commit otherwise: of the 30 µs from the end of a lone client's sync to its answer, that is
/// half. The kernel notes the same in a queue when it happens, and whether that is empty is one short call: "The inotify API provides a
/// mechanism for monitoring filesystem events" (https://man7.org/linux/man-pages/man7/inotify.7.html). Who has renamed a file has
/// put it there before the call returns.
///
/// It does not tell of everything: it "does not catch remote events that occur on network filesystems" (there), nor is a directory above
/// watched, which may be renamed, or another file system mounted, nor is what is written by a map. So it is for file systems of this
/// machine only, and takes the place of looking for no longer than `trustedNanoseconds`.
///
/// `@unchecked Sendable`: a descriptor that nobody changes. Of those who have the same one only one may ask, as asking
/// takes what has happened.
final class FileWatch: @unchecked Sendable {
    private let descriptor: Int32

    /// - Parameter path: of the database, without symbolic links.
    init?(path: String) {
        let directory = Directory.of(path)
        // A single file may be mounted into a directory.
        guard Self.isLocal(walpool_file_system(directory)), Self.isLocal(walpool_file_system(path)) else { return nil }
        descriptor = walpool_watch(directory, path)
        guard descriptor >= 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// Takes what has happened since this was called before, or since the beginning. True: nothing.
    @discardableResult
    func takeEvents() -> Bool { walpool_watch_is_quiet(descriptor) != 0 }

    /// What it does not tell of is found by looking, after this time at the latest.
    static let trustedNanoseconds: Int64 = 10_000_000

    /// Where nobody changes anything past this kernel: ext2 to ext4, XFS, Btrfs, F2FS, tmpfs, as linux/magic.h numbers them.
    static func isLocal(_ fileSystem: UInt32) -> Bool {
        [0xEF53, 0x5846_5342, 0x9123_683E, 0xF2F5_2010, 0x0102_1994].contains(fileSystem)
    }
}
