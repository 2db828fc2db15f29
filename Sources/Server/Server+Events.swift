import Pool

/// What a thread of the crew hears of that is no session's, and whose turn it is.
extension Server {
    /// Events that are no session's: slots are far below these numbers.
    enum Event {
        static let timer = UInt64.max
        static let wakeUp = UInt64.max - 1
        static let stop = UInt64.max - 2
        static let metricsListener = UInt64.max - 3
        /// The first of as many as may be: a listening socket each.
        static let firstListener = UInt64.max - 3 - UInt64(ServerLimits.listeners)
    }
    /// What wakes a thread that shall only look what there is to do.
    static let wakeUpEvent = Poller.Event(token: Event.wakeUp)

    /// Everything but the sessions that a thread of the crew may hear of.
    func addEvents() throws(SystemError) {
        for (index, listener) in listeners.enumerated() {
            try poller.add(listener.descriptor, .readable, token: Event.firstListener + UInt64(index))
        }
        if let metricsListener {
            try poller.add(metricsListener.descriptor, .readable, token: Event.metricsListener)
        }
        try poller.add(deadlines.descriptor, .readable, token: Event.timer)
        try poller.addEdgeTriggered(ready.wakeUp, token: Event.wakeUp)
        try poller.addLevelTriggered(stopping.signal, token: Event.stop)
    }

    /// Handles one event; false when the thread shall end.
    func handle(_ event: Poller.Event, _ worker: Worker) -> Bool {
        if event.isOwned {
            table.session(ownedBy: event).takeUp(worker)
            return true
        }
        let token = event.token
        guard token < Event.firstListener else { return handleOwn(token, worker) }
        if let session = table.ownAtEvent(event) {
            session.socketIsReady(worker, isHungUp: event.isHungUp)
        }
        return true
    }

    private func handleOwn(_ token: Poller.Token, _ worker: Worker) -> Bool {
        switch token {
        case Event.timer: timerFired(worker)
        case Event.wakeUp: break
        case Event.stop: return false
        case Event.metricsListener: if let metricsListener { accept(from: metricsListener, token, worker) }
        default: accept(from: listeners[Int(token - Event.firstListener)], token, worker)
        }
        return true
    }

    /// A thread was told of this event and does not come to it: another one is told.
    func announceAgain(_ event: Poller.Event) {
        if event.isOwned { return ready.enqueue(.owned(table.session(ownedBy: event))) }
        switch event.token {
        case Event.timer: try? poller.arm(deadlines.descriptor, .readable, token: Event.timer)
        case Event.wakeUp: ready.wakeOne()
        // Everybody is told for as long as it is so.
        case Event.stop: break
        case Event.metricsListener: if let metricsListener { arm(metricsListener, Event.metricsListener) }
        case Event.firstListener...: arm(listeners[Int(event.token - Event.firstListener)], event.token)
        default:
            // When another thread owns it, that one is told by this.
            table.ownAtEvent(event)?.announceEventAgain()
        }
    }
}
