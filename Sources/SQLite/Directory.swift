import Glibc

/// The directory a file's name stands in.
public enum Directory {
    /// Brings what was made, renamed or deleted there onto the disk: "Calling fsync() does not necessarily ensure that the entry in the
    /// directory containing the file has also reached disk. For that an explicit fsync() on a file descriptor for the directory is also
    /// needed." fsync(2), https://man7.org/linux/man-pages/man2/fsync.2.html
    ///
    /// - Parameter path: of the file.
    /// - Returns: the call that failed, with its errno; nil: it is there.
    @discardableResult
    public static func sync(of path: String) -> (call: String, errorNumber: Int32)? {
        let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return ("open", errno) }
        defer { close(descriptor) }
        return fsync(descriptor) == 0 ? nil : ("fsync", errno)
    }
}
