import CLinux
import Glibc
import POSIX

/// The -shm on a file system that copies what is written.
extension DatabaseFiles {
    /// Makes the -shm, where there is none yet, as a file that Btrfs writes in place.
    ///
    /// Every process maps it. To a page of a mapped file, too, Btrfs gives a new block, and where none is left whoever touches the page
    /// gets a signal, SIGBUS: on a full disk a SELECT would end the daemon. A file without copy-on-write has the blocks it needs, which
    /// SQLite sees to when it makes the -shm longer: "Write a single byte to the end of each newly allocated or extended page"
    /// (unixShmMap in https://www.sqlite.org/src/file/src/os_unix.c). SQLite also gives an empty one the database's mode and owner
    /// (`robust_open`, there). Without the attribute all is as it would be.
    static func makeIndexInPlace(_ path: String) {
        let file = target(of: path)
        guard walpool_file_system(Directory.of(file)) == walpool_btrfs() else { return }
        let made = open(file + "-shm", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard made >= 0 else { return }
        _ = walpool_write_in_place(made)
        close(made)
    }
}
