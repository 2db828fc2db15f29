import Scheduling

/// A session, as the pool sees it: something that asks for connections and can be told to stop.
package protocol PoolClient: StatementOwner, Sendable {
    var clientID: ClientID { get }
    /// When its wait for what it asked for is over.
    var waitDeadline: Instant { get }
    /// Its transaction began before the pause there may be, which waits for its end.
    var passesPause: Bool { get }
    /// When its wait is over while a pause holds it back.
    var waitDeadlineWhilePaused: Instant { get }
    /// It was held back until now, and from now on it waits for its turn. Called while it is parked.
    func pauseHasEnded(now: Instant)
    /// It keeps a snapshot that began before that while it waits for the writer. Called while it is parked.
    func waitsWithSnapshot(fromBefore moment: Instant) -> Bool
    /// Itself, if it can share a commit: `as?` would look its conformance up each time.
    var groupMember: (any GroupMember)? { get }
}

extension PoolClient {
    package var groupMember: (any GroupMember)? { nil }
    package var passesPause: Bool { false }
    package var waitDeadlineWhilePaused: Instant { waitDeadline }
    package func pauseHasEnded(now: Instant) {}
    package func waitsWithSnapshot(fromBefore moment: Instant) -> Bool { false }
}

/// Told when something in the queues becomes due earlier than before; calls `Pool.takeDue` when it is.
package protocol DeadlineObserver: AnyObject, Sendable {
    /// Something is due then. Called with no lock held, by any thread.
    func announce(_ deadline: Instant)
}
