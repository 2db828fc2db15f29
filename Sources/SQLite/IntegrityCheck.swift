import CSQLite

/// What SQLite's check of a whole database has found.
///
/// Damage is one thing: pages, records, indexes that are not what they should be. Rows that break a rule of the schema are another:
/// `PRAGMA ignore_check_constraints` or a definition that was changed afterwards leave such rows in a file that is whole.
public struct IntegrityCheck: Sendable {
    /// The first finding that means damage.
    public private(set) var damage: String?
    /// The first row that breaks a rule.
    public private(set) var violation: String?
    /// The first table that could not be checked, and why: it is not known to be whole.
    public private(set) var unchecked: String?

    /// Whether indexes are compared with their tables, too.
    public enum Depth: Sendable { case quick, full }

    /// Findings looked at: of so many violations the rest, and damage behind them, stays unseen.
    private static let findings = 100_000

    init(_ connection: Connection, _ depth: Depth) throws(SQLiteError) {
        let pragma = depth == .quick ? "quick_check" : "integrity_check"
        guard try !runs("PRAGMA \(pragma)(\(Self.findings))", connection) else { return }
        // Then the tables one by one, so that only what cannot be checked is not.
        (damage, violation) = (nil, nil)
        let tables = try connection.prepareInternal("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0")
        while damage == nil, try tables.step() == .row {
            let name = String(decoding: tables.text(0), as: UTF8.self)
            _ = try runs("PRAGMA \(pragma)(\(SQLQuoting.identifier(name)))", connection, of: name)
        }
    }

    /// False where the schema names a function or a collation of an application's own ("no such collation sequence").
    private mutating func runs(_ pragma: String, _ connection: Connection, of table: String? = nil) throws(SQLiteError) -> Bool {
        do throws(SQLiteError) {
            let check = try connection.prepareInternal(pragma)
            while damage == nil, try check.step() == .row { take(String(decoding: check.text(0), as: UTF8.self)) }
            return true
        } catch {
            guard error.code == SQLITE_ERROR else { throw error }
            if let table { unchecked = unchecked ?? "\(table): \(error.message)" }
            return false
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
