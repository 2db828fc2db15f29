import PostgresWire

/// `(SELECT …) UNION (SELECT …)`, as PostgreSQL's clients write a compound SELECT, and Django each of its: SQLite takes no parentheses
/// there ("Simple SELECT statements … connected by compound operators", https://www.sqlite.org/lang_select.html#compound).
///
/// Around a plain SELECT they are left out. What has an ORDER BY or LIMIT of its own, or is a compound SELECT itself, becomes a subquery:
/// `SELECT * FROM (SELECT …)`.
enum CompoundArms {
    /// nil: nothing stands in such parentheses, as in nearly all statements.
    ///
    /// - Throws: `.featureNotSupported` where SQLite would group the arms otherwise than PostgreSQL.
    static func rewritten(_ sql: UnsafeRawBufferPointer) throws(WireError) -> [UInt8]? {
        guard mayHaveSome(sql) else { return nil }
        let table = TokenTable(sql)
        // Of groups that begin a compound SELECT each may begin with another such.
        let arms = table.tokens.indices.filter { table.tokens[$0].kind == .leftParenthesis && isArm($0, table) }
        guard !arms.isEmpty else { return nil }
        try requireOneGrouping(table, sql)
        var result = Array(sql)
        var insertions: [(place: Int, text: StaticString)] = []
        for (open, close) in arms.compactMap({ open in table.otherParenthesis(open).map { (open, $0) } }) {
            // "the parser might not be able to tell if the "ON" keyword is introducing the UPSERT or if it is the ON clause of a join. To
            // work around this, the SELECT statement should always include a WHERE clause" (https://www.sqlite.org/lang_upsert.html).
            let isBeforeUpsert = table[close + 1]?.matches("on") == true
            guard isBeforeUpsert || !isPlain(open + 1..<close, table) else {
                (result[table.tokens[open].start], result[table.tokens[close].start]) = (UInt8(ascii: " "), UInt8(ascii: " "))
                continue
            }
            insertions.append((table.tokens[open].start, " SELECT * FROM "))
            if isBeforeUpsert { insertions.append((table.tokens[close].end, " WHERE true")) }
        }
        guard !insertions.isEmpty else { return result }
        var whole: [UInt8] = []
        var taken = 0
        for (place, text) in insertions.sorted(by: { $0.place < $1.place }) {
            whole += result[taken..<place]
            text.withUTF8Buffer { whole += $0 }
            taken = place
        }
        return whole + result[taken...]
    }

    /// What connects SELECTs on one level of parentheses.
    private struct Level {
        var hasOthers = false
        /// An INTERSECT behind UNION or EXCEPT.
        var intersect: Int?
    }

    /// Whoever writes such parentheses means PostgreSQL, where "INTERSECT binds more tightly than UNION"
    /// (https://www.postgresql.org/docs/current/sql-select.html#SQL-INTERSECT). SQLite's "group from left to right"
    /// (https://www.sqlite.org/lang_select.html#compound).
    private static func requireOneGrouping(_ table: TokenTable, _ sql: UnsafeRawBufferPointer) throws(WireError) {
        var levels = [Level()]
        for (index, token) in table.tokens.enumerated() {
            let last = levels.count - 1
            if token.kind == .leftParenthesis {
                levels.append(Level())
            } else if token.kind == .rightParenthesis, last > 0 {
                try requireOneGrouping(levels.removeLast(), table, sql)
            } else if token.matches("intersect") {
                if levels[last].hasOthers, levels[last].intersect == nil { levels[last].intersect = index }
            } else if token.isCompoundOperator {
                levels[last].hasOthers = true
            }
        }
        for level in levels { try requireOneGrouping(level, table, sql) }
    }

    private static func requireOneGrouping(_ level: Level, _ table: TokenTable, _ sql: UnsafeRawBufferPointer) throws(WireError) {
        guard let index = level.intersect else { return }
        throw WireError(
            state: .featureNotSupported, message: "INTERSECT behind UNION or EXCEPT is not available",
            detail: "SQLite groups SELECTs from left to right, PostgreSQL those around INTERSECT first.",
            hint: "Put the INTERSECT and the SELECTs on both sides of it in parentheses.",
            position: ErrorTranslation.characterPosition(ofByte: table.tokens[index].start, in: sql))
    }

