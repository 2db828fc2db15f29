/// Whether a thread that answers a commit tries to read the client's next request before it waits in epoll with the others.
///
/// Beside commits a second thread polls, so that nobody who comes meanwhile waits for the disk. The client that a reply wakes is mostly
/// faster with its next request than the thread that has sent the reply is back in epoll, and so the second thread is woken for it: on
/// another core, for nothing, since the first one is there a moment later. That is a tenth of what a durable INSERT of a lone client
/// takes. So the socket is not announced from before the reply on, and is read once more before it is announced again.
///
/// Where the client is slower, that costs a recv and two epoll_ctl. So after each time in vain twice as many commits are answered without
/// trying.
///
/// A pure value, like `BusyPolling`.
public struct SpeculativeReads: Sendable {
    /// The most commits that are answered at once without trying.
    public static let mostPassedOver = 64

    private var passedOver = 0
    private var stillPassedOver = 0

    public init() {}

    /// A commit is about to be answered: whether to read right after the answer.
    public mutating func begin() -> Bool {
        guard stillPassedOver > 0 else { return true }
        stillPassedOver &-= 1
        return false
    }

    /// The client's next request was there, or was not.
    public mutating func ended(inVain: Bool) {
        guard inVain else { return passedOver = 0 }
        passedOver = min(max(1, passedOver &* 2), Self.mostPassedOver)
        stillPassedOver = passedOver
    }
}
