import Glibc
import POSIX
import PostgresWire
import Scheduling
import Synchronization

/// What the server counts, beside what the pool does.
final class Metrics: Sendable {
    private struct Threads {
        var all: [ThreadCounters] = []
        /// Of threads that have ended.
        var free: [ThreadCounters] = []
    }

    private let threads = Locked(Threads())
    /// Rare enough for a lock, and there are only so many conditions.
    private let errors = Locked<[SQLState: Int]>([:])
    /// Holders of the writer that were ended because they were idle and others waited.
    let evictions = Atomic<Int>(0)
    /// The same of readers, whose users lost their snapshots.
    let readerEvictions = Atomic<Int>(0)
    let scrapes = Atomic<Int>(0)
    let statements = StatementStatistics()
    private let periods: Locked<StatisticsPeriods>
    /// Of the start, read once: worked out from the clocks as they stand now it would be a second more or less at times.
    let startedWallSeconds = time(nil)

    init(now: Instant) {
        periods = Locked(StatisticsPeriods(now: now))
    }

    deinit {
        for counters in threads.withLock({ $0.all }) { counters.deallocate() }
    }

    // MARK: Threads

    /// Words for a thread that begins, until it gives them back.
    func lend() -> ThreadCounters {
        threads.withLock { threads in
            if let counters = threads.free.popLast() { return counters }
            let counters = ThreadCounters()
            threads.all.append(counters)
            return counters
        }
    }

    func giveBack(_ counters: ThreadCounters) { threads.withLock { $0.free.append(counters) } }

    var sum: ThreadCounters.Sum { ThreadCounters.Sum(threads.withLock { $0.all }) }

    // MARK: Errors

    func countError(_ state: SQLState) { errors.withLock { $0[state, default: 0] &+= 1 } }

    var errorsByState: [(state: String, count: Int)] {
        errors.withLock { $0 }.map { (state: $0.key.code, count: $0.value) }.sorted { $0.state < $1.state }
    }

    // MARK: Averages

    var totals: StatisticsTotals { StatisticsTotals(sum) }

    /// When a period of the averages ends next.
    var periodEnd: Instant { periods.withLock { $0.end } }

    func endPeriodIfDue(now: Instant) {
        let totals = totals
        periods.withLock { $0.endIfDue(totals, now: now) }
    }

    func averages(now: Instant) -> StatisticsTotals {
        let totals = totals
        return periods.withLock { $0.averages(totals, now: now) }
    }
}
