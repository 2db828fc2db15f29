import Glibc
import PostgresWire

/// Who may do what in the console.
extension Session {
    /// Root and the user that the daemon runs as, as the kernel knows them; a name in a startup message proves nothing.
    var isAdministrator: Bool { peer.map { $0.user == 0 || $0.user == geteuid() } ?? false }

    /// Commands of the console are for administrators; looking is for everybody who is let in.
    func requireAdmin(for command: StaticString) throws(WireError) {
        guard isAdministrator else {
            throw WireError(
                state: .insufficientPrivilege, message: "permission denied: \(command) is for administrators",
                hint: "SHOW is for everybody who may enter the console.")
        }
    }
}
