/// Somebody who waits in a queue, as a person who looks at it sees it.
public struct Waiter: Equatable, Sendable {
    /// A session, or a job of the daemon's own (see `WriterJob.client`).
    public var client: ClientID
    /// When it came to wait.
    public var since: Instant
    /// What the writer is wanted for; nil: it waits for a reader.
    public var purpose: WriterQueue.Purpose?

    /// Somebody who waits for a reader if no purpose is given.
    public init(client: ClientID, since: Instant, purpose: WriterQueue.Purpose? = nil) {
        self.client = client
        self.since = since
        self.purpose = purpose
    }
}

extension WriterQueue {
    /// Who waits, in order.
    public var waiters: [Waiter] {
        waiting.map { Waiter(client: $0.client, since: $0.enqueued, purpose: $0.purpose) }
    }
}

extension ReaderQueue {
    /// Who waits, in order.
    public var waiters: [Waiter] { waiting.map { Waiter(client: $0.client, since: $0.enqueued) } }
}
