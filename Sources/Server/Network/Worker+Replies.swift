import Pool
import Scheduling

/// What several sessions were sent is received at once, and their replies leave at once: see `Transfers`.
extension Worker {
    /// What the sessions of the pending events have been sent is received by one system call, and they are this thread's from
    /// here on.
    func receiveTogether() {
        guard batch.pending > 1 else { return }
        precondition(transferring.isEmpty, "one transfer at a time")
        for place in batch.pendingPlaces {
            guard let event = batch.take(at: place) else { continue }
            guard event.isPlain else {
                batch.put(event, at: place)
                continue
            }
            guard let session = table.ownAtEvent(event) else { continue }
            guard let room = session.roomToReceive() else {
                session.due = .event
                batch.put(Poller.Event(owned: session.token), at: place)
                continue
            }
            // Before its socket is emptied: a cancel is for what was in there.
            session.resumeActivity()
            places.append(place)
            transfers.add(session.socket, room.baseAddress!, count: room.count)
            transferring.append(Unmanaged.passUnretained(session))
        }
        receiveAll()
        for index in transferring.indices {
            let session = transferring[index].takeUnretainedValue()
            session.due = .received(transfers.result(index))
            batch.put(Poller.Event(owned: session.token), at: places[index])
        }
        transferring.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
        transfers.removeAll()
    }

    /// Watched, if it is between two events: see `SocketWait`.
    private func receiveAll() {
        let isBetweenEvents = note.began.load(ordering: .relaxed) == 0
        if isBetweenEvents { watchFrom(MonotonicClock.now) }
        atSocket { transfers.receive() }
        if isBetweenEvents { note.began.store(0, ordering: .relaxed) }
    }

    /// Whether a reply that is complete now can wait for those of other sessions, which come at once.
    @inline(__always)
    var sendsRepliesTogether: Bool {
        (isAnswering || (!isLong && (batch.pending > 0 || replies.pending > 0))) && replies.hasRoom
    }

    /// The session's reply goes out with others'; until then it is this thread's.
    func sendLater(_ session: Session) {
        assert(note.isOfCallingThread, "another thread's replies")
        if replies.pending == 0 {
            repliesSince = eventBegan
            statementsSince = 0
        }
        replies.add(Poller.Event(owned: session.token))
    }

    /// Sends the replies that wait for one another, by one system call.
    @inline(__always)
    func sendReplies() { if replies.pending > 0 { sendAllReplies() } }

    /// What it lets go of may be what somebody waits for: the caller runs those resumptions, or hands them over.
    func sendAllReplies() {
        precondition(transferring.isEmpty, "one transfer at a time")
        while let event = replies.take() {
            let session = table.session(ownedBy: event)
            let reply = session.out.readable
            // One type of transfer for both directions; this one is only read from.
            transfers.add(session.socket, UnsafeMutableRawPointer(mutating: reply.baseAddress!), count: reply.count)
            transferring.append(Unmanaged.passUnretained(session))
        }
        replies.removeAll()
        atSocket { transfers.send() }
        for index in transferring.indices {
            // The thread that owns a session keeps it alive.
            let session = transferring[index].takeUnretainedValue()
            session.replyWasSent(transfers.result(index))
        }
        transferring.removeAll(keepingCapacity: true)
        transfers.removeAll()
    }

    /// At the end of an event: sends what has waited for long enough, or has nobody left to wait for.
    @inline(__always)
    func sendRepliesIfDue(now: Instant) {
        guard replies.pending > 0 else { return }
        let isLast = batch.pending == 0
        guard isLast || now.nanoseconds &- repliesSince > SessionLimits.replyDelayNanoseconds else { return }
        sendAllReplies()
        if hasResumptions { runResumptions() }
        if isLast { receiveTogether() }
    }

    /// A statement begins. An event may be a pipeline of thousands, and replies of others do not wait for that.
    @inline(__always)
    func noteStatement() {
        statementsSince &+= 1
        if statementsSince > SessionLimits.statementsBeforeReply { sendReplies() }
        handOverIfAny()
    }

    /// The thread ends: sessions that are in its hands hear of it as those do that nobody is at.
    func endBatch() {
        sendReplies()
        while let event = batch.take() {
            if event.isOwned { table.session(ownedBy: event).takeUp(self) }
        }
        sendReplies()
        handOverIfAny()
    }
}
