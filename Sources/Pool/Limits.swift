/// Every bound of the pool, each with its reason. A queue, batch, cache or wait that has no line here has no bound.
public struct PoolLimits: Sendable {
    /// Read-only connections. Each costs its page cache (`cache_size`) and about 60 KB besides.
    public var readers = 8
    /// Members of one group commit: at 64 the commit's own cost is a few per cent of the members' work, and a killed
    /// group has little to run again.
    public var groupMembers = 128
    /// How long a group may gather work before it commits; who comes later is in the next group.
    public var groupMilliseconds: Int64 = 20
    /// How long a holder of the writer may be idle while somebody waits.
    public var writerIdleMilliseconds: Int64 = 5_000
    /// Prepared statements kept per connection. Each takes a few KB; the least recently used goes first.
    public var statementsPerConnection = 256
    /// WAL size at which a checkpoint is attempted; 4,000 pages of 4 KiB are 16 MB.
    public var checkpointFrames = 4_000

    public init() {}
}
