import Pool
import SQLite
import Scheduling

/// What a thread has to run next because something became free for somebody: by itself, or by another thread where it is long.
extension Worker {
    @inline(__always)
    var hasResumptions: Bool { !resumptions.isEmpty || resumptionsUntilWakeUp > 0 }

    @inline(__always)
    func handOverIfAny() { if hasResumptions { handOver() } }

    /// What this was to run next, others run. The replies go first: recovery, which is among the former, may end the process.
    func handOver() {
        sendReplies()
        for resumption in resumptions.takeAll() { ready.enqueue(resumption) }
        if resumptionsUntilWakeUp > 0 { ready.wakeOne() }
        resumptionsUntilWakeUp = 0
    }

    /// The session goes on behind whatever is in the server's queue, and what epoll has now comes in between: the wake-up stands in
    /// line behind that.
    func endTurn(of session: Session) {
        hasEndedTurn = true
        ready.enqueue(.owned(session))
    }

    /// This comes after the resumption there is, if any, on this thread or on one that has nothing to do before: it is not worth
    /// the other thread's wake-up unless this one is long, or has more to do.
    func enqueueLast(_ resumption: Resumption) {
        guard !isLong else { return ready.enqueue(resumption) }
        ready.enqueueUnannounced(resumption)
        if crew.isWatched {
            resumptionsUntilWakeUp = 2
        } else {
            // Nobody would find this thread stuck.
            ready.wakeOne()
        }
    }

    /// This thread runs it next, or another one if this one turns out to be stuck. If nobody would find it stuck, others are told at once.
    func enqueue(_ resumption: Resumption) {
        assert(note.isOfCallingThread, "another thread's turns")
        if isLong, !(isOfCrew && resumption.comesAfterReplies) { return ready.enqueue(resumption) }
        resumptions.append(resumption)
        // In this order, see `Watch.takeResumptions`.
        if !crew.isWatched { leaveUnwatched() }
    }

    private func leaveUnwatched() {
        for resumption in note.resumptionsForOthers() { ready.enqueue(resumption) }
    }

    func runResumptions() {
        while true {
            if let next = resumptions.take() {
                run(next)
            } else if !hasEndedTurn, let next = ready.take() {
                // What is left there others were told of.
                resumptionsUntilWakeUp = 0
                run(next)
            } else {
                if hasEndedTurn, resumptionsUntilWakeUp > 0 { ready.wakeOne() }
                resumptionsUntilWakeUp = 0
                return
            }
        }
    }

    private func run(_ resumption: Resumption) {
        counters.setTime(nil)
        statementsSince &+= 1
        if statementsSince > SessionLimits.statementsBeforeReply { sendReplies() }
        if resumptionsUntilWakeUp > 0 {
            resumptionsUntilWakeUp &-= 1
            if resumptionsUntilWakeUp == 0 { ready.wakeOne() }
        }
        SQLiteLibrary.beginWork()
        // What came before it in this event is not its time.
        let now = MonotonicClock.now
        turnEnds(at: now)
        counters.setMark(now)
        switch resumption {
        case .reader(let client, let index):
            let session = session(client)
            session.readerIndex = index
            session.resume(self)
        case .transaction(let client):
            let session = session(client)
            session.hasWriterGrant = true
            session.resume(self)
        case .group(let members):
            runGroup(members)
        case .committed(let group):
            answer(group.take())
        case .unsynced(let commit):
            sync(commit)
        case .answered(let client):
            session(client).continueAfterGroup(self)
        case .owned(let client):
            session(client).takeUp(self)
        case .stopped(let client, let reason):
            session(client).waitEnded(self, reason)
        case .job(let job):
            willBeLong()
            SQLiteLibrary.beginOwnWork()
            defer { SQLiteLibrary.beginWork() }
            for next in pool.run(job, endSnapshots: { server.endSnapshots(before: $0, self) }) { enqueue(next) }
            releaseWriter()
        }
    }

    /// The pool knows its clients as no more than that, and has no others. What it has granted must not be lost silently.
    @inline(__always)
    func session(_ client: any PoolClient) -> Session {
        guard let session = client as? Session else { preconditionFailure("the pool's clients are sessions") }
        return session
    }

    func releaseWriter() {
        if let next = pool.releaseWriter() { enqueue(next) }
    }
}
