import DequeModule

/// Who writes next: the lease on the one writer connection goes from client to client, first come first served.
///
/// A pure value. Every method takes the time it needs and returns what is to be done; the pool does it.
public struct WriterQueue: Sendable {
    /// What a client wants the writer for.
    public enum Purpose: Sendable {
        /// A transaction that has arrived whole: it needs no further message, so it may share a commit with others.
        case member
        /// A transaction whose statements come one message at a time: it keeps the lease until it ends.
        case transaction
        /// Upkeep of the daemon's own. Alone, like a transaction, and it is nobody's to evict.
        case job
    }

    /// Leave to write. Members of a group commit together, in this order.
    public enum Grant: Equatable, Sendable {
        case group([ClientID])
        case transaction(ClientID)
        case job(ClientID)
    }

    /// Who has the lease now.
    public enum Holder: Equatable, Sendable {
        case nobody
        case group
        case transaction(ClientID, since: Instant, idleSince: Instant?)
        case job(ClientID)
    }

    struct Entry: Sendable {
        var client: ClientID
        var purpose: Purpose
        var enqueued: Instant
        /// When the wait is over (lock_timeout, statement_timeout); the client knows which of them it was.
        var deadline: Instant
        /// It is granted the writer although it is paused: see WriterQueue+Pause.
        var passesPause: Bool
        /// A job that nothing may be written before.
        var isFirst = false
    }

    /// Who has the lease.
    public internal(set) var holder: Holder = .nobody
    /// When it was granted; without meaning while there is no holder.
    public private(set) var holderSince = Instant(nanoseconds: 0)
    /// What has been counted of waits and holds.
    public internal(set) var usage = WriterUsage()
    var waiting: Deque<Entry> = []
    /// The writer is free, but given to nobody until so many wait or the time has come: see WriterQueue+Gathering.
    public internal(set) var gathering: Gathering?
    /// See WriterQueue+Pause.
    public internal(set) var isPaused = false
    var contention = Contention()
    /// The most members one commit may have. Bounds what a killed group has to run again, and the memory its
    /// unsent replies take.
    public var groupLimit: Int {
        didSet { precondition(groupLimit > 0) }
    }
    /// How long a holder may be idle between its messages once somebody waits.
    public var holderIdleLimitMilliseconds: Int64

    /// - Parameter groupLimit: the most members one commit may have, above 0.
    public init(groupLimit: Int, holderIdleLimitMilliseconds: Int64) {
        precondition(groupLimit > 0)
        self.groupLimit = groupLimit
        self.holderIdleLimitMilliseconds = holderIdleLimitMilliseconds
    }

    /// Clients and jobs that wait here.
    public var waitingCount: Int { waiting.count }
    /// Somebody waits for the holder: in the queue, or to pause.
    var isContended: Bool { !waiting.isEmpty || isPaused }

    /// Asks for the writer. Returns the grant when it is free and nobody is ahead; nil means: wait for a later grant.
    ///
    /// - Parameter passesPause: its transaction has begun, so that a pause waits for its end. A job passes always.
    public mutating func request(
        _ client: ClientID, _ purpose: Purpose, now: Instant, deadline: Instant = .distantFuture,
        passesPause: Bool = false
    ) -> Grant? {
        let passes = passesPause || purpose == .job
        // Where nobody holds it, only those wait whom a pause holds back.
        if holder == .nobody && gathering == nil && (isPaused ? passes : waiting.isEmpty) {
            if purpose != .job { usage.waited(since: now, now: now) }
            return begin(client, purpose, now: now)
        }
        if !isContended { contention.begins(now: now) }
        waiting.append(
            Entry(client: client, purpose: purpose, enqueued: now, deadline: deadline, passesPause: passes))
        return nil
    }

    /// Asks for the writer before everybody who waits, for a job that nothing may be written before.
    public mutating func requestFirst(_ client: ClientID, now: Instant) -> Grant? {
        if holder == .nobody {
            gathering = nil
            return begin(client, .job, now: now)
        }
        if !isContended { contention.begins(now: now) }
        waiting.prepend(
            Entry(client: client, purpose: .job, enqueued: now, deadline: .distantFuture, passesPause: true, isFirst: true))
        return nil
    }

    /// The holder is done. Returns who is next, if anybody waits.
    public mutating func release(now: Instant) -> Grant? {
        usage.released(holder, now: now)
        holder = .nobody
        gathering = nil
        return grantNext(now: now)
    }

    /// The first of those who may have the writer now; with a member, the members among them that stand directly behind it.
    private mutating func grantNext(now: Instant) -> Grant? {
        guard var place = nextPlace(from: 0) else { return nil }
        let first = take(place, now: now)
        guard first.purpose == .member else { return begin(first.client, first.purpose, now: now) }
        var members = [first.client]
        while members.count < groupLimit, let next = nextPlace(from: place), waiting[next].purpose == .member {
            members.append(take(next, now: now).client)
            place = next
        }
        return begin(group: members, now: now)
    }

