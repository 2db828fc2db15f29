import Glibc
import Synchronization

extension Server {
    var accessRules: AccessRules { access.withLock { $0 } }

    /// Puts others in place, for sessions that start from now on. Those that are there keep what they were let in with.
    public func replaceAccessRules(_ rules: AccessRules) { access.withLock { $0 = rules } }

    /// The group that the permissions of the socket's file let in; looked at when somebody comes, because chgrp and chmod
    /// are how an administrator changes it.
    var socketGroup: gid_t? {
        var status = stat()
        guard stat(socketFile, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
        // "connecting to a socket object requires write permission on that socket": unix(7).
        return status.st_mode & S_IWGRP != 0 ? status.st_gid : nil
    }

    // MARK: Places

    /// Beyond max_sessions: those refused for being too many need a place to be told so.
    static let refusalPlaces = 48
    /// Beyond those, for admins: sockets that are opened and say nothing must not keep out who comes to end that.
    static let adminPlaces = 16

    /// Of connections to the address that serves metrics. It lets in who may not open the socket, so they take nobody's place.
    static let metricsPlaces = 16

    /// Sessions of the database and the console.
    var takenPlaces: Int { table.count - metricsConnections.load(ordering: .relaxed) }

    var isRoomBeforeReserve: Bool { takenPlaces < current { $0.maximumSessions } + Self.refusalPlaces }

    var isRoomForMetrics: Bool { metricsConnections.load(ordering: .relaxed) < Self.metricsPlaces }

    func mayUseReserve(_ socket: Int32) -> Bool {
        guard let peer = Session.peer(of: socket), let credentials = PeerCredentials(peer, socket: socket) else { return false }
        return accessRules.rule(for: credentials, socketGroup: nil)?.outcome == .admit(.admin)
    }
}
