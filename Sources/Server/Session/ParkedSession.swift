import Synchronization

/// A session that waits in a queue of the pool, as the timer and other threads see it.
struct ParkedSession: ~Copyable {
    /// See Session+QueueNotice.
    let state = Atomic<Session.Parking>(.closed)
    /// When its client is to be told of its place, in nanoseconds; Int64.max is never.
    let noticeAt = Atomic<Int64>(.max)
    /// When the log is to be told of its wait, in nanoseconds; Int64.max is never.
    let reportAt = Atomic<Int64>(.max)
    /// It waits for the writer and has a snapshot meanwhile: when that began, in nanoseconds; 0: it has none.
    let snapshotBegan = Atomic<Int64>(0)
}
