import POSIX
import Pool

/// What statements have done, by their normalised text. A value; `StatementStatistics` has the lock around it.
struct StatementTable: Sendable {
    struct Row: Sendable {
        var text: String
        var usage: StatementUsage
        /// Counts the additions, so that the one used last is known.
        var lastUse: Int
    }

    /// Each takes about two of its text's lengths; pg_stat_statements keeps 5,000.
    static let limit = 1_000
    /// How much of it goes at a time when it is full, in parts of a hundred.
    private static let evictedPercent = 5

    private var rows: [String: Row] = [:]
    private let limit: Int
    private var clock = 0
    /// How many had to go.
    private(set) var evicted = 0

    init(limit: Int = Self.limit) { self.limit = limit }

    var count: Int { rows.count }

    mutating func add(_ text: String, _ usage: StatementUsage) {
        clock &+= 1
        // Keywords and names are written in either case.
        let key = text.lowercased()
        if rows[key] == nil {
            if rows.count >= limit { evict() }
            rows[key] = Row(text: text, usage: usage, lastUse: clock)
        } else {
            rows[key]!.usage += usage
            rows[key]!.lastUse = clock
        }
    }

    /// The least called go, so that texts which come once never push out those that matter.
    private mutating func evict() {
        let going = max(1, limit * Self.evictedPercent / 100)
        let order = rows.sorted { ($0.value.usage.calls, $0.value.lastUse) < ($1.value.usage.calls, $1.value.lastUse) }
        for (key, _) in order.prefix(going) { rows[key] = nil }
        evicted &+= going
    }

    /// Those that took the most time first.
    var byTime: [Row] {
        rows.values.sorted { ($0.usage.nanoseconds, $0.usage.calls, $0.text) > ($1.usage.nanoseconds, $1.usage.calls, $1.text) }
    }
}

/// `StatementTable` for every thread.
final class StatementStatistics: StatementObserver {
    private let table = Locked(StatementTable())

    func didUse(_ text: SQLText, _ usage: StatementUsage) {
        let normalised = NormalisedSQL.text(of: text.bytes)
        table.withLock { $0.add(normalised, usage) }
    }

    var rows: [StatementTable.Row] { table.withLock { $0 }.byTime }
}
