import Glibc

/// The name of a Unix socket, as system calls take it.
public struct UnixSocketAddress: Sendable {
    private var address = sockaddr_un()

    /// The longest path, in bytes: unix(7) gives it 108, and a NUL ends it here.
    public static let pathLimit = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    /// nil: the path is longer than `pathLimit`.
    public init?(path: String) {
        guard path.utf8.count <= Self.pathLimit else { return nil }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    }

    /// bind(2), with its result.
    public func bind(_ descriptor: Int32) -> Int32 { call { Glibc.bind(descriptor, $0, $1) } }

    /// connect(2), with its result.
    public func connect(_ descriptor: Int32) -> Int32 { call { Glibc.connect(descriptor, $0, $1) } }

    /// The pointer is of no use behind the call: it is to a copy.
    private func call(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }

    /// What a socket is bound to; nil, and errno says why: getsockname(2) has failed. A name that "begins with a null byte" is in no file
    /// system (unix(7), https://man7.org/linux/man-pages/man7/unix.7.html); it is written with an @.
    public static func path(ofBound descriptor: Int32) -> String? {
        var address = sockaddr_un()
        var size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        guard result == 0 else { return nil }
        let length = max(0, min(Int(size), MemoryLayout<sockaddr_un>.size) - MemoryLayout<sa_family_t>.size)
        return withUnsafeBytes(of: &address.sun_path) { bytes in
            let isAbstract = length > 0 && bytes[0] == 0
            let text = isAbstract ? bytes[1..<length] : bytes.prefix(length).prefix { $0 != 0 }
            return (isAbstract ? "@" : "") + String(decoding: text, as: UTF8.self)
        }
    }
}
