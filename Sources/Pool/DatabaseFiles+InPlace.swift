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
    /// (unixShmMap in https://www.sqlite.org/src/file/src/os_unix.c). Without the attribute all is as it would be.
    ///
    /// To be called before SQLite opens or makes one. A database that is refused afterwards keeps it, empty, and as SQLite would have left it: with
    /// the database's mode and owner, so that it is in nobody's way.
    ///
    /// - Parameter isNeeded: asked for the path of a regular file, and on Btrfs only.
    static func makeIndexInPlace(_ path: String, if isNeeded: (String) -> Bool = { _ in true }) {
        let file = target(of: path)
        var database = stat()
        guard walpool_file_system(Directory.of(file)) == walpool_btrfs(), stat(file, &database) == 0,
            database.st_mode & S_IFMT == S_IFREG, isNeeded(file)
        else { return }
        let mode = database.st_mode & 0o777
        let made = open(file + "-shm", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        guard made >= 0 else { return }
        defer { close(made) }
        fchmod(made, mode)
        // Before it is somebody else's: root may have been left with no right to it then.
        _ = walpool_write_in_place(made)
        if geteuid() == 0 { _ = fchown(made, database.st_uid, database.st_gid) }
    }

    /// To be called before this process has the database open, which is looked at by a descriptor of its own here: "the close() system call
    /// will cancel all POSIX advisory locks on the same file for all threads and all file descriptors in the process"
    /// (https://www.sqlite.org/howtocorrupt.html).
    ///
    /// "The file format write version and file format read version at offsets 18 and 19 … 2 for WAL"
    /// (https://www.sqlite.org/fileformat2.html#file_format_version_numbers).
    static func isInWALMode(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var versions: [UInt8] = [0, 0]
        return pread(descriptor, &versions, 2, 18) == 2 && versions == [2, 2]
    }
}
