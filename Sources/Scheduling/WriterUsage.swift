/// What became of the writer's time: how long clients waited for it, how long they had it, how many shared it.
public struct WriterUsage: Sendable {
    /// From the request to the grant, in nanoseconds, of every client that was granted the writer; 0 where it was free.
    public private(set) var waits = Histogram.durations
    /// From the grant to the release, in nanoseconds.
    public private(set) var groupHolds = Histogram.durations
    /// The same of transactions that had it alone.
    public private(set) var transactionHolds = Histogram.durations
    /// The same of the daemon's own jobs, but for housekeeping.
    public private(set) var jobHolds = Histogram.durations
    /// Members of each group that was granted.
    public private(set) var groupMembers = Histogram(bounds: [1, 2, 4, 8, 16, 32, 64, 128, 256])
    private var since = Instant(nanoseconds: 0)

    /// Nothing has been counted.
    public init() {}

    /// - Parameter members: of a group; 0 for whoever has the writer alone.
    mutating func granted(members: Int, now: Instant) {
        since = now
        if members > 0 { groupMembers.observe(members) }
    }

    mutating func waited(since enqueued: Instant, now: Instant) {
        waits.observe(Int(max(0, now.nanoseconds &- enqueued.nanoseconds)))
    }

    mutating func released(_ holder: WriterQueue.Holder, now: Instant) {
        let held = Int(max(0, now.nanoseconds &- since.nanoseconds))
        switch holder {
        case .nobody: break
        case .group: groupHolds.observe(held)
        case .transaction: transactionHolds.observe(held)
        // The pool borrows the writer to read these numbers, and that would be counted among them.
        case .job(WriterJob.housekeeping.client): break
        case .job: jobHolds.observe(held)
        }
    }
}
