/// What a session cannot go on without; how `advance` ends.
enum Wait {
    /// The client's next message.
    case input
    /// Room in the client's socket.
    case output
    /// In a queue of the pool. The session may be running on another thread already: touch nothing.
    case parked
    /// The writer is granted and free: run this session's transaction as a group of one.
    case group
    /// As a member of a group: the transaction is at its end, and its reply is held back.
    case transactionEnd
    /// With synchronous = pipelined: committed, and answered once that is on the disk.
    case durability
    /// A thread, behind whatever else waits for one: see Session+Turn.
    case turn
    case closed
}
