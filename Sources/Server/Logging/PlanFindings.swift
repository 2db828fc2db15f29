import SQLite

/// What in a plan is likely to be why a statement is slow, in plain words, and no more than the plan says: whether an index
/// would be used, and whether it is worth its upkeep, it does not know.
struct PlanFindings {
    private(set) var sentences: [String] = []

    /// - Parameter lines: those of EXPLAIN QUERY PLAN, as SQLite 3.36 and later words them.
    init(_ lines: [String], sql: String) {
        let made = Set(lines.compactMap(Self.madeTable))
        for line in lines {
            guard let sentence = Self.sentence(line, made: made, sql: sql), !sentences.contains(sentence) else { continue }
            sentences.append(sentence)
        }
    }

    /// A view or common table expression that is worked out here: going through its rows is no table scan.
    private static func madeTable(_ line: String) -> String? {
        for prefix in ["CO-ROUTINE ", "MATERIALIZE "] where line.hasPrefix(prefix) {
            return String(line.dropFirst(prefix.count))
        }
        return nil
    }

    private static func sentence(_ line: String, made: Set<String>, sql: String) -> String? {
        if let operation = suffix(of: line, after: "USE TEMP B-TREE FOR ") { return "sorts its rows for \(operation)" }
        if let (table, columns) = automaticIndex(line) {
            let place = columns.isEmpty ? name(table, sql) : "\(name(table, sql)) (\(columns.joined(separator: ", ")))"
            return "builds an index on \(place) for this one run: one that stays would spare it that"
        }
        if let table = scannedTable(line), !made.contains(table) {
            return "scans all of \(name(table, sql)) (\(line)): no index was used"
        }
        return nil
    }

    private static func suffix(of line: String, after prefix: String) -> String? {
        line.hasPrefix(prefix) ? String(line.dropFirst(prefix.count)) : nil
    }

    /// `SCAN t`, and nothing about an index behind it. `SCAN (subquery-1)`, `SCAN CONSTANT ROW` and
    /// `SCAN 3 CONSTANT ROWS` are no tables; a virtual table has indexes of its own kind.
    private static func scannedTable(_ line: String) -> String? {
        guard let rest = suffix(of: line, after: "SCAN "), !rest.hasPrefix("("), !rest.contains(" USING "),
            !rest.contains(" VIRTUAL TABLE "), !rest.hasSuffix("CONSTANT ROW"), !rest.hasSuffix("CONSTANT ROWS")
        else { return nil }
        // "SCAN t LEFT-JOIN" has come with later versions.
        for word in [" LEFT-JOIN", " EXISTS"] where rest.hasSuffix(word) { return String(rest.dropLast(word.count)) }
        return rest
    }

    /// `SEARCH t USING AUTOMATIC [PARTIAL] COVERING INDEX (a=? AND b>?)`.
    private static func automaticIndex(_ line: String) -> (table: String, columns: [String])? {
        guard let rest = suffix(of: line, after: "SEARCH "), let using = rest.firstRange(of: " USING AUTOMATIC ")
        else { return nil }
        var columns: [String] = []
        if let open = rest[using.upperBound...].firstIndex(of: "("), let close = rest.lastIndex(of: ")"), open < close {
            var term = ""
            for character in rest[rest.index(after: open)..<close] + " " {
                if character == " " {
                    if let end = term.firstIndex(where: { "=<>".contains($0) }) { columns.append(String(term[..<end])) }
                    term = ""
                } else {
                    term.append(character)
                }
            }
        }
        return (String(rest[..<using.lowerBound]), columns)
    }

    // MARK: Names

    /// A plan calls a table by its alias. Where the statement says `table AS alias`, the table's name goes with it.
    private static func name(_ alias: String, _ sql: String) -> String {
        guard let table = sql.withBytes({ tableName(alias, $0) }), table.lowercased() != alias.lowercased() else { return alias }
        return "\(table) AS \(alias)"
    }

    private static func tableName(_ alias: String, _ sql: UnsafeRawBufferPointer) -> String? {
        let tokens = Array(SQLLexer(sql))
        for index in tokens.indices where tokens[index].isIdentifierLike {
            guard tokens[index].name.lowercased() == alias.lowercased() else { continue }
            var before = index - 1
            if before >= 0, tokens[before].matches("as") { before -= 1 }
            guard before >= 1, tokens[before].isIdentifierLike else { continue }
            var start = before - 1
            // schema.table
            if start >= 1, tokens[start].isSymbol(".") { start -= 2 }
            guard start >= 0 else { continue }
            let opener = tokens[start]
            if opener.kind == .comma || opener.kind == .leftParenthesis || opener.matches("from") || opener.matches("join")
                || opener.matches("update") || opener.matches("into")
            {
                return tokens[before].kind == .identifier ? tokens[before].text : tokens[before].name
            }
        }
        return nil
    }
}
