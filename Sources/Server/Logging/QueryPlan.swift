import Pool
import SQLite

/// What EXPLAIN QUERY PLAN says of a statement, and what of it is worth a remark.
/// https://www.sqlite.org/eqp.html
struct QueryPlan {
    /// Its lines in order, as SQLite words them: "The data … format … is subject to change from one release of SQLite to
    /// the next", so they are shown as they are.
    var text: String
    var findings: [String]

    init(lines: [String], sql: String) {
        text = lines.joined(separator: "; ")
        findings = PlanFindings(lines, sql: sql).sentences
    }

    /// Prepares the statement once more, as a client's: the authorizer is asked as for any. Nothing of it is run, so no
    /// parameter is needed.
    init?(of sql: String, on reader: Reader) {
        let explanation = "EXPLAIN QUERY PLAN " + sql
        // A statement may be slow because its plan takes long to find.
        let patience = BriefPatience(milliseconds: LogLimits.planMilliseconds)
        reader.beginRun(patience)
        defer { withExtendedLifetime(patience) { reader.endRun() } }
        reader.connection.callbacks.denial = nil
        defer { reader.connection.callbacks.denial = nil }
        let prepared = try? explanation.withBytes { bytes throws(SQLiteError) in try reader.connection.prepare(bytes).statement }
        guard let statement = prepared ?? nil, statement.explain == 2 else { return nil }
        var lines: [String] = []
        var bytes = 0
        while (try? statement.step()) == .row {
            let line = String(decoding: statement.text(Self.detailColumn), as: UTF8.self)
            bytes += line.utf8.count
            guard lines.count < LogLimits.planLines, bytes <= LogLimits.planBytes else {
                lines.append("…")
                break
            }
            lines.append(line)
        }
        self.init(lines: lines, sql: sql)
    }

    /// After id, parent and one that is not used.
    private static let detailColumn = 3
}
