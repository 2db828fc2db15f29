/// What the daemon itself wants the writer for.
public enum WriterJob: Int, CaseIterable, Sendable {
    /// The WAL has grown.
    case checkpoint
    /// The weekly VACUUM.
    case maintenance
    /// The writer connection is not to be trusted any more.
    case recovery
    /// What the writer's connection counts is read, or its snapshot ends: microseconds. Never queued: it is done when the writer is
    /// free.
    case housekeeping

    /// Its number in the writer's queue; sessions count from 1.
    public var client: ClientID { -rawValue }

    /// Nil for a number that is no job's.
    public init?(client: ClientID) {
        guard client <= 0 else { return nil }
        self.init(rawValue: -client)
    }
}
