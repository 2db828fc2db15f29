/// Somebody who waits in a queue, as a person who looks at it sees it.
public struct Waiter: Equatable, Sendable {
    public var client: ClientID
    /// When it came to wait.
    public var since: Instant
    /// What the writer is wanted for; nil: it waits for a reader.
    public var purpose: WriterQueue.Purpose?

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
