import Glibc

/// Which file it is, whatever it is called: a path may lead to another one by the time it is used again. The number is not given to
/// another file for as long as somebody has this one open.
public struct FileIdentity: Hashable, Sendable {
    /// As stat(2) has them.
    public let device: UInt64
    public let inode: UInt64

    /// A file that was looked at in another way: the numbers are the same ones.
    public init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }

    private init(_ status: stat) { self.init(device: UInt64(status.st_dev), inode: UInt64(status.st_ino)) }

    /// The open file; nil: the descriptor is none.
    public init?(ofDescriptor descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    /// The file that a path leads to, symbolic links followed; nil, and errno says why: there is none.
    public init?(at path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// What has this name, which may be a symbolic link; nil, and errno says why: nothing has.
    public init?(named path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        self.init(status)
    }
}
