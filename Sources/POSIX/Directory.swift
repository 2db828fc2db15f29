import Glibc

/// Directories, and the names in them.
public enum Directory {
    /// The directory a file's name stands in: what comes before the last slash of its path, or ".".
    public static func of(_ path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The names in it, "." and ".." among them; nil, and errno says why: it cannot be read.
    public static func names(in directory: String) -> [String]? {
        guard let stream = opendir(directory) else { return nil }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            names.append(withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        return names
    }

    /// Where a path leads, symbolic links followed: realpath(3). nil, and errno says why: nowhere.
    public static func resolved(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Brings what was made, renamed or deleted there onto the disk: "Calling fsync() does not necessarily ensure that the entry in the
    /// directory containing the file has also reached disk. For that an explicit fsync() on a file descriptor for the directory is also
    /// needed." fsync(2), https://man7.org/linux/man-pages/man2/fsync.2.html
    ///
    /// - Parameter path: of the file.
    /// - Returns: the call that failed, with its errno; nil: it is there.
    @discardableResult
    public static func sync(of path: String) -> (call: String, errorNumber: Int32)? {
        let descriptor = open(of(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return ("open", errno) }
        defer { close(descriptor) }
        return fsync(descriptor) == 0 ? nil : ("fsync", errno)
    }
}