    /// One SELECT, without what belongs to a statement as a whole.
    private static func isPlain(_ arm: Range<Int>, _ table: TokenTable) -> Bool {
        guard table.tokens[arm.lowerBound].matches("select") else { return false }
        var index = arm.lowerBound
        while index < arm.upperBound {
            let token = table.tokens[index]
            if token.isCompoundOperator || token.matches("order") || token.matches("limit") { return false }
            index = table.after(index)
        }
        return true
    }

    /// It follows UNION and the like, or stands before it where no expression can.
    private static func isArm(_ index: Int, _ table: TokenTable) -> Bool {
        guard let close = table.otherParenthesis(index), let inner = table[index + 1], beginsQuery(inner) else { return false }
        if let before = table[index - 1] {
            if before.isCompoundOperator || (before.matches("all") && table[index - 2]?.matches("union") == true) { return true }
            // It follows common tables, or an INSERT's columns; SQLite has no query behind `)`.
            if before.kind == .rightParenthesis { return true }
            if before.isIdentifierLike { return isInserted(index, table) }
            guard before.kind == .leftParenthesis, let next = table[close + 1] else { return false }
            // Not `group_concat((SELECT …) ORDER BY …)`.
            return next.isCompoundOperator || (endsQuery(next) && !table.isCall(index - 1))
        }
        guard let next = table[close + 1] else { return true }
        return next.isCompoundOperator || next.kind == .semicolon || endsQuery(next)
    }

    private static func endsQuery(_ token: SQLToken) -> Bool { token.matches("order") || token.matches("limit") || token.matches("offset") }

    /// `INSERT INTO t (SELECT …)`. A column may be called WITH.
    private static func isInserted(_ index: Int, _ table: TokenTable) -> Bool {
        if table[index + 1]?.matches("with") == true, let next = table[index + 2], next.kind == .comma || next.kind == .rightParenthesis {
            return false
        }
        let first = table[index - 2]?.isSymbol(".") == true ? index - 3 : index - 1
        return table[first - 1]?.matches("into") ?? false
    }

    private static func beginsQuery(_ token: SQLToken) -> Bool {
        token.matches("select") || token.matches("values") || token.matches("with") || token.kind == .leftParenthesis
    }

    private static func isQuery(_ sql: UnsafeRawBufferPointer, _ start: Int) -> Bool {
        let rest = sql[start...].drop(while: isSpace)
        return ["select", "values", "with"].contains { word in rest.prefix(word.utf8.count).lazy.map(lowerASCII).elementsEqual(word.utf8) }
    }

    /// `-- …`, at whose end this is. What stands in a string is taken for one, too.
    private static func endsComment(_ newline: Int, _ sql: UnsafeRawBufferPointer) -> Bool {
        guard sql[newline] == UInt8(ascii: "\n") else { return false }
        var start = newline
        while start > 0, sql[start - 1] != UInt8(ascii: "\n") {
            start -= 1
            if sql[start] == UInt8(ascii: "-"), sql[start + 1] == UInt8(ascii: "-") { return true }
        }
        return false
    }

    /// Told from the bytes: it begins with a parenthesis, or one stands behind another, or behind a word that ends as those do that
    /// connect them; or a query in parentheses behind `)`, or in an INSERT.
    private static func mayHaveSome(_ sql: UnsafeRawBufferPointer) -> Bool {
        var start = 0
        let first = sql.first { !isSpace($0) }.map(lowerASCII)
        let isInsert = first == UInt8(ascii: "i") || first == UInt8(ascii: "r")
        while let open = sql.firstIndex(of: "(", from: start) {
            var end = open
            while end > 0, isSpace(sql[end - 1]) {
                end -= 1
                if endsComment(end, sql) { return true }
            }
            guard end > 1 else { return true }
            if isInsert || sql[end - 1] == UInt8(ascii: ")"), isQuery(sql, open + 1) { return true }
            switch (lowerASCII(sql[end - 2]), lowerASCII(sql[end - 1])) {
            // A comment may hide the word, or the beginning.
            case (UInt8(ascii: "*"), UInt8(ascii: "/")): return true
            case (_, UInt8(ascii: "(")), (_, UInt8(ascii: ")")), (UInt8(ascii: "o"), UInt8(ascii: "n")),
                (UInt8(ascii: "l"), UInt8(ascii: "l")),
                (UInt8(ascii: "c"), UInt8(ascii: "t")), (UInt8(ascii: "p"), UInt8(ascii: "t")):
                return CompoundSelect.mentions(sql)
            default: start = open + 1
            }
        }
        return false
    }
}
