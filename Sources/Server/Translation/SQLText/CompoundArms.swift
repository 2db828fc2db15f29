/// `(SELECT …) UNION (SELECT …)`, as PostgreSQL's clients write a compound SELECT, and Django each of its: SQLite takes no parentheses
/// there ("Simple SELECT statements … connected by compound operators", https://www.sqlite.org/lang_select.html#compound).
///
/// Around a plain SELECT they are left out. What has an ORDER BY or LIMIT of its own, or is a compound SELECT itself, becomes a subquery:
/// `SELECT * FROM (SELECT …)`.
enum CompoundArms {
    /// nil: nothing stands in such parentheses, as in nearly all statements.
    static func rewritten(_ sql: UnsafeRawBufferPointer) -> [UInt8]? {
        guard mayHaveSome(sql) else { return nil }
        let table = TokenTable(sql)
        var result = Array(sql)
        var wholes: [Int] = []
        // Of groups that begin a compound SELECT each may begin with another such.
        for index in table.tokens.indices where table.tokens[index].kind == .leftParenthesis && isArm(index, table) {
            guard let close = table.otherParenthesis(index) else { continue }
            guard isPlain(index + 1..<close, table) else {
                wholes.append(table.tokens[index].start)
                continue
            }
            (result[table.tokens[index].start], result[table.tokens[close].start]) = (UInt8(ascii: " "), UInt8(ascii: " "))
        }
        guard !wholes.isEmpty else { return result.elementsEqual(sql) ? nil : result }
        var whole: [UInt8] = []
        var taken = 0
        for start in wholes {
            whole += result[taken..<start]
            whole += " SELECT * FROM ".utf8
            taken = start
        }
        return whole + result[taken...]
    }

    /// One SELECT, without what belongs to a statement as a whole.
    private static func isPlain(_ arm: Range<Int>, _ table: TokenTable) -> Bool {
        guard table.tokens[arm.lowerBound].matches("select") else { return false }
        var index = arm.lowerBound
        while index < arm.upperBound {
            let token = table.tokens[index]
            if isOperator(token) || token.matches("order") || token.matches("limit") { return false }
            index = table.after(index)
        }
        return true
    }

    /// It follows UNION and the like, or stands before it where no expression can.
    private static func isArm(_ index: Int, _ table: TokenTable) -> Bool {
        guard let close = table.otherParenthesis(index), let inner = table[index + 1], beginsQuery(inner) else { return false }
        if let before = table[index - 1] {
            if isOperator(before) || (before.matches("all") && table[index - 2]?.matches("union") == true) { return true }
            // Behind `)` it follows common tables, or an INSERT's columns.
            guard before.kind == .leftParenthesis || before.kind == .rightParenthesis else { return false }
            return table[close + 1].map(isOperator) ?? false
        }
        guard let next = table[close + 1] else { return true }
        return isOperator(next) || next.kind == .semicolon || next.matches("order") || next.matches("limit") || next.matches("offset")
    }

    private static func beginsQuery(_ token: SQLToken) -> Bool {
        token.matches("select") || token.matches("values") || token.matches("with") || token.kind == .leftParenthesis
    }

    private static func isOperator(_ token: SQLToken) -> Bool {
        token.matches("union") || token.matches("intersect") || token.matches("except")
    }

    /// Told from the bytes: it begins with a parenthesis, or one stands behind another, or behind a word that ends as those do that
    /// connect them.
    private static func mayHaveSome(_ sql: UnsafeRawBufferPointer) -> Bool {
        var start = 0
        while let open = PostgresSpelling.next("(", in: sql, start) {
            var end = open
            while end > 0, isSpace(sql[end - 1]) { end -= 1 }
            guard end > 1 else { return true }
            switch (lowerASCII(sql[end - 2]), lowerASCII(sql[end - 1])) {
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
