import Glibc

/// The access rules in their order. A value: it can be replaced while the daemon runs, for the sessions that come then.
///
/// The first rule that is about a client decides, and none after it is asked, as in pg_hba.conf: "There is no 'fall-through'
/// or 'backup': if one record is chosen and the authentication fails, subsequent records are not considered. If no record
/// matches, access is denied." https://www.postgresql.org/docs/current/auth-pg-hba-conf.html
/// So a name that a rule does not let a client claim keeps it out, whatever a later rule would allow.
package struct AccessRules: Equatable, Sendable {
    /// In the order in which they are asked.
    package let rules: [AccessRule]
    /// None were configured.
    package let areDefault: Bool

    /// Those of a configuration; without any, `default` is meant.
    package init(_ rules: [AccessRule]) {
        self.rules = rules
        areDefault = false
    }

    /// Without configuration: root and the daemon's own user may do everything, which they can do to the file anyway; whom
    /// the socket's permissions let in by its group may write; nobody else enters, even through a socket open to all.
    package static func `default`(daemonUser: uid_t = geteuid()) -> AccessRules {
        AccessRules(
            [
                AccessRule("root and the daemon's user", .users([0, daemonUser]), .admit(.admin)),
                AccessRule("the socket's group", .socketGroup, .admit(.writer)),
            ], areDefault: true)
    }

    private init(_ rules: [AccessRule], areDefault: Bool) {
        self.rules = rules
        self.areDefault = areDefault
    }

    /// Some rule needs to know which group the socket's file lets in.
    var needSocketGroup: Bool { rules.contains { $0.subject == .socketGroup } }

    /// The rule that decides about a client.
    func rule(for peer: PeerCredentials, socketGroup: gid_t?) -> AccessRule? {
        rules.first { $0.isAbout(peer, socketGroup: socketGroup) }
    }

    enum Decision: Equatable {
        case admitted(Role, AccessRule)
        /// By no rule, or by one that says so. The client is told the same: it learns nothing of the rules.
        case refused(by: AccessRule?)
        /// The rule is about the client, and the name it claims is none of those the rule allows.
        case wrongName(AccessRule)
    }

    /// - Parameters:
    ///   - claimed: the user name in the startup message.
    ///   - accountName: the name of a user ID; asked only where a rule compares it.
    func decide(
        _ peer: PeerCredentials, claimed: String, socketGroup: gid_t?, accountName: (uid_t) -> String?
    ) -> Decision {
        guard let rule = rule(for: peer, socketGroup: socketGroup), case .admit(let role) = rule.outcome else {
            return .refused(by: rule(for: peer, socketGroup: socketGroup))
        }
        let mayClaim =
            switch rule.claim {
            case .any: true
            // A user ID without a name equals no name: it fails closed (CVE-2015-6817 was an unknown user let in).
            case .same: accountName(peer.user) == claimed
            case .names(let names): names.contains(claimed)
            }
        return mayClaim ? .admitted(role, rule) : .wrongName(rule)
    }
}
