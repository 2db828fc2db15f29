/// Whether a commit should wait a moment for the clients that have just been answered.
///
/// A group is whoever was queued when the commit before it ended. Clients that answer at once fall into two halves then:
/// one is in the group at the disk, the other queues, and each commit serves half of them. While a sync is cheap that is
/// right, because the disk never pauses. When a sync costs more than answering a group does, it is better to answer
/// everybody, give them part of a sync's time to come back, and serve all with the next one. PostgreSQL leaves the same
/// to the administrator: "commit_delay adds a time delay before a WAL flush is initiated. This can improve group commit
/// throughput by allowing a larger number of transactions to commit via a single WAL flush"
/// (https://www.postgresql.org/docs/15/runtime-config-wal.html#GUC-COMMIT-DELAY).
///
/// A pure value, like `WriterQueue`.
public struct GroupGathering: Sendable {
    /// How to go on after a commit: who was in it is answered first, then the next group begins as soon as so many wait,
    /// and at the latest after that time.
    public struct Plan: Equatable, Sendable {
        public var members: Int
        public var nanoseconds: Int64
        /// So many of them were answered just now and are hoped for.
        public var answered: Int
    }

    /// What a commit takes, its sync included: a moving mean over about eight.
    public private(set) var commitNanoseconds: Int64 = 0
    /// Groups that will not be waited for, because clients did not come back in time.
    private var skips = 0
    /// What `skips` is set to when they do not come back again.
    private var backoff = 0

    /// Nobody waits longer for others than a commit takes, and never longer than this.
    static let longestWaitNanoseconds: Int64 = 1_000_000
    /// A commit that takes less than this for each of its members is not waited for: another thread answers them while
    /// the disk goes on. On 2 cores, with syncs of 50 to 300 µs, gathering is as fast as not, with a third less CPU time;
    /// with syncs of 2 ms it makes 1.8 times as many single inserts a second at 8 and at 64 clients.
    static let answerNanoseconds: Int64 = 3_000
    /// Fewer are not worth it.
    static let fewestMembers = 4
    static let longestBackoff = 64

    public init() {}

    public mutating func committed(nanoseconds: Int64) {
        let bounded = min(max(0, nanoseconds), 1_000_000_000)
        commitNanoseconds = commitNanoseconds == 0 ? bounded : commitNanoseconds + (bounded - commitNanoseconds) / 8
    }

    /// - Parameters:
    ///   - answered: members of the commit that has just been made.
    ///   - waiting: clients that queue already.
    /// - Returns: nil when the next group should begin at once, and another thread answer.
    public mutating func plan(answered: Int, waiting: Int, limit: Int) -> Plan? {
        guard answered >= Self.fewestMembers, waiting < limit,
            commitNanoseconds > Int64(answered) * Self.answerNanoseconds
        else { return nil }
        guard skips == 0 else {
            skips -= 1
            return nil
        }
        return Plan(
            members: min(answered + waiting, limit),
            nanoseconds: min(commitNanoseconds, Self.longestWaitNanoseconds), answered: answered)
    }

    /// The wait is over, and so many are there. Where most did not come back (their programs do something else between
    /// two transactions), the next groups are not waited for, and ever more of them.
    public mutating func gathered(_ members: Int, of plan: Plan) {
        let missing = plan.members - members
        if missing * 2 > plan.answered {
            backoff = min(max(1, backoff * 2), Self.longestBackoff)
            skips = backoff
        } else {
            backoff = 0
        }
    }
}
