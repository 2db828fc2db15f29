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
        for resumption in resumptions { ready.enqueue(resumption) }
        resumptions.removeAll(keepingCapacity: true)
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
        wakeOneInTime()
    }

    /// What one event has freed for several is run by this thread, one after the other, but is not its alone: the first may be stuck in one
    /// step of SQLite's machine, and the others have what they waited for, the writer among it. Whoever finds the thread stuck has them run.
    private func offerResumptions() {
        guard !resumptions.contains(where: isAfterReplies) else { return }
        for resumption in resumptions { ready.enqueueUnannounced(resumption) }
        resumptions.removeAll(keepingCapacity: true)
        wakeOneInTime()
    }

    /// For what is in the server's queue and no thread was woken for.
    private func wakeOneInTime() {
        if crew.isWatched {
            resumptionsUntilWakeUp = 2
        } else {
            // Nobody would find this thread stuck.
            ready.wakeOne()
        }
    }

    func enqueue(_ resumption: Resumption) {
        assert(note.isOfCallingThread, "another thread's turns")
        if isLong, !isAfterReplies(resumption) { ready.enqueue(resumption) } else { resumptions.append(resumption) }
    }

    /// Recovery may end the process, so it comes when this thread has told those whose commit has failed, and another thread
    /// does not begin it before.
    private func isAfterReplies(_ resumption: Resumption) -> Bool {
        guard isOfCrew, case .job(.recovery) = resumption else { return false }
        return true
    }

    func runResumptions() {
        while true {
            if !resumptions.isEmpty {
                let first = resumptions.removeFirst()
                if !resumptions.isEmpty { offerResumptions() }
                run(first)
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
        counters.setMark(MonotonicClock.now)
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
