import Journal
import Logging
import PostgresWire
import Scheduling

/// A statement that took longer than `log_min_duration_statement`.
struct SlowStatement {
    var text: String
    /// From the arrival of its message to its end, without the time its client took to read.
    var taken: Int64
    /// Of that, what it waited for the writer or a reader, in nanoseconds.
    var waited: Int64
    /// How long its client did not take what was there of the result.
    var unread: Int64
    var rows: Int
    var parameters: String?
    /// What it failed with, or nil.
    var state: SQLState?
    /// The whole text, when its plan is to be asked for.
    var explained: String?

    func metadata(_ plan: QueryPlan?) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "duration": .stringConvertible(LoggedDuration(nanoseconds: taken)),
            "wait": .stringConvertible(LoggedDuration(nanoseconds: waited)),
            "run": .stringConvertible(LoggedDuration(nanoseconds: taken - waited)),
            "rows": "\(rows)", "sql": "\(text)",
        ]
        if unread > 0 { metadata["unread"] = .stringConvertible(LoggedDuration(nanoseconds: unread)) }
        if let state { metadata["sqlstate"] = "\(state.code)" }
        if let parameters { metadata["parameters"] = "\(parameters)" }
        if let plan {
            // INSERT ... VALUES has none.
            if !plan.text.isEmpty { metadata["plan"] = "\(plan.text)" }
            if !plan.findings.isEmpty { metadata["hint"] = "\(plan.findings.joined(separator: "; "))" }
        }
        return metadata
    }
}

/// The times of the statement being handled. Kept only while statements are measured.
struct StatementTimes {
    var began = Instant(nanoseconds: 0)
    /// It has what it waited for; the beginning, if it never waited.
    var runBegan = Instant(nanoseconds: 0)
    /// The clock when SQLite's run of it was over, which is then not read again at once; 0: no run of SQLite's.
    var ended: Int64 = 0
    /// When its client was first found not to read.
    var unreadSince: Instant?
    var unread: Int64 = 0
    var rows = 0
}
