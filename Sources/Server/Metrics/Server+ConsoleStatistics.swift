import Pool
import Scheduling

/// SHOW STATS and its kin, and SHOW STATEMENTS.
extension Server {
    func showStatistics(_ topic: ConsoleTopic, _ rows: inout ConsoleTable, _ now: Instant) {
        let name = ConsoleTable.Value.text(configuration.databaseName)
        switch topic {
        case .statsTotals: rows.append([name] + Self.values(metrics.totals))
        case .statsAverages: rows.append([name] + Self.values(metrics.averages(now: now)))
        case .statements: showStatements(&rows)
        default:
            let totals = metrics.totals
            rows.append([name] + Self.values(totals) + Self.values(metrics.averages(now: now)) + [.init(totals.queries)])
        }
    }

    private static func values(_ totals: StatisticsTotals) -> [ConsoleTable.Value] {
        [
            .init(totals.transactions), .init(totals.queries), .init(totals.receivedBytes), .init(totals.sentBytes),
            .init(totals.transactionMicroseconds), .init(totals.queryMicroseconds), .init(totals.waitMicroseconds),
        ]
    }

    private func showStatements(_ rows: inout ConsoleTable) {
        collect(nil)
        for row in metrics.statements.rows {
            let usage = row.usage
            rows.append([
                .text(row.text), .init(usage.calls), .init(usage.nanoseconds / 1000),
                .init(usage.nanoseconds / max(1, usage.calls) / 1000), .init(usage.longestNanoseconds / 1000),
                .init(usage.rows), .init(usage.fullScanSteps), .init(usage.sorts), .init(usage.automaticIndexRows),
                .init(usage.outsiderWaitMilliseconds),
            ])
        }
    }
}

extension ConsoleTopic {
    var statisticsSummary: String {
        switch self {
        case .statsTotals: "transactions, queries, bytes and microseconds since the start"
        case .statsAverages: "the same a second, and a transaction's and a query's mean time, of the last full minute"
        case .statements: "what each statement took, scanned and sorted, literals left out; the most time first"
        default: "totals and averages together"
        }
    }

    /// PgBouncer's: https://www.pgbouncer.org/usage.html#show-stats
    var statisticsColumns: [ConsoleTable.Column] {
        let counts = ["xact_count", "query_count", "bytes_received", "bytes_sent", "xact_time", "query_time", "wait_time"]
        let names: [String]
        switch self {
        case .statsTotals, .statsAverages: names = counts
        case .statements:
            names = [
                "calls", "total_us", "mean_us", "max_us", "rows", "full_scan_steps", "sorts", "automatic_index_rows",
                "busy_waits",
            ]
        default:
            names =
                ["xact_count", "query_count", "received", "sent", "xact_time", "query_time", "wait_time"].map { "total_" + $0 }
                + ["xact_count", "query_count", "recv", "sent", "xact_time", "query_time", "wait_time"].map { "avg_" + $0 }
                // PgBouncer's name for queries before 1.8, which Debian 12's exporter (1.7) still asks for.
                + ["total_requests"]
        }
        let first = self == .statements ? "query" : "database"
        return [ConsoleTable.Column(name: first, type: .text)] + names.map { ConsoleTable.Column(name: $0, type: .int8) }
    }
}
