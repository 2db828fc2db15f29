import Pool
import PostgresWire
import Scheduling

/// What a session counts, into the words of the thread it is on.
///
/// Time costs no clock of its own on the path of a read: it counts from the beginning of the thread's event, which the
/// worker has read the clock for, and the clock that is read when a statement ends serves as the event's end too
/// (`Worker.timeAfterEvent`) and for the log.
extension Session {
    /// Something is asked of the session: from here on it is busy.
    @inline(__always)
    func countBeginning() {
        if accounting.busySince == 0, let counters { accounting.busySince = counters.mark }
    }

    /// It waits for its client: what it was busy with is over.
    @inline(__always)
    func countEnd() {
        guard accounting.busySince != 0, let counters else { return }
        if !accounting.isLooking {
            counters.add(.queryNanoseconds, max(0, counters.mark &- accounting.busySince &- accounting.waitedNanoseconds))
        }
        accounting.busySince = 0
        accounting.waitedNanoseconds = 0
    }

    // MARK: Bytes

    @inline(__always)
    func countReceived(_ bytes: Int) { counters?.add(accounting.isLooking ? .lookingReceivedBytes : .receivedBytes, bytes) }

    @inline(__always)
    func countSent(_ bytes: Int) { counters?.add(accounting.isLooking ? .lookingSentBytes : .sentBytes, bytes) }

    /// It is the console's, or asks for metrics, as the first of its bytes say.
    func countAsLooking() {
        accounting.isLooking = true
        counters?.add(.receivedBytes, -input.count)
        counters?.add(.lookingReceivedBytes, input.count)
    }

    // MARK: Waiting

    /// Before a request that may park the session.
    @inline(__always)
    func countRequest() { accounting.parkedSince = counters?.mark ?? 0 }

    /// A thread has it again that waited in a queue.
    func countWait(forReader: Bool) {
        guard accounting.parkedSince != 0, let counters else { return }
        let waited = max(0, counters.mark &- accounting.parkedSince)
        accounting.parkedSince = 0
        accounting.waitedNanoseconds &+= waited
        counters.add(.waits, 1)
        counters.add(.waitNanoseconds, waited)
        if forReader { counters.countReaderWait(nanoseconds: waited) }
    }

    // MARK: Transactions

    @inline(__always)
    func countTransactionBeginning() {
        if accounting.transactionSince == 0, !accounting.isLooking, let counters { accounting.transactionSince = counters.mark }
    }

    @inline(__always)
    func countTransactionEnd() {
        guard accounting.transactionSince != 0, let counters else { return }
        counters.add(.transactions, 1)
        counters.add(.transactionNanoseconds, max(0, counters.mark &- accounting.transactionSince))
        accounting.transactionSince = 0
    }

    // MARK: Statements

    /// SQLite's run of the portal's statement is over, and the connection is still the session's.
    @inline(__always)
    func count(_ run: Portal.Run, of portal: Portal) {
        guard let counters else { return }
        let now = MonotonicClock.now
        let taken = Int(now.nanoseconds) &- counters.mark &+ portal.pausedNanoseconds
        // On the writer a commit may follow, which takes its time.
        counters.setMark(now, isFresh: !run.isOnWriter)
        running.times.ended = run.isOnWriter ? 0 : now.nanoseconds
        counters.countRun(run.kind, nanoseconds: taken)
        let rows = portal.rowsOfExecute &+ portal.pausedRows
        counters.add(.rows, rows)
        run.lease.didRun(nanoseconds: taken, rows: run.counts ? 0 : rows)
    }

    /// It stands in the middle of its rows, and what the client does until it asks for more is not its time.
    func countPause(of portal: Portal) {
        guard let counters, portal.isRunning else { return }
        let now = MonotonicClock.now
        portal.pause(nanoseconds: Int(now.nanoseconds) &- counters.mark)
        counters.setMark(now)
    }

    /// A COPY FROM has done what it could with what its client has sent.
    func countProgress(of copy: CopyIn, now: Instant) {
        guard let counters else { return }
        copy.nanoseconds += max(0, Int(now.nanoseconds) &- counters.mark)
        counters.setMark(now)
    }

    /// A COPY FROM is over, well or not: it was one run of the INSERT it is made of, whatever the pieces it came in.
    func countRun(of copy: CopyIn) {
        guard let counters else { return }
        countProgress(of: copy, now: MonotonicClock.now)
        counters.countRun(.insert, nanoseconds: copy.nanoseconds)
        var usage = StatementUsage()
        usage.calls = 1
        usage.rows = Int(copy.inserted)
        usage.nanoseconds = copy.nanoseconds
        usage.longestNanoseconds = copy.nanoseconds
        server.metrics.statements.didUse(copy.insert.text, usage)
    }

    /// A statement that the session answers by itself.
    func countOwn(_ kind: Query.Kind) {
        // Also what drivers say before and after their statements.
        guard !accounting.isLooking else { counters?.countStatement(.console); return }
        switch kind {
        // COPY TO is counted as the query it runs, COPY FROM when it is over.
        case .empty, .sqlite, .copy: break
        case .transaction: counters?.countStatement(.transaction)
        case .session, .chatter, .catalog: counters?.countStatement(.session)
        case .console: counters?.countStatement(.console)
        }
    }

    func countError(_ error: WireError) { server.metrics.countError(error.state) }
}
