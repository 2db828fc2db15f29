import CSystemd
import Glibc
import POSIX
import Server

/// The listening sockets that the service manager hands over when it starts the daemon (sd_listen_fds(3)): those of socket
/// units, or the one that the daemon made itself in an earlier run and gave to the service manager to keep (the file
/// descriptor store, sd_pid_notify_with_fds(3)). Either way, who connected while no daemon ran waits in them.
struct ServiceSockets {
    /// What the kept socket is called, to tell it from those of socket units, which have their unit's name.
    static let keptName = "walpoold-listener"

    private(set) var sockets: [InheritedSocket] = []
    /// They come from the daemon's last run.
    private(set) var areKept = false

    /// - Parameters:
    ///   - path: where the socket would be made. One that is kept for another path is of an old configuration.
    ///   - forget: the service manager shall keep the kept socket no longer.
    init(path: String, mode: mode_t, forget: () -> Void) throws(StartError) {
        var given: [InheritedSocket] = []
        var kept: [InheritedSocket] = []
        for (descriptor, name) in try Self.received() {
            let socket = InheritedSocket(descriptor: descriptor, path: try Self.path(of: descriptor, name))
            if name == Self.keptName { kept.append(socket) } else { given.append(socket) }
        }
        if given.isEmpty, let usable = kept.first(where: { $0.path == path && Self.isSocket(path) }) {
            sockets = [usable]
            areKept = true
            // The configuration may say another one by now.
            chmod(path, mode)
        } else {
            sockets = given
        }
        for socket in kept where !sockets.contains(socket) { close(socket.descriptor) }
        if !kept.isEmpty, !areKept { forget() }
    }

    /// Descriptors with their names. Nobody the daemon might start inherits them.
    private static func received() throws(StartError) -> [(Int32, String)] {
        var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = sd_listen_fds_with_names(1, &names)
        guard count >= 0 else {
            throw StartError("LISTEN_FDS, from the service manager, makes no sense: \(String(cString: strerror(-count)))")
        }
        defer {
            for index in 0..<Int(count) { free(names?[index]) }
            free(names)
        }
        // "The first descriptor … SD_LISTEN_FDS_START", which is 3 (a macro Swift does not see).
        return (0..<count).map { (3 + $0, names?[Int($0)].map { String(cString: $0) } ?? "unknown") }
    }

    private static func path(of descriptor: Int32, _ name: String) throws(StartError) -> String {
        guard sd_is_socket_unix(descriptor, Int32(SOCK_STREAM.rawValue), 1, nil, 0) > 0 else {
            throw StartError(
                "descriptor \(descriptor) (\"\(name)\") from the service manager is not a listening Unix stream socket: "
                    + "its socket unit needs ListenStream= with a path")
        }
        guard let path = UnixSocketAddress.path(ofBound: descriptor) else {
            throw StartError("getsockname: \(String(cString: strerror(errno)))")
        }
        return path
    }

    private static func isSocket(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }
}
