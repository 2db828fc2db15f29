import Journal
import Logging
import Pool
import PostgresWire
import SQLite
import Scheduling

/// Measuring statements, and logging those that were slow with their plans.
///
/// A statement begins when its message does: the time of the event that brought it, or of the end of the statement before
/// it. Its end is the time that the counters read (`Session.count`) or, where a commit may come in between, one more look at
/// the clock; none while `log_min_duration_statement` is off.
extension Session {
    /// The statement begins, and is to be measured.
    @inline(never)
    func beginTiming() {
        running.times = StatementTimes()
        running.times.began = counters?.takeTime() ?? MonotonicClock.now
        running.times.runBegan = running.times.began
    }

    /// It was parked, and has what it waited for: from here on it runs.
    func noteRunning(at now: @autoclosure () -> Instant = MonotonicClock.now) {
        if running.isActive, eventLog.isTiming { running.times.runBegan = now() }
    }

    /// Its client has not taken what there is of the result, so the statement stands still.
    func noteUnread() {
        if running.isActive, running.times.unreadSince == nil, eventLog.isTiming { running.times.unreadSince = MonotonicClock.now }
    }

    func noteRead() {
        guard let since = running.times.unreadSince else { return }
        running.times.unreadSince = nil
        running.times.unread += MonotonicClock.now.nanoseconds - since.nanoseconds
    }

    /// A statement has ended well. Its message is still at hand.
    ///
    /// - Parameter isFollowed: by another of the same Query message.
    @inline(__always)
    func finishStatement(isFollowed: Bool = false) {
        if eventLog.isTiming { measure() }
        endStatement(isFollowed: isFollowed || state.query == nil)
    }

    @inline(never)
    private func measure() {
        let now = running.times.ended > 0 ? Instant(nanoseconds: running.times.ended) : MonotonicClock.now
        counters?.setTime(now)
        // Zero when measuring was switched on while it ran.
        guard running.isActive, running.times.began.nanoseconds > 0 else { return }
        let taken = now.nanoseconds - running.times.began.nanoseconds - running.times.unread
        if eventLog.isSlow(taken) { wasSlow(taken, now) }
    }

    /// It has ended with an error, which its client may never hear of. Its message and its portal are still at hand.
    func measureFailed(_ state: SQLState) {
        guard running.isActive, eventLog.isTiming, running.times.began.nanoseconds > 0 else { return }
        noteRead()
        let now = MonotonicClock.now
        counters?.setTime(now)
        let taken = now.nanoseconds - running.times.began.nanoseconds - running.times.unread
        if eventLog.isSlow(taken) { wasSlow(taken, now, failedWith: state) }
        // The end of the session, if this is one, comes here, too.
        running.times.began = Instant(nanoseconds: 0)
    }

    private func wasSlow(_ taken: Int64, _ now: Instant, failedWith state: SQLState? = nil) {
        // The console's commands take as long as they take, and have lines of their own.
        guard !isConsole, eventLog.log.logLevel <= .notice, let statement = statementAtHand, admitsLine(.slowStatement, now: now)
        else { return }
        if state != nil { running.times.rows = runningPortal(of: statement)?.rowsOfExecute ?? 0 }
        var slow = SlowStatement(
            text: statement.text, taken: taken,
            waited: min(taken, running.times.runBegan.nanoseconds - running.times.began.nanoseconds), unread: running.times.unread,
            rows: running.times.rows, parameters: loggedParameters(of: statement.portal), state: state)
        // One at a time: of a pipeline the first is explained.
        guard running.slow == nil, Self.hasPlan(statement), eventLog.admitsPlan(user: limitKey, now: now)
        else { return log(slow, nil) }
        slow.explained = String(decoding: textForSQLite(of: statement), as: UTF8.self)
        running.slow = slow
    }

    /// What SQLite was given. One that failed before it had a portal has only what was sent.
    private func textForSQLite(of statement: StatementAtHand) -> UnsafeRawBufferPointer {
        let query = (statement.portal ?? simplePortal).statement.query
        return query.sent.bytes.elementsEqual(statement.sql) ? query.text.bytes : statement.sql
    }

    private func runningPortal(of statement: StatementAtHand) -> Portal? {
        let portal = statement.portal ?? simplePortal
        return portal.isRunning ? portal : nil
    }

    private static func hasPlan(_ statement: StatementAtHand) -> Bool {
        guard statement.sql.count <= LogLimits.explainedTextBytes else { return false }
        let head = StatementHead(statement.sql)
        return head.verb != .explain
            && [.select, .values, .insert, .replace, .update, .delete].contains(head.main)
    }

    /// The reply has gone out, so the plan of a slow statement costs nobody but this session, and not this thread's poll.
    func logSlowStatement(withPlan: Bool = true) {
        guard let slow = running.slow else { return }
        running.slow = nil
        var plan: QueryPlan?
        if withPlan, let text = slow.explained {
            worker?.willBeLong()
            plan = explain(text)
        }
        log(slow, plan)
    }

    private func log(_ slow: SlowStatement, _ plan: QueryPlan?) {
        eventLog.log.notice(
            .slowStatement, "a statement was slow", metadata: identity.merging(slow.metadata(plan)) { $1 })
    }

    /// nil when no reader is free at the moment, or the statement cannot be prepared any more.
    private func explain(_ text: String) -> QueryPlan? {
        if let reader { return QueryPlan(of: text, on: reader) }
        guard let index = pool.takeIdleReader(clientID) else { return nil }
        defer { if let next = pool.releaseReader(index) { enqueue(next) } }
        guard let reader = try? pool.reader(at: index) else { return nil }
        return QueryPlan(of: text, on: reader)
    }
}
