import CLinux
import PostgresWire
import Synchronization

/// What others may see of a session.
extension Session {
    /// What it said of itself when it started, which never changes afterwards.
    struct Introduction {
        var user: String
        var applicationName: String
        var isConsole: Bool
        var peer: walpool_peer?
        var role: Role
    }

    /// nil before it has started. Any thread may ask: the length of the key is stored when all of this is.
    var introduction: Introduction? {
        guard cancelKeyLength.load(ordering: .acquiring) > 0 else { return nil }
        return Introduction(
            user: userName, applicationName: defaults.applicationName, isConsole: isConsole, peer: peer, role: role)
    }

    var announcedStatus: TransactionStatus {
        TransactionStatus(rawValue: status.load(ordering: .relaxed)) ?? .idle
    }
}
