import DequeModule

/// A pause, as in WriterQueue+Pause. Readers that are idle stay idle, unless somebody comes whose transaction has begun.
extension ReaderQueue {
    /// From now on only those are given a reader who pass.
    public mutating func pause() {
        isPaused = true
        isRestricted = true
    }

    /// Returns who gets which reader now, in the order they came.
    public mutating func resume() -> [(client: ClientID, index: Int)] {
        isPaused = false
        return grantWaiting()
    }

    /// While it is paused: a free connection for somebody who passes, if nobody else waits who does.
    public mutating func takePassing() -> Int? {
        guard isPaused, !isGateClosed, firstPassing == nil else { return nil }
        return takeFree()
    }

    /// While the gate is closed nobody passes.
    var firstPassing: Int? { isGateClosed ? nil : waiting.firstIndex(where: \.passesPause) }

    /// Gives those who are held back, or were until now, other deadlines.
    public mutating func changeDeadlinesOfHeldBack(_ deadline: (ClientID) -> Instant) {
        for index in waiting.indices where !waiting[index].passesPause {
            waiting[index].deadline = deadline(waiting[index].client)
        }
    }
}
