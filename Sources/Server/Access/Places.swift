import Glibc
import PostgresWire

/// Places beyond max_sessions, each kind with its reason. See DescriptorBudget for what they come to.
enum PlaceLimits {
    /// Those refused for being too many need a place to be told so, and a cancel needs one whose session is there.
    static let refusals = 48
    /// Connections of one rule that have not started, beyond the max_sessions of that rule. Clients whom no rule lets in share one such
    /// number of places: they need one to be told so, or to look at the metrics in vain. So nobody takes more of the others' places by
    /// connecting and saying nothing than by sessions.
    static let starting = 16
    /// Beyond those, for admins: sockets that are opened and say nothing must not keep out who comes to end that.
    static let admins = 16
    /// Of connections to the address that serves metrics. It lets in who may not open the socket, so they take nobody's place.
    static let metrics = 16
}

extension AccessRules {
    /// How many connections may be there beyond max_sessions, admins' left out.
    var placesForRefusals: Int {
        PlaceLimits.refusals + PlaceLimits.starting * (1 + rules.count { $0.limits.maximumSessions > 0 })
    }

    /// What a connection is counted as until it has started.
    struct StartingPlace: Equatable {
        var group: SessionCounts.Group
        /// Of its group, sessions included.
        var maximum: Int
        var isAdmins = false

        /// What one is told for whom there is none: by its group's limit, whatever max_sessions is for all.
        var error: WireError {
            WireError(
                severity: .fatal, state: .tooManyConnections, message: "sorry, too many clients already",
                hint: group == .strangers
                    ? "\(maximum) connections are there that have not said who they are."
                    : "This rule of the configuration has room for \(maximum) connections, of which "
                        + "\(PlaceLimits.starting) may not have said who they are.")
        }

        var rule: String? { if case .rule(let name) = group { name } else { nil } }
    }

    /// By what the kernel says of it. Which name it claims nobody knows yet, so a rule that will not let it in for that counts it,
    /// too.
    ///
    /// - Parameter sessions: how many there may be of all rules, for one without a limit of its own: its connections that say
    ///   nothing must not take the places of others. Admins have all there are.
    func startingPlace(of peer: PeerCredentials?, socketGroup: gid_t?, sessions: Int) -> StartingPlace {
        guard let peer, let rule = rule(for: peer, socketGroup: socketGroup), case .admit(let role) = rule.outcome else {
            return StartingPlace(group: .strangers, maximum: PlaceLimits.starting)
        }
        let maximum = rule.limits.maximumSessions
        let isAdmins = role == .admin
        guard maximum > 0 || !isAdmins else { return StartingPlace(group: .rule(rule.name), maximum: .max, isAdmins: true) }
        return StartingPlace(
            group: .rule(rule.name), maximum: (maximum > 0 ? maximum : sessions) + PlaceLimits.starting, isAdmins: isAdmins)
    }
}
