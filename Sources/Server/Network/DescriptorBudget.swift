import Pool

/// What the process may open (RLIMIT_NOFILE), and what is left of it for sessions.
///
/// Readers are opened when they are first needed, temporary files when a statement sorts much. If sessions took all there are,
/// the statements of everybody who is in would fail for as long as they stay.
struct DescriptorBudget: Equatable {
    /// How many there may be.
    var limit: Int
    var readers: Int
    var threads: Int
    var listeners = 1

    /// Standard streams, the log, the service manager, epoll, timer, eventfds, VACUUM's record, a configuration that is read, files
    /// that are looked for in /proc, and whatever a library has open for a moment.
    static let ofTheProcess = 32

    /// What the daemon itself may need: a thread has a ring.
    var own: Int {
        (readers + PoolLimits.otherConnections) * PoolLimits.descriptorsPerConnection + threads + listeners + Self.ofTheProcess
    }

    private static let places = PlaceLimits.admins + PlaceLimits.metrics

    func sessions(_ access: AccessRules) -> Int { limit - own - Self.places - access.placesForRefusals }

    /// What is wrong with a configuration of so many sessions, in words; nil: there is room for them.
    func shortage(of wanted: Int, _ access: AccessRules) -> String? {
        let sessions = sessions(access)
        guard sessions < wanted else { return nil }
        let places = Self.places + access.placesForRefusals
        return """
            max_sessions = \(wanted), and the limit of open files leaves room for \(max(0, sessions)): it is \(limit), of which \
            \(own) are for the daemon's own files with \(readers) readers and \(places) for clients that are refused, admins and metrics; \
            raise it to \(limit - sessions + wanted) (LimitNOFILE= of the service, ulimit -Hn)
            """
    }

    /// - Parameter threads: of the crew.
    static func checked(_ configuration: ServerConfiguration, threads: Int) throws(StartError) -> DescriptorBudget {
        let budget = DescriptorBudget(
            limit: configuration.descriptorLimit, readers: configuration.pool.readers, threads: threads,
            listeners: max(1, configuration.inheritedSockets.count))
        guard budget.sessions(configuration.access) < 1 else { return budget }
        // In the figure of the configuration: nobody has asked for one session.
        throw StartError(budget.shortage(of: max(1, configuration.maximumSessions), configuration.access) ?? "")
    }
}
