import CLinux
import Glibc
import Journal
import Logging
import Pool
import PostgresWire
import Synchronization

extension Server {
    var accessRules: AccessRules { access.withLock { $0 } }

    /// Puts others in place, for sessions that start from now on. Those that are there keep what they were let in with.
    func replaceAccessRules(_ rules: AccessRules) {
        access.withLock { $0 = rules }
        accountNames.forget()
        groupNames.forget()
    }

    /// The group that the permissions of the socket's file let in; looked at when somebody comes, because chgrp and chmod
    /// are how an administrator changes it.
    var socketGroup: gid_t? {
        var status = stat()
        guard stat(socketFile, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
        // "connecting to a socket object requires write permission on that socket": unix(7).
        return status.st_mode & S_IWGRP != 0 ? status.st_gid : nil
    }

    // MARK: Places

    /// A connection that has been accepted: who the kernel says it is, and what it is counted as until it starts.
    struct Arrival {
        var peer: walpool_peer?
        var credentials: PeerCredentials?
        /// nil over TCP, where there is nothing but metrics.
        var group: SessionCounts.Group?
        /// See `SentDescriptors`.
        var mayHaveDescriptors = false
    }

    /// A connection that gets no place.
    struct NoPlace: Error {
        /// What the client is told; nil over TCP, where it is told nothing.
        var error: WireError?
        var peer: walpool_peer?
        /// The rule whose places are taken.
        var rule: String?
    }

    /// Counts it.
    func arrival(_ socket: Int32, isForMetrics: Bool) throws(NoPlace) -> Arrival {
        if isForMetrics {
            guard metricsConnections.load(ordering: .relaxed) < PlaceLimits.metrics else { throw NoPlace() }
            // Before it is counted as a session: for a moment one client too many may come in, and none is refused.
            metricsConnections.add(1, ordering: .relaxed)
            return Arrival()
        }
        let mayHaveDescriptors = walpool_may_have_descriptors(socket) != 0
        if mayHaveDescriptors { walpool_take_bytes_only(socket) }
        let peer = Session.peer(of: socket)
        let credentials = peer.flatMap { PeerCredentials($0, socket: socket) }
        let rules = accessRules
        let maximumSessions = current { $0.maximumSessions }
        let place = rules.startingPlace(
            of: credentials, socketGroup: rules.needSocketGroup ? socketGroup : nil, sessions: maximumSessions)
        // All but the metrics'.
        let taken = table.count - metricsConnections.load(ordering: .relaxed)
        let room = maximumSessions + rules.placesForRefusals + (place.isAdmins ? PlaceLimits.admins : 0)
        guard taken < room else { throw NoPlace(error: Session.tooManySessions(maximumSessions), peer: peer) }
        guard sessionCounts.withLock({ $0.arrive(place.group, atMost: place.maximum) }) else {
            throw NoPlace(error: place.error, peer: peer, rule: place.rule)
        }
        return Arrival(
            peer: peer, credentials: credentials, group: place.group, mayHaveDescriptors: mayHaveDescriptors)
    }

    /// There is not even a place for its session after all.
    func departed(_ arrival: Arrival) {
        if let group = arrival.group {
            sessionCounts.withLock { $0.departed(group) }
        } else {
            metricsConnections.subtract(1, ordering: .relaxed)
        }
    }

    /// Tells a client that gets no place so, whatever it may be about to say, as PostgreSQL tells one for which it cannot start a
    /// process. What its socket does not take at once it does without.
    func refuse(_ socket: Int32, _ refusal: NoPlace) {
        defer { close(socket) }
        guard let error = refusal.error else { return }
        let out = OutputBuffer()
        out.error(error)
        _ = walpool_send(socket, out.readable.baseAddress, out.readable.count)
        metrics.countError(error.state)
        note(refusal, error)
    }

    private func note(_ refusal: NoPlace, _ error: WireError) {
        guard eventLog.configuration.clientErrors != .none,
            eventLog.admits(.clientError, user: refusal.peer?.user ?? .max, now: MonotonicClock.now, deadlines)
        else { return }
        var metadata: Logger.Metadata = ["sqlstate": "\(error.state.code)", "error": "\(error.message)", "hint": "\(error.hint ?? "")"]
        Session.identify(refusal.peer, in: &metadata)
        if let rule = refusal.rule { metadata["rule"] = "\(rule)" }
        log.warning(.clientError, "a connection was refused", metadata: metadata)
    }
}
