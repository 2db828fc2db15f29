import CSQLite

/// What SQLite's check of a whole database has found.
///
/// Damage is one thing: pages, records, indexes that are not what they should be. Rows that break a rule of the schema are another:
/// `PRAGMA ignore_check_constraints` or a definition that was changed afterwards leave such rows in a file that is whole.
public struct IntegrityCheck: Sendable {
    /// The first finding that means damage.
    public private(set) var damage: String?
    /// The first row that breaks a rule, or why not everything could be checked.
    public private(set) var violation: String?

    /// Whether indexes are compared with their tables, too.
    public enum Depth: Sendable { case quick, full }

    /// Findings looked at: of so many violations the rest, and damage behind them, stays unseen.
    private static let findings = 100_000

    init(_ connection: Connection, _ depth: Depth) throws(SQLiteError) {
        do throws(SQLiteError) {
            let check = try connection.prepareInternal(
                "PRAGMA \(depth == .quick ? "quick_check" : "integrity_check")(\(Self.findings))")
            while damage == nil, try check.step() == .row { take(String(decoding: check.text(0), as: UTF8.self)) }
        } catch {
            // "no such collation sequence", "unknown function": an application's own, which its schema names.
            guard error.code == SQLITE_ERROR else { throw error }
            violation = "not everything could be checked: \(error.message)"
        }
    }

    private mutating func take(_ finding: String) {
        if finding == "ok" { return }
        if Self.isViolation(finding) { violation = violation ?? finding } else { damage = finding }
    }

    /// The words of `sqlite3Pragma` for a row that can be read: "CHECK constraint failed in t", "NULL value in t.c", "non-INTEGER
    /// value in t.c" (https://www.sqlite.org/src/file/src/pragma.c).
    private static func isViolation(_ finding: String) -> Bool {
        if finding.hasPrefix("CHECK constraint failed in ") { return true }
        let kinds = ["NULL", "NUMERIC", "TEXT", "non-ANY", "non-BLOB", "non-INT", "non-INTEGER", "non-REAL", "non-TEXT"]
        return kinds.contains { finding.hasPrefix($0 + " value in ") }
    }
}

extension Connection {
    /// - Throws: what kept the check from being made, as SQLITE_INTERRUPT.
    public func checkIntegrity(_ depth: IntegrityCheck.Depth) throws(SQLiteError) -> IntegrityCheck {
        try IntegrityCheck(self, depth)
    }
}
