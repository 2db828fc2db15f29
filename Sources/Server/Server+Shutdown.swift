import CLinux
import Glibc
import Journal
import Pool
import PostgresWire

/// Stopping, in the order that loses nothing.
extension Server {
    /// Stops accepting, lets running statements finish up to the limit, tells sessions 57P01, ends the threads, closes
    /// readers before the writer. Returns when all is closed.
    ///
    /// - Parameter isHurried: the limit is over now: whoever asks again does not want to wait for it.
    package func stop(atOnceWhen isHurried: () -> Bool = { false }) {
        stopping.hasBegun.store(true, ordering: .sequentiallyConsistent)
        // No client waits for its result, and those who wait for the writer shall not wait for it.
        pool.stopMaintenance()
        stopAccepting()
        SocketWait.interrupting { endSessions(atOnceWhen: isHurried) }
        let haveEnded = stopThreads(withinMilliseconds: ServerLimits.threadsMilliseconds)
        for listener in allListeners { listener.close() }
        eventLog.reportLeftOut()
        guard haveEnded else { endWithoutThem() }
        pool.close()
    }

    private func endSessions(atOnceWhen isHurried: () -> Bool) {
        for listener in allListeners { listener.retire(to: stopping.signal) }
        let limit = MonotonicClock.now.advanced(byMilliseconds: current { $0.shutdownTimeoutMilliseconds })
        endIdleSessions(until: { MonotonicClock.now >= limit || isHurried() })
        if table.count > 0 {
            log.notice(.stopping, "ending statements that still run", metadata: ["sessions": "\(table.count)"])
            stopping.mustStopStatements.store(true, ordering: .sequentiallyConsistent)
            let lastLimit = MonotonicClock.now.advanced(byMilliseconds: ServerLimits.endingMilliseconds)
            endIdleSessions(until: { MonotonicClock.now >= lastLimit })
        }
    }

    /// SQLite asks nobody during a call of a function, and `instr` of two large values takes a day. What was acknowledged is in the
    /// -wal and on the disk, as after a kill, and the next start goes on from there. One that was deleted is to be saved before, and one
    /// that is left beside another database is to be moved away.
    private func endWithoutThem() -> Never {
        let loss = pool.lossWithoutClosing()
        let fate = loss ?? "the -wal has what was committed"
        log.critical(
            .stopping, "a statement does not end: the daemon ends without its last checkpoint; \(fate)",
            metadata: ["sessions": "\(table.sessions.map { "\($0.clientID)" }.joined(separator: ","))"])
        _exit(loss == nil ? 0 : Self.ioErrorStatus)
    }

    /// What waits for its client's Sync goes out now; an error is found out by whoever writes next. One that waits for its client to read
    /// goes on with its statement by itself.
    private func sendKeptReply(of session: Session, _ worker: Worker) {
        guard session.arming.interest == .stream else { return }
        session.worker = worker
        _ = session.flush()
    }

    /// Ends every session nobody is at work for, again and again until none is left. One whose client is reading its reply is not
    /// idle.
    private func endIdleSessions(until isOver: () -> Bool) {
        let error = ErrorTranslation.wireError(.shutdown)
        let worker = Worker(server: self, isOfCrew: false)
        while table.count > 0, !isOver() {
            for session in table.sessions {
                let isHeld = table.own(slot: session.slot, generation: session.generation) != nil
                if isHeld { sendKeptReply(of: session, worker) }
                if isHeld, session.isOwedReply {
                    session.worker = worker
                    session.disownAndArm()
                    continue
                }
                if isHeld || pool.withdraw(session.clientID) {
                    session.closeParking()
                    session.worker = worker
                    if !isHeld { session.noteRunning() }
                    session.terminate(error)
                    worker.handOver()
                }
            }
            if table.count > 0 { pauseForSessions() }
            crew.watch.interruptThoseAtSockets()
        }
    }

    /// Ends the crew. A thread that is still at work for longer than its statement's end is waited for: it holds a
    /// connection. False: one has gone on beyond the limit.
    func stopThreads(withinMilliseconds milliseconds: Int64) -> Bool {
        crew.stop()
        stopping.announce()
        let threads = threads.withLock { $0 }
        let end = MonotonicClock.now.advanced(byMilliseconds: milliseconds)
        while stopping.endedThreads.load(ordering: .sequentiallyConsistent) < threads.count {
            guard MonotonicClock.now < end else { return false }
            crew.watch.interruptThoseAtSockets()
            pauseForSessions()
        }
        // A thread that was joined is none that may be sent a signal: pthread_kill(3).
        while crew.isInterrupting { pauseForSessions() }
        for thread in threads { thread.join() }
        return true
    }

    /// Statements take their time to end, and there is nothing to be told when they do.
    func pauseForSessions() {
        MonotonicClock.sleep(milliseconds: ServerLimits.sessionsLookMilliseconds)
    }
}
