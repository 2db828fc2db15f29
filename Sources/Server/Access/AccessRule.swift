import Glibc

/// Who may enter, as what, under which name, and how much of the daemon a session may take: one `[[access]]` table.
package struct AccessRule: Equatable, Sendable {
    /// Whom it is about.
    package enum Subject: Equatable, Sendable {
        case users([uid_t])
        case groups([gid_t])
        case everybody
        /// Whoever is let in by the permissions that the socket's file gives its group.
        case socketGroup
    }

    /// The PostgreSQL user names that the client may give in its startup message. They decide nothing but what is shown.
    package enum Claim: Equatable, Sendable {
        case any
        /// The name of the client's user on this machine, which is what libpq sends unasked.
        case same
        case names([String])
    }

    /// What becomes of a client that the rule is about.
    package enum Outcome: Equatable, Sendable {
        case reject
        case admit(Role)
    }

    /// Whom it is about; the first rule that is about a client decides.
    package var subject: Subject
    /// What becomes of it.
    package var outcome: Outcome
    /// Any, because drivers and frameworks have a user name in their configuration that is no account of this machine,
    /// and because nothing is gained by a false one: the role is that of the kernel's user ID.
    package var claim = Claim.any
    /// For each session that it lets in. A configured rule that rejects has none.
    package var limits = AccessLimits()
    /// As the configuration has it, for people.
    package var name: String

    /// Of any claim, without limits.
    package init(_ name: String, _ subject: Subject, _ outcome: Outcome) {
        self.name = name
        self.subject = subject
        self.outcome = outcome
    }

    /// - Parameter socketGroup: nil when the socket's permissions let no group in.
    func isAbout(_ peer: PeerCredentials, socketGroup: gid_t?) -> Bool {
        switch subject {
        case .users(let users): users.contains(peer.user)
        case .groups(let groups): groups.contains { peer.isMember(of: $0) }
        case .everybody: true
        case .socketGroup: socketGroup.map { peer.isMember(of: $0) } ?? false
        }
    }
}

/// What a session may take; 0 is no limit. A session may SET its timeouts to less.
package struct AccessLimits: Equatable, Sendable {
    /// Sessions at a time of all whom the rule lets in.
    package var maximumSessions = 0
    /// The longest that these settings of a session may be; it starts with no longer ones.
    package var statementTimeoutMilliseconds: Int64 = 0
    package var transactionTimeoutMilliseconds: Int64 = 0
    package var idleInTransactionTimeoutMilliseconds: Int64 = 0
    package var clientWriteTimeoutMilliseconds: Int64 = 0
    /// How long the session may have the writer at a stretch: neither SET nor anything else the client does prolongs it.
    package var writerTimeLimitMilliseconds: Int64 = 0

    /// No limit.
    package init() {}
}
