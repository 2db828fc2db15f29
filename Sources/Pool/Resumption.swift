import Scheduling
import Synchronization

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
    /// The client is owned already, and whoever takes this goes on with it: with an event or a reply that a thread at long work did not come
    /// to, or with its next turn (`Session.due`).
    case owned(any PoolClient)
    /// The writer is the pool's own, for this.
    case job(WriterJob)
    /// The client was taken out of a queue: what it waits for will not come.
    case stopped(any PoolClient, StopReason)

    /// Recovery may end the process, so it comes when the thread that has met the error has told those whose commit has failed, and
    /// another thread does not begin it before.
    package var comesAfterReplies: Bool {
        guard case .job(.recovery) = self else { return false }
        return true
    }
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
