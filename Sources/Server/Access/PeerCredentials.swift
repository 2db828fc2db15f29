import CLinux
import Glibc

/// Who connected, as the kernel noted it then: "the credentials of the peer process connected to this socket … those that
/// were in effect at the time of the call to connect(2)" (unix(7), https://man7.org/linux/man-pages/man7/unix.7.html).
/// What a client says of itself proves nothing.
package struct PeerCredentials: Equatable, Sendable {
    package var user: uid_t
    package var group: gid_t
    package var supplementaryGroups: [gid_t]

    package init(user: uid_t, group: gid_t, supplementaryGroups: [gid_t] = []) {
        self.user = user
        self.group = group
        self.supplementaryGroups = supplementaryGroups
    }

    func isMember(of group: gid_t) -> Bool { self.group == group || supplementaryGroups.contains(group) }
}

extension Session {
    /// The process at the other end, as it was when it connected.
    static func peer(of socket: Int32) -> walpool_peer? {
        var peer = walpool_peer()
        return walpool_peer_credentials(socket, &peer) == 0 ? peer : nil
    }
}

extension PeerCredentials {
    /// A process is in a handful of groups; one that is in more costs a second call.
    private static let usualGroups = 32

    /// - Parameter peer: what SO_PEERCRED said of this socket.
    ///
    /// nil when the kernel does not say which groups the client is in (before Linux 4.13), and then nobody is let in: a
    /// group might be one that is to be rejected.
    init?(_ peer: walpool_peer, socket: Int32) {
        guard let groups = Self.groups(of: socket) else { return nil }
        self.init(user: peer.user, group: peer.group, supplementaryGroups: groups)
    }

    private static func groups(of socket: Int32) -> [gid_t]? {
        var groups = [gid_t](repeating: 0, count: usualGroups)
        // They were noted at connect(2) and do not change, so the second call has room for all.
        for _ in 0..<2 {
            let count = Int(walpool_peer_groups(socket, &groups, Int32(groups.count)))
            guard count >= 0 else { return nil }
            if count <= groups.count { return Array(groups[..<count]) }
            groups = [gid_t](repeating: 0, count: count)
        }
        return nil
    }
}
