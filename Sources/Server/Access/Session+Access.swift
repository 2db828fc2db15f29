import Glibc
import Pool
import PostgresWire

/// Who the client is, decided once per session by what the kernel says of it.
extension Session {
    /// What its rule lets it do; a reader before it has started.
    var role: Role { access.role }

    /// Lets the client in or throws. The user name it claims has been read.
    func authorize() throws(WireError) {
        guard let credentials else {
            throw Self.notAdmitted("the kernel does not say who connects", nil)
        }
        let rules = server.accessRules
        let decision = rules.decide(
            credentials, claimed: userName, socketGroup: rules.needSocketGroup ? server.socketGroup : nil
        ) { user in
            server.accountNames.name(of: user, now: MonotonicClock.now) { (user) throws(AccountNames.LookUpError) in
                worker?.willBeLong()
                return try AccountNames.name(ofUser: user)
            }
        }
        switch decision {
        case .admitted(let role, let rule): try enter(as: role, rule)
        case .refused(let rule): throw refusal(credentials, rule, rules)
        case .wrongName(let rule): throw wrongName(credentials, rule)
        }
    }

    private func enter(as role: Role, _ rule: AccessRule) throws(WireError) {
        let maximum = rule.limits.maximumSessions
        // Also where the rule has no limit: a reload may give it one, and then these are there.
        let isAdded = server.sessionCounts.withLock { counts in
            guard counts.add(rule.name, atMost: maximum > 0 ? maximum : .max) else { return false }
            if let group = access.startsIn { counts.departed(group) }
            return true
        }
        guard isAdded else {
            access.refusedBy = rule.name
            throw WireError(
                severity: .fatal, state: .tooManyConnections, message: "too many connections for this access rule",
                hint: "Its max_sessions is \(maximum).")
        }
        access.startsIn = nil
        access.countedBy = rule.name
        access.role = role
        access.limits = rule.limits
        defaults.isSuperuser = role == .admin
        defaults.isOfReader = role == .reader
        access.limits.lower(&defaults)
    }

    /// The session ends, or what might have become one: another one of its rule may come.
    func leave() {
        guard access.countedBy != nil || access.startsIn != nil else { return }
        server.sessionCounts.withLock { counts in
            if let name = access.countedBy { counts.remove(name) }
            if let group = access.startsIn { counts.departed(group) }
        }
        (access.countedBy, access.startsIn) = (nil, nil)
    }

    // MARK: Refusals

    private func refusal(_ peer: PeerCredentials, _ rule: AccessRule?, _ rules: AccessRules) -> WireError {
        access.refusedBy = rule?.name ?? "none"
        let message = "no access rule lets user ID \(peer.user) in"
        guard rules.areDefault else {
            // Whether one rejects it is not said: see AccessRules.Decision.
            return Self.notAdmitted(
                message,
                "An [[access]] table of walpoold's configuration can. The first that matches decides, and later ones are not looked at.")
        }
        return Self.notAdmitted(
            message,
            "An administrator can add the user to the socket's group\(groupInWords), or an [[access]] table for it to "
                + "walpoold's configuration.")
    }

    private var groupInWords: String {
        guard let group = server.socketGroup else { return " (its permissions let no group in)" }
        let name = server.groupNames.name(of: group, now: MonotonicClock.now) { (group) throws(AccountNames.LookUpError) in
            worker?.willBeLong()
            return try AccountNames.name(ofGroup: group)
        }
        return " (\(name ?? "group ID \(group)"))"
    }

    private func wrongName(_ peer: PeerCredentials, _ rule: AccessRule) -> WireError {
        access.refusedBy = rule.name
        return Self.notAdmitted(
            "user ID \(peer.user) may not connect as \"\(userName)\"",
            "Its access rule allows \(rule.claim == .same ? "only the user's own name on this machine" : "other names"); "
                + "an administrator can change the rule's \"claim\".")
    }

    private static func notAdmitted(_ message: String, _ hint: String?) -> WireError {
        WireError(severity: .fatal, state: .invalidAuthorizationSpecification, message: message, hint: hint)
    }

    // MARK: What a role may do

    /// Commands of the console are for admins; looking is for everybody who is let in.
    func requireAdmin(for command: StaticString) throws(WireError) {
        guard role == .admin else {
            throw WireError(
                state: .insufficientPrivilege, message: "permission denied: \(command) needs the role admin",
                hint: "This session's role is \(role.rawValue). SHOW is available to every role.")
        }
    }

    /// A reader's statements never reach the writer, whatever they are and however they come: this is asked at the one
    /// place where a session asks for it.
    func requireWriterRole(to purpose: StaticString) throws(WireError) {
        guard role != .reader else { throw Self.readersCannotWrite("\(purpose)") }
    }

    static func readersCannotWrite(_ what: String) -> WireError {
        WireError(
            state: .readOnlySQLTransaction, message: "cannot \(what): this session's role is reader",
            hint: "An [[access]] rule of walpoold's configuration says so; an administrator can change it.")
    }
}
