import Pool

/// What a thread of the crew hears of that is no session's, and whose turn it is.
extension Server {
    /// Tokens of what is no session's: slots are far below these numbers.
    enum OwnToken {
        static let timer = UInt64.max
        static let wakeUp = UInt64.max - 1
        static let stop = UInt64.max - 2
        static let metricsListener = UInt64.max - 3
        /// The first of as many as may be: a listening socket each.
        static let firstListener = UInt64.max - 3 - UInt64(ServerLimits.listeners)
    }
    /// What wakes a thread that shall only look what there is to do.
    static let wakeUpEvent = Poller.Event(token: OwnToken.wakeUp)

    /// Everything but the sessions that a thread of the crew may hear of.
    func addEvents() throws(SystemError) {
        for (index, listener) in listeners.enumerated() {
            try poller.add(listener.descriptor, .readable, token: OwnToken.firstListener + UInt64(index))
        }
        if let metricsListener {
            try poller.add(metricsListener.descriptor, .readable, token: OwnToken.metricsListener)
        }
        try poller.add(deadlines.descriptor, .readable, token: OwnToken.timer)
        try poller.addEdgeTriggered(ready.wakeUp, token: OwnToken.wakeUp)
        try poller.addLevelTriggered(stopping.signal, token: OwnToken.stop)
    }

    /// Handles one event; false when the thread shall end.
    func handle(_ event: Poller.Event, _ worker: Worker) -> Bool {
        if event.isOwned {
            table.session(ownedBy: event).takeUp(worker)
            return true
        }
        let token = event.token
        guard token < OwnToken.firstListener else { return handleOwn(token, worker) }
        if let session = table.ownAtEvent(event) {
            session.socketIsReady(worker, isHungUp: event.isHungUp)
        }
        return true
    }

    private func handleOwn(_ token: Poller.Token, _ worker: Worker) -> Bool {
        switch token {
        case OwnToken.timer: timerFired(worker)
        case OwnToken.wakeUp: break
        case OwnToken.stop: return false
        case OwnToken.metricsListener: if let metricsListener { accept(from: metricsListener, token, worker) }
        default: accept(from: listeners[Int(token - OwnToken.firstListener)], token, worker)
        }
        return true
    }

    /// A thread was told of this event and does not come to it: another one is told.
    func announceAgain(_ event: Poller.Event) {
        if event.isOwned { return ready.enqueue(.owned(table.session(ownedBy: event))) }
        switch event.token {
        case OwnToken.timer: try? poller.arm(deadlines.descriptor, .readable, token: OwnToken.timer)
        case OwnToken.wakeUp: ready.wakeOne()
        // Everybody is told for as long as it is so.
        case OwnToken.stop: break
        case OwnToken.metricsListener: if let metricsListener { arm(metricsListener, OwnToken.metricsListener) }
        case OwnToken.firstListener...: arm(listeners[Int(event.token - OwnToken.firstListener)], event.token)
        default:
            // When another thread owns it, that one is told by this.
            table.ownAtEvent(event)?.announceEventAgain()
        }
    }
}