    /// Who waits and may have the writer now, from this place on: while it is paused, only those who pass.
    private func nextPlace(from place: Int) -> Int? {
        isPaused ? waiting[place...].firstIndex(where: \.passesPause) : place < waiting.endIndex ? place : nil
    }

    /// Out of the queue, to be granted the writer.
    private mutating func take(_ place: Int, now: Instant) -> Entry {
        // `removeFirst` takes half the time of `remove(at:)`, and but for a pause it is always the first.
        let entry = place == 0 ? waiting.removeFirst() : waiting.remove(at: place)
        if entry.purpose != .job { usage.waited(since: entry.enqueued, now: now) }
        return entry
    }

    /// Members of a granted group that it had no time for: back to the head of the queue, in their order, as if they
    /// had never left it. The holder stays the holder. Only jobs that nothing may be written before stay before them.
    ///
    /// - Parameter passing: those of them whose transactions began before a pause.
    public mutating func returnToFront(
        _ members: [(client: ClientID, deadline: Instant)], passing: Set<ClientID> = [], now: Instant
    ) {
        if !isContended { contention.begins(now: now) }
        let place = waiting.firstIndex { !$0.isFirst } ?? waiting.count
        waiting.insert(
            contentsOf: members.map {
                Entry(
                    client: $0.client, purpose: .member, enqueued: now, deadline: $0.deadline,
                    passesPause: passing.contains($0.client))
            }, at: place)
    }

    /// Takes a waiting client out of the queue. False when it is not (or no longer) in it: then it has been granted
    /// the writer, and whoever runs the grant will see that it was cancelled.
    public mutating func withdraw(_ client: ClientID, now: Instant) -> Bool {
        guard let index = waiting.firstIndex(where: { $0.client == client }) else { return false }
        waiting.remove(at: index)
        if !isContended { contention.wasGivenUp(now: now) }
        return true
    }

    /// Takes out everybody whose deadline has passed.
    public mutating func withdrawExpired(now: Instant) -> [ClientID] {
        guard waiting.contains(where: { $0.deadline <= now }) else { return [] }
        let expired = waiting.filter { $0.deadline <= now }.map(\.client)
        waiting.removeAll { $0.deadline <= now }
        if !isContended { contention.wasGivenUp(now: now) }
        return expired
    }

    mutating func begin(_ client: ClientID, _ purpose: Purpose, now: Instant) -> Grant {
        holderSince = now
        usage.granted(members: purpose == .member ? 1 : 0, now: now)
        switch purpose {
        case .member:
            holder = .group
            return .group([client])
        case .transaction:
            holder = .transaction(client, since: now, idleSince: nil)
            return .transaction(client)
        case .job:
            holder = .job(client)
            return .job(client)
        }
    }

    mutating func begin(group members: [ClientID], now: Instant) -> Grant {
        holderSince = now
        usage.granted(members: members.count, now: now)
        holder = .group
        return .group(members)
    }
}

// MARK: A holder that keeps the others waiting

extension WriterQueue {
    /// The holder has answered and waits for its client's next message.
    public mutating func holderBecameIdle(_ client: ClientID, now: Instant) {
        guard case .transaction(client, let since, _) = holder else { return }
        holder = .transaction(client, since: since, idleSince: now)
        contention.forget(before: now)
    }

    /// The holder's next message has arrived.
    public mutating func holderBecameActive(_ client: ClientID) {
        guard case .transaction(client, let since, _) = holder else { return }
        holder = .transaction(client, since: since, idleSince: nil)
    }

    /// The holder to roll back now, because it is idle beyond the limit and somebody waits.
    ///
    /// The limit is for the time in which it is idle and somebody waits, whoever that is: a lone client may think as long as it
    /// likes, and still has the full limit once it is no longer alone.
    public func holderToEvict(now: Instant) -> ClientID? {
        guard case .transaction(let client, _, _) = holder, let deadline = evictionDeadline, deadline <= now
        else { return nil }
        return client
    }

    var evictionDeadline: Instant? {
        guard holderIdleLimitMilliseconds > 0,
            case .transaction(_, _, let idleSince?) = holder, isContended
        else { return nil }
        return contention.end(ofMilliseconds: holderIdleLimitMilliseconds, since: idleSince)
    }

    /// What a request with this deadline may have brought forward: its own, or the holder's eviction. The other waiters' deadlines were
    /// announced with their requests.
    public func deadline(with requested: Instant) -> Instant { min(requested, evictionDeadline ?? .distantFuture) }

    /// When something in here is due next: a waiter's deadline or the holder's eviction.
    public var nextDeadline: Instant {
        waiting.reduce(evictionDeadline ?? .distantFuture) { min($0, $1.deadline) }
    }

    /// Those who have waited since then, at least; jobs are among them.
    public func clientsWaiting(sinceBefore moment: Instant) -> [ClientID] {
        waiting.filter { $0.enqueued <= moment }.map(\.client)
    }

    /// A waiting client's place, counted from 1, and since when it waits.
    public func place(of client: ClientID) -> (place: Int, since: Instant)? {
        guard let index = waiting.firstIndex(where: { $0.client == client }) else { return nil }
        return (index + 1, waiting[index].enqueued)
    }
}
