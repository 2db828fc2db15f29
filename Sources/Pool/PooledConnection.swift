import SQLite
import Scheduling

/// A connection of the pool with its prepared statements and the statement now running on it.
///
/// `@unchecked Sendable`: the pool owns its connections and outlives them; each is used only by the thread that holds it, which the
/// queues decide (`ReaderQueue`, `WriterQueue`), and is handed over under `Pool.state`.
package class PooledConnection: @unchecked Sendable {
    /// SQLite's own, for the thread that holds this one.
    package let connection: Connection
    var statements: StatementCache
    let counters: PoolCounters
    /// Waited for another process, with which no statement has been charged yet.
    private var outsiderWaitMilliseconds = 0
    /// Set while a statement runs, for the progress and busy handlers. Unowned: its session is owned by the thread that is in
    /// between `beginRun` and `endRun`, and a reference counted here would be two atomic operations for each statement.
    private unowned(unsafe) var owner: (any StatementOwner)?
    private var runBegan: Instant?
    private var hasAnnounced = false
    /// The schema that statements meet: of the snapshot that it has, or of its own transaction.
    package final internal(set) var schemaVersion = CommittedSchema.unknown
    /// Why the progress or busy handler stopped the last run.
    package private(set) var stopReason: StopReason?

    /// A statement past this much work is long: a reserve thread takes its thread's place at the poll.
    static let longRunNanoseconds: Int64 = 1_000_000

    /// Takes over the connection, with its callbacks.
    package init(connection: Connection, limits: PoolLimits, counters: PoolCounters) {
        self.connection = connection
        self.counters = counters
        statements = StatementCache(
            limit: limits.statementsPerConnection, byteLimit: limits.statementBytesPerConnection, observer: counters.observer)
        // The closures live in the connection this object owns, so they must not retain it.
        connection.callbacks.onProgress = { [unowned(unsafe) self] in self.shouldStop() }
        connection.callbacks.sessionFacts = { [unowned(unsafe) self] in self.owner?.facts }
    }

    /// Begins work for `owner`; pair with `endRun`.
    @inline(__always)
    package func beginRun(_ owner: any StatementOwner) {
        self.owner = owner
        runBegan = nil
        hasAnnounced = false
        stopReason = nil
    }

    /// The work that `beginRun` began has ended: nobody is asked any more whether to go on.
    @inline(__always)
    package func endRun() { owner = nil }

    /// What the progress handler asks, for work of the owner's that SQLite has no part in; between `beginRun` and `endRun`.
    package func reasonToStop() -> StopReason? { shouldStop() ? stopReason : nil }

    /// Work of the connection's own amid the owner's: who is asked whether to go on with theirs is not asked about this.
    func unasked(_ work: () throws(SQLiteError) -> Void) throws(SQLiteError) {
        let running = owner
        owner = nil
        defer { owner = running }
        try work()
    }

    /// The progress handler. A statement that ends within a thousand steps never gets here.
    private func shouldStop() -> Bool {
        guard let owner else { return false }
        // Its owner may answer otherwise the next time (a client that is gone is looked for now and then), and who has run the
        // statement would not hear that it was stopped.
        if stopReason != nil { return true }
        hasStepped()
        let now = MonotonicClock.now
        if let began = runBegan {
            if !hasAnnounced, now.nanoseconds - began.nanoseconds > Self.longRunNanoseconds {
                hasAnnounced = true
                owner.willBeLong()
            }
        } else {
            runBegan = now
            owner.hasRunForAWhile()
        }
        stopReason =
            reasonOfOwn ?? owner.reasonToStop(now: now) ?? (owner.isClientGone(now: now) ? .disconnected : nil)
            ?? reasonOfOthers(now: now)
        return stopReason != nil
    }

    /// The statement that runs has made steps, so it has the locks it needs.
    func hasStepped() {}

    /// A reason to stop that is the connection's and not its user's.
    var reasonOfOwn: StopReason? { nil }

    /// One for the sake of others, where the statement's owner has none.
    func reasonOfOthers(now: Instant) -> StopReason? { nil }

    /// One turn of waiting for another process's lock: sleeps for a constant time, or says to give up.
    ///
    /// Constant, because SQLite's own busy_timeout backs off to 100 ms, so that old waiters starve behind new ones.
    func waitForOutsider() -> Bool {
        guard let owner else { return false }
        if !hasAnnounced {
            hasAnnounced = true
            owner.willBeLong()
        }
        let now = MonotonicClock.now
        stopReason = owner.reasonToStopWaiting(now: now) ?? (owner.isClientGone(now: now) ? .disconnected : nil)
        if stopReason != nil { return false }
        MonotonicClock.sleep(milliseconds: PoolLimits.lookMilliseconds)
        return true
    }

    /// Writes are analysed on readers, but never run there.
    var isReader: Bool { false }

    /// The statement is done: it is reset, forgets its values, and may be used again, or is finalised if it is not kept.
    @inline(__always)
    package func giveBack(_ lease: PreparedLease) {
        lease.entry.statement.reset()
        lease.entry.statement.clearBindings()
        lease.entry.isInUse = false
        if lease.entry.statement.preparations != lease.entry.preparationsMeasured { statements.measure(lease.entry) }
        if outsiderWaitMilliseconds > 0 { chargeOutsiderWait(to: lease) }
        if !lease.entry.isCached { statements.end(lease.entry) }
    }

    /// A statement that waits for another process is the one it is charged to, or the first of those whose BEGIN waited.
    private func chargeOutsiderWait(to lease: PreparedLease) {
        lease.entry.usage.outsiderWaitMilliseconds &+= outsiderWaitMilliseconds
        outsiderWaitMilliseconds = 0
    }

    func countOutsiderWait() {
        counters.outsiderWaitMilliseconds.wrappingAdd(PoolLimits.lookMilliseconds, ordering: .relaxed)
        outsiderWaitMilliseconds &+= PoolLimits.lookMilliseconds
    }

    /// Tells what the statements did, and returns what the connection counted since it was last asked.
    func takeUsage() -> ConnectionUsage {
        statements.tellAll()
        var usage = statements.takeCounts()
        let pages = connection.takePageCacheUsage()
        (usage.pageHits, usage.pageMisses, usage.pageWrites) = (pages.hits, pages.misses, pages.writes)
        return usage
    }

    var statementBytes: Int { statements.bytes }

    func forgetStatements() { statements.removeIdle() }
}
