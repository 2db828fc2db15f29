import Testing

@testable import Server

@Suite struct PlanFindingsTests {
    private func findings(_ lines: [String], _ sql: String = "") -> [String] { PlanFindings(lines, sql: sql).sentences }

    @Test func scans() {
        #expect(findings(["SCAN accounts"]) == ["scans all of accounts (SCAN accounts): no index was used"])
        #expect(
            findings(["SCAN a", "SCAN a"], "SELECT * FROM accounts AS a WHERE name = 'x'")
                == ["scans all of accounts AS a (SCAN a): no index was used"])
    }

    @Test(arguments: [
        "SELECT * FROM accounts a", "SELECT * FROM main.accounts AS a", "SELECT 1 FROM b JOIN accounts AS a ON a.x = b.x",
        "SELECT 1 FROM b, accounts a", "UPDATE accounts AS a SET x = 1", "SELECT * FROM (accounts a)",
        "SELECT a.x AS a FROM \"accounts\" AS \"A\"",
    ])
    func aliases(_ sql: String) {
        #expect(findings(["SCAN a"], sql) == ["scans all of accounts AS a (SCAN a): no index was used"])
    }

    @Test(arguments: ["", "SELECT a FROM x", "SELECT 'FROM accounts a'", "SELECT x AS a FROM b"])
    func noAlias(_ sql: String) {
        #expect(findings(["SCAN a"], sql) == ["scans all of a (SCAN a): no index was used"])
    }

    /// What is no table, or has an index, is no table scan.
    @Test(arguments: [
        "SCAN t USING COVERING INDEX i", "SCAN t USING INDEX i", "SCAN json_each VIRTUAL TABLE INDEX 1:", "SCAN CONSTANT ROW",
        "SCAN 2 CONSTANT ROWS", "SCAN (subquery-1)", "SEARCH t USING INTEGER PRIMARY KEY (rowid=?)",
        "SEARCH t USING COVERING INDEX i (a=?)", "MULTI-INDEX OR", "COMPOUND QUERY", "LEFT-MOST SUBQUERY",
        "UNION USING TEMP B-TREE", "LIST SUBQUERY 1", "SETUP", "RECURSIVE STEP", "",
    ])
    func innocent(_ line: String) {
        #expect(findings([line]) == [])
    }

    @Test func whatIsMadeHere() {
        #expect(findings(["CO-ROUTINE c", "SETUP", "SCAN CONSTANT ROW", "RECURSIVE STEP", "SCAN c", "SCAN c"]) == [])
        #expect(
            findings(["MATERIALIZE v", "SCAN accounts", "SCAN v"])
                == ["scans all of accounts (SCAN accounts): no index was used"])
    }

    @Test func sortsAndAutomaticIndexes() {
        #expect(findings(["USE TEMP B-TREE FOR ORDER BY"]) == ["sorts its rows for ORDER BY"])
        #expect(findings(["USE TEMP B-TREE FOR RIGHT PART OF ORDER BY"]) == ["sorts its rows for RIGHT PART OF ORDER BY"])
        #expect(
            findings(["SEARCH b USING AUTOMATIC COVERING INDEX (x=? AND y>?)"], "SELECT 1 FROM a JOIN big b")
                == ["builds an index on big AS b (x, y) for this one run: one that stays would spare it that"])
        #expect(
            findings(["SEARCH b USING AUTOMATIC PARTIAL COVERING INDEX (x=?)"])
                == ["builds an index on b (x) for this one run: one that stays would spare it that"])
    }
}
