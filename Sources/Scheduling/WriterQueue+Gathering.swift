/// A moment in which the writer is free and the next group gathers: see `GroupGathering`, which decides whether.
///
/// Only members are waited with. A transaction or a job at the head of the queue is granted the writer at once.
extension WriterQueue {
    /// What is waited for: so many members, and no longer than until then.
    public struct Gathering: Equatable, Sendable {
        /// For how many, and how long at most.
        public let plan: GroupGathering.Plan
        /// When the plan's time is over.
        public let until: Instant
    }

    /// Nobody waits who would be granted the writer alone, and may keep it for long.
    public var waitsOnlyForMembers: Bool { waiting.allSatisfy { $0.purpose == .member } }

    /// The holder is done, and the next group is given time to gather. Returns who is next where that has no point.
    public mutating func release(gathering plan: GroupGathering.Plan, now: Instant) -> Grant? {
        guard waitsOnlyForMembers, !isPaused, waiting.count < plan.members else { return release(now: now) }
        usage.released(holder, now: now)
        holder = .nobody
        gathering = Gathering(
            plan: plan, until: Instant(nanoseconds: now.nanoseconds &+ plan.nanoseconds))
        return nil
    }

    /// Whether nobody else is to be waited for.
    public func isGatheringOver(now: Instant) -> Bool {
        guard let gathering else { return false }
        return waiting.count >= gathering.plan.members || gathering.until <= now
            || !waitsOnlyForMembers
    }

    /// Grants the group that has gathered, if it is time.
    public mutating func endGathering(now: Instant) -> (ended: Gathering, waiting: Int, grant: Grant?)? {
        guard let gathering, isGatheringOver(now: now) else { return nil }
        let count = waiting.count
        return (gathering, count, release(now: now))
    }
}
