/// Whether a commit should wait a moment for the clients that have just been answered.
///
/// A group is whoever was queued when the commit before it ended. Clients that answer at once fall into two halves then:
/// one is in the group at the disk, the other queues, and each commit serves half of them. While a sync is cheap that is
/// right, because the disk never pauses. When a sync costs about as much as answering a group does, it is better to answer
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
        /// The next group begins as soon as so many wait.
        public var members: Int
        /// It begins after that time at the latest.
        public var nanoseconds: Int64
        /// So many of them were answered just now and are hoped for.
        public var answered: Int
    }

    /// What a commit takes, its sync included: a moving mean over about eight.
    public private(set) var commitNanoseconds: Int64 = 0
    /// What a member's run takes, without the commit: a moving mean over about eight groups.
    public private(set) var memberNanoseconds: Int64 = 0
    /// Of groups that are not waited for, because clients did not come back in time.
    private var backoff = Backoff()

    /// Nobody waits longer for others than a commit takes, and never longer than this.
    static let longestWaitNanoseconds: Int64 = 1_000_000
    /// A commit that takes less than this for each of its members is not waited for: another thread answers them while
    /// the disk goes on. On 2 cores, with syncs of 50 to 300 µs, 64 clients make 1.04 times as many single inserts a second as
    /// they do when a commit must take 3 µs a member, and use less CPU time; where syncs take 2 ms gathering makes 1.8 times as many at
    /// 8 and at 64 clients.
    static let gatherNanoseconds: Int64 = 1_000
    /// What answering a member takes, about.
    static let answerNanoseconds: Int64 = 3_000
    /// Fewer are not worth it.
    static let fewestMembers = 4
    /// No time is believed to be longer, so that sums of them stay far from overflow.
    static let longestNanoseconds: Int64 = 1_000_000_000

    /// Nothing has been measured, so nothing is waited for.
    public init() {}

    /// A commit has taken this long, its sync included.
    public mutating func committed(nanoseconds: Int64) {
        let bounded = min(max(0, nanoseconds), Self.longestNanoseconds)
        commitNanoseconds = commitNanoseconds == 0 ? bounded : commitNanoseconds + (bounded - commitNanoseconds) / 8
    }

    /// The members of a group have run for this long, all together and without the commit.
    public mutating func ran(_ members: Int, nanoseconds: Int64) {
        let each = min(max(0, nanoseconds), Self.longestNanoseconds) / Int64(max(1, members))
        memberNanoseconds = memberNanoseconds == 0 ? each : memberNanoseconds + (each - memberNanoseconds) / 8
    }

    /// With synchronous = pipelined: whether a group should keep the writer until it is on the disk, so that all clients share
    /// the next commit, as with `full`.
    ///
    /// If it does not, those who come meanwhile are run and committed while the disk works, which hides their run behind the
    /// sync. But then the clients fall apart into those the disk has and those who wait for their turn at it, and two syncs
    /// serve whom one could. So the group keeps the writer where two syncs take longer than running and answering all of them.
    ///
    /// - Parameter clients: whose transaction is committed and not on the disk yet, or waits for the writer.
    public func keepsWriter(forSyncOf nanoseconds: Int64, clients: Int) -> Bool {
        clients >= Self.fewestMembers
            && 2 * min(max(0, nanoseconds), Self.longestNanoseconds) > Int64(clients) * (memberNanoseconds + Self.answerNanoseconds)
    }

    /// Whether to wait for those who are answered now before the next group begins, and for how long.
    ///
    /// - Parameters:
    ///   - answered: members of the commit that has just been made.
    ///   - waiting: clients that queue already.
    ///   - limit: the most members a group may have.
    /// - Returns: nil when the next group should begin at once, and another thread answer.
    public mutating func plan(answered: Int, waiting: Int, limit: Int) -> Plan? {
        guard answered >= Self.fewestMembers, waiting < limit,
            commitNanoseconds > Int64(answered) * Self.gatherNanoseconds
        else { return nil }
        guard !backoff.passesOver else {
            backoff.passedOver()
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
        if missing * 2 > plan.answered { backoff.failed() } else { backoff.succeeded() }
    }
}
