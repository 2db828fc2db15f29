/// `FOR UPDATE`, `FOR NO KEY UPDATE`, `FOR SHARE` and `FOR KEY SHARE` behind a SELECT, as Django, ActiveRecord and job queues write them
/// (https://www.postgresql.org/docs/current/sql-select.html#SQL-FOR-UPDATE-SHARE).
///
/// "FOR UPDATE causes the rows retrieved by the SELECT statement to be locked as though for update." SQLite knows no such clause, and
/// what an UPDATE would lock is the writer: so the statement takes that, and SQLite gets its text without the clause. Then no row is
/// locked by anybody else, and SKIP LOCKED has none to skip.
struct RowLock {
    /// Where the clauses stand, in their order. They may stand in a subquery.
    private(set) var clauses: [Range<Int>] = []
    /// One of them says NOWAIT.
    private(set) var isImpatient = false

    /// nil: there is none.
    init?(in sql: UnsafeRawBufferPointer) {
        guard Self.mayBeIn(sql) else { return nil }
        var lexer = SQLLexer(sql)
        var (last, beforeLast): (SQLToken?, SQLToken?)
        while let token = lexer.next() {
            if token.matches("for"), Self.isNoName(behind: last, beforeLast), let (end, isImpatient) = Self.clause(lexer) {
                clauses.append(token.start..<end.end)
                self.isImpatient = self.isImpatient || isImpatient
                lexer = lexer.moved(to: end.end)
                last = end
            } else {
                (last, beforeLast) = (token, last)
            }
        }
        if clauses.isEmpty { return nil }
    }

    /// The text without them.
    func removed(from sql: UnsafeRawBufferPointer) -> [UInt8] {
        var (rest, taken): ([UInt8], Int) = ([], 0)
        for clause in clauses {
            rest += sql[taken..<clause.lowerBound]
            taken = clause.upperBound
        }
        return rest + sql[taken...]
    }

    /// Quicker than reading tokens: whether the three letters stand there as a word.
    private static func mayBeIn(_ sql: UnsafeRawBufferPointer) -> Bool {
        for letter: UnicodeScalar in ["f", "F"] {
            var start = 1
            while let found = sql.firstIndex(of: letter, from: start) {
                if found + 3 < sql.count, lowerASCII(sql[found + 1]) == UInt8(ascii: "o"), lowerASCII(sql[found + 2]) == UInt8(ascii: "r"),
                    !isIdentifierByte(sql[found - 1]), !isIdentifierByte(sql[found + 3])
                {
                    return true
                }
                start = found + 1
            }
        }
        return false
    }

    /// Whether a FOR behind it can be no name, which SQLite takes the word for, too: `FROM for share` is a table and its alias.
    private static func isNoName(behind token: SQLToken?, _ before: SQLToken?) -> Bool {
        switch token?.kind {
        case .identifier where token?.matches("all") == true: before?.matches("limit") == true
        case .identifier: !beforeNames.contains { token?.matches($0) == true }
        case .quotedIdentifier, .string, .blob, .number, .parameter, .rightParenthesis: true
        default: false
        }
    }

    private static let beforeNames: [StaticString] = [
        "from", "join", "as", "by", "select", "distinct", "where", "on", "having", "in", "returning", "not", "and", "or", "is", "like",
        "glob", "between", "when", "then", "else", "case", "set",
    ]

    /// What comes behind FOR is read, up to its last token; nil: it is something else, or what follows does not fit, and SQLite says so.
    private static func clause(_ behind: SQLLexer) -> (end: SQLToken, isImpatient: Bool)? {
        var ahead = behind
        var isImpatient = false
        guard var end = strength(&ahead) else { return nil }
        var next = ahead.next()
        if next?.matches("of") == true {
            repeat {
                guard let name = ahead.next(), name.isIdentifierLike else { return nil }
                (end, next) = (name, ahead.next())
            } while next?.kind == .comma || next?.isSymbol(".") == true
        }
        if let word = next, word.matches("nowait") {
            (end, next, isImpatient) = (word, ahead.next(), true)
        } else if next?.matches("skip") == true {
            guard let locked = ahead.next(), locked.matches("locked") else { return nil }
            (end, next) = (locked, ahead.next())
        }
        guard let next else { return (end, isImpatient) }
        let mayFollow = next.kind == .rightParenthesis || next.kind == .semicolon || behindClauses.contains { next.matches($0) }
        return mayFollow ? (end, isImpatient) : nil
    }

    private static let behindClauses: [StaticString] = ["for", "limit", "offset", "returning", "on"]

    /// UPDATE, NO KEY UPDATE, SHARE or KEY SHARE.
    private static func strength(_ ahead: inout SQLLexer) -> SQLToken? {
        let first = ahead.next()
        if first?.matches("no") == true {
            guard ahead.next()?.matches("key") == true, let update = ahead.next(), update.matches("update") else { return nil }
            return update
        }
        if first?.matches("key") == true {
            guard let share = ahead.next(), share.matches("share") else { return nil }
            return share
        }
        guard let first, first.matches("update") || first.matches("share") else { return nil }
        return first
    }
}
