import SQLite
import Scheduling
import Synchronization

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

/// A session whose transaction has arrived whole and shares a commit with others.
///
/// Nothing it produces may leave the process before `Pool.commitGroup` has returned it or handed it to `answer`; with `pipelined`,
/// before its commit is synced.
package protocol GroupMember: PoolClient {
    /// Remembers the session's state, so that `rewind` can go back to it.
    ///
    /// - Parameter mayRunAgain: false when it is alone with its commit, and `rewind` will not be called.
    func mark(mayRunAgain: Bool)
    /// Goes back to the mark: as if the transaction had not been run.
    func rewind()
    /// As `rewind`, for one that waits for the writer again: it has the next group's first place.
    func returnToQueue()
    /// Runs the whole transaction on the writer, where a transaction is open already. Its own errors become part of
    /// its reply and undo only its own work.
    func runTransaction(on writer: Writer)
    /// It has run, and nothing of what it did is left: it was undone, by its statement, its savepoint or itself.
    var leavesNothing: Bool { get }
    /// The commit failed: the reply after the mark is replaced by this error.
    func commitFailed(_ error: SQLiteError)
    /// The transaction was not run, because the writer's lock could not be had; `reason` is nil when nobody asked to
    /// stop and SQLite itself failed.
    func couldNotBegin(_ reason: StopReason?, _ error: SQLiteError)
    /// The group will keep the writer for long: see `Pool.openGateWhileReadersLeave`.
    func writerWillBeLong()
}

extension GroupMember {
    package var groupMember: (any GroupMember)? { self }
    package func returnToQueue() { rewind() }
    package var leavesNothing: Bool { false }
    package func writerWillBeLong() {}
}

/// What a worker has to do next, because a connection became free for somebody who waited.
package enum Resumption: Sendable {
    /// The client has this reader now.
    case reader(any PoolClient, Int)
    /// The client has the writer now, until it releases it.
    case transaction(any PoolClient)
    /// These clients' transactions are to be run and committed together.
    case group([any GroupMember])
    /// These have been committed and are to be answered, unless the thread that committed them has done it by now.
    case committed(CommittedGroup)
    /// These clients, and all who commit meanwhile, wait for this commit to be on the disk.
    case unsynced(UnsyncedCommit)
    /// The client has been answered and goes on with what else it has sent.
    case answered(any PoolClient)
    /// The client's thread has something in hand for it and does not come to that.
    case owned(any PoolClient)
    /// The writer is the pool's own, for this.
    case job(WriterJob)
    /// The client was taken out of a queue: what it waits for will not come.
    case stopped(any PoolClient, StopReason)
}

/// Members of a group whose commit is on the disk and who have not been answered: by whoever takes them first.
package final class CommittedGroup: Sendable {
    private let members: [any GroupMember]
    private let isTaken: Atomic<Bool>

    /// With no members it counts as taken.
    package init(_ members: [any GroupMember]) {
        self.members = members
        isTaken = Atomic(members.isEmpty)
    }

    /// The members, for the first who asks; nobody for everyone after.
    package func take() -> [any GroupMember] {
        isTaken.exchange(true, ordering: .acquiringAndReleasing) ? [] : members
    }
}
