import Scheduling

/// What SHOW STATS tells of the database: since the start, or as an average. Times are microseconds, as PgBouncer has them.
struct StatisticsTotals: Equatable, Sendable {
    var transactions = 0
    var queries = 0
    var receivedBytes = 0
    var sentBytes = 0
    var transactionMicroseconds = 0
    var queryMicroseconds = 0
    var waitMicroseconds = 0
}

extension StatisticsTotals {
    init(_ sum: ThreadCounters.Sum) {
        self.init(
            transactions: sum[.transactions], queries: sum.statements - sum[.console], receivedBytes: sum[.receivedBytes],
            sentBytes: sum[.sentBytes], transactionMicroseconds: sum[.transactionNanoseconds] / 1000,
            queryMicroseconds: sum[.queryNanoseconds] / 1000, waitMicroseconds: sum[.waitNanoseconds] / 1000)
    }
}

/// The averages: of the last full minute, or of the time since the start until there has been one.
///
/// A value that is given the time. Two samples are kept, of the last two ends of a period.
struct StatisticsPeriods: Sendable {
    /// PgBouncer's stats_period: https://www.pgbouncer.org/config.html#stats_period
    static let milliseconds: Int64 = 60_000

    private struct Sample: Sendable {
        var totals = StatisticsTotals()
        var at: Instant
    }

    private var older: Sample
    private var newer: Sample
    private var hasPeriod = false

    init(now: Instant) {
        older = Sample(at: now)
        newer = Sample(at: now)
    }

    var end: Instant { newer.at.advanced(byMilliseconds: Self.milliseconds) }

    mutating func endIfDue(_ totals: StatisticsTotals, now: Instant) {
        guard now >= end else { return }
        older = newer
        newer = Sample(totals: totals, at: now)
        hasPeriod = true
    }

    /// Counts and bytes a second; a transaction's and a query's mean time; time waited a second.
    func averages(_ totals: StatisticsTotals, now: Instant) -> StatisticsTotals {
        let last = hasPeriod ? newer : Sample(totals: totals, at: now)
        let (a, b) = (older.totals, last.totals)
        let microseconds = Int(last.at.nanoseconds &- older.at.nanoseconds) / 1000
        guard microseconds > 0 else { return StatisticsTotals() }
        func perSecond(_ count: Int) -> Int { Int((Double(count) * 1_000_000 / Double(microseconds)).rounded()) }
        let transactions = b.transactions - a.transactions
        let queries = b.queries - a.queries
        return StatisticsTotals(
            transactions: perSecond(transactions), queries: perSecond(queries),
            receivedBytes: perSecond(b.receivedBytes - a.receivedBytes), sentBytes: perSecond(b.sentBytes - a.sentBytes),
            transactionMicroseconds: transactions > 0
                ? (b.transactionMicroseconds - a.transactionMicroseconds) / transactions : 0,
            queryMicroseconds: queries > 0 ? (b.queryMicroseconds - a.queryMicroseconds) / queries : 0,
            waitMicroseconds: perSecond(b.waitMicroseconds - a.waitMicroseconds))
    }
}
