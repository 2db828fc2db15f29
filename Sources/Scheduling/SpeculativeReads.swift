/// Whether a thread that answers a commit tries to read the client's next request before it waits in epoll with the others.
///
/// Beside commits a second thread polls, so that nobody who comes meanwhile waits for the disk. The client that a reply wakes mostly sends
/// its next request before the thread that replied is back in epoll, which would wake the second thread, on another core and for nothing:
/// a tenth of the time of a lone client's durable INSERT. So the socket is taken out of epoll before the reply, and read once before it
/// is put back.
///
/// Where the client is slower, that costs a recv and two epoll_ctl. So after each time in vain twice as many commits are answered without
/// trying.
///
/// A pure value, like `BusyPolling`.
public struct SpeculativeReads: Sendable {
    /// Of commits that are answered without trying.
    private var backoff = Backoff()

    /// Nothing was in vain yet, so the first commit tries.
    public init() {}

    /// A commit is about to be answered: whether to read right after the answer.
    public mutating func begin() -> Bool {
        guard backoff.passesOver else { return true }
        backoff.passedOver()
        return false
    }

    /// The client's next request was there, or was not.
    public mutating func ended(inVain: Bool) {
        if inVain { backoff.failed() } else { backoff.succeeded() }
    }
}
