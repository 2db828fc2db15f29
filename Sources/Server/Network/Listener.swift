import CLinux
import Glibc
import POSIX

/// The listening socket, in the directory and with the name PostgreSQL's clients look for.
struct Listener: Sendable {
    let descriptor: Int32
    let path: String
    /// The socket's file, where it is ours to remove: one that the service manager made, or that it keeps for the next start, is
    /// not.
    let file: SocketFile?

    /// Binds `path`. A socket file nobody listens on is replaced; one that somebody does is an error.
    init(path: String, mode: mode_t, leavesFile: Bool = false) throws(StartError) {
        let address = try Self.address(path)
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { throw StartError("socket: \(String(cString: strerror(errno)))") }
        do throws(StartError) {
            // Until it listens: a socket that is only bound looks like a stale one.
            file = try SocketLock.during(path) { () throws(StartError) in
                try Self.take(path, descriptor, address)
                chmod(path, mode)
                // Before anybody can connect.
                _ = walpool_refuse_descriptors(descriptor)
                guard listen(descriptor, ServerLimits.backlog) == 0 else {
                    throw StartError("cannot listen on \(path): \(String(cString: strerror(errno)))")
                }
                return leavesFile ? nil : SocketFile(at: path)
            }
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        self.path = path
    }

    /// The error is that of `init`, as far as it can be told without making anything.
    static func requireFree(_ path: String) throws(StartError) {
        guard try !isAlive(address(path), path) else { throw anotherServer(path) }
    }

    private static func address(_ path: String) throws(StartError) -> UnixSocketAddress {
        guard let address = UnixSocketAddress(path: path) else {
            throw StartError("the socket's path is too long (\(UnixSocketAddress.pathLimit) bytes are the limit): \(path)")
        }
        return address
    }

    private static func anotherServer(_ path: String) -> StartError { StartError("another server is listening on \(path)") }

    /// A socket that was bound and is listened on already, from the service manager.
    init(_ inherited: InheritedSocket) {
        descriptor = inherited.descriptor
        path = inherited.path
        file = nil
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        // Who has connected already may have sent some, and go on.
        _ = walpool_refuse_descriptors(descriptor)
    }

    /// Binds the socket, in place of one that nobody listens on.
    private static func take(_ path: String, _ descriptor: Int32, _ address: UnixSocketAddress) throws(StartError) {
        if try bind(descriptor, address, path) { return }
        guard try !isAlive(address, path) else { throw anotherServer(path) }
        unlink(path)
        guard try bind(descriptor, address, path) else { throw anotherServer(path) }
    }

    /// False: something has that name already.
    private static func bind(_ descriptor: Int32, _ address: UnixSocketAddress, _ path: String) throws(StartError) -> Bool {
        if address.bind(descriptor) == 0 { return true }
        if errno == EADDRINUSE { return false }
        throw StartError("cannot create the socket \(path): \(String(cString: strerror(errno)))")
    }

    /// Whether somebody listens there. Only a socket that nobody listens on may be replaced: what cannot be found out is an error.
    private static func isAlive(_ address: UnixSocketAddress, _ path: String) throws(StartError) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0 else { return false }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw StartError("\(path) exists and is not a socket") }
        let probe = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard probe >= 0 else { throw StartError("socket: \(String(cString: strerror(errno)))") }
        defer { Glibc.close(probe) }
        switch connect(probe, address, path, status) {
        case 0: return true
        // "A connect() on a stream socket found no one listening on the remote address" (connect(2)); ENOENT: it has gone meanwhile.
        case ECONNREFUSED, ENOENT: return false
        // As many connections wait already as may. Their turn is not waited for with the lock in hand.
        case EAGAIN: return true
        // EACCES: it is another user's, who may well listen. EPROTOTYPE: it is a socket of another kind.
        case let number: throw StartError("cannot find out whether somebody listens on \(path): \(String(cString: strerror(number)))")
        }
    }

    /// - Returns: 0, or errno.
    private static func connect(_ probe: Int32, _ address: UnixSocketAddress, _ path: String, _ status: stat) -> Int32 {
        if address.connect(probe) == 0 { return 0 }
        let number = errno
        guard number == EACCES, status.st_uid == geteuid(), status.st_mode & S_IWUSR == 0 else { return number }
        // Our own, with a `socket_mode` that keeps its owner out as well: the owner may let itself in for a moment.
        chmod(path, status.st_mode | S_IWUSR)
        defer { chmod(path, status.st_mode) }
        return address.connect(probe) == 0 ? 0 : errno
    }

    enum Accepted {
        case connection(Int32)
        case none
        case outOfDescriptors
    }

    /// One waiting connection, if there is one.
    func accept() -> Accepted {
        while true {
            let socket = walpool_accept(descriptor)
            if socket >= 0 { return .connection(socket) }
            switch errno {
            case EINTR, ECONNABORTED: continue
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .outOfDescriptors
            default: return .none
            }
        }
    }

    /// Nobody gets in any more. A client that connects to a socket of the service manager's waits there for the next daemon;
    /// with one of our own the socket's file goes, and a client that has connected to it is told by the kernel.
    func stop() {
        guard let file else { return }
        // In this order: once nobody listens, a successor may put its own socket there.
        file.remove()
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Nobody listens any more, and whoever waits is told by the kernel. A thread of the crew may be about to accept from this
    /// number, or to arm it, so it is kept from being another file's, and leads to one that is neither accepted from nor armed.
    ///
    /// - Parameter placeholder: "If the file descriptor newfd was previously open, it is closed before being reused; the close is
    ///   performed silently … The steps of closing and reusing the file descriptor newfd are performed atomically" (dup(2),
    ///   https://man7.org/linux/man-pages/man2/dup.2.html).
    func retire(to placeholder: Int32) {
        // Connections that nobody has accepted go with it, and what they have sent: see `SocketWait`. One that the service manager has
        // as well does not go.
        _ = walpool_dup_over(placeholder, descriptor)
    }

    /// Call `stop` first, and when no thread knows of it any more.
    func close() { Glibc.close(descriptor) }
}

/// A socket that was bound and is listened on, and the path it is bound to.
package struct InheritedSocket: Equatable, Sendable {
    /// The server owns it from its start on.
    package let descriptor: Int32
    /// An abstract socket's begins with @.
    package let path: String

    package init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    /// The number in the socket's name, which is what PostgreSQL's clients look for in its directory.
    package static func port(inPath path: String) -> Int? {
        let name = path.split(separator: "/").last ?? ""
        let prefix = ".s.PGSQL."
        return name.hasPrefix(prefix) ? Int(name.dropFirst(prefix.count)) : nil
    }
}
