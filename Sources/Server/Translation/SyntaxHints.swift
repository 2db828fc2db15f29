/// What to write instead of what only PostgreSQL has and SQLite stumbles over.
///
/// By the statement's first word and the word that SQLite's parser names ("near \"FOR\": syntax error"); nothing is parsed here.
enum SyntaxHints {
    static func hint(_ message: String, _ sql: UnsafeRawBufferPointer) -> String? {
        guard let word = word(of: message)?.lowercased() else { return nil }
        switch Verb(sql) {
        // SQLite takes the word for the index's name, and stumbles over the next.
        case .create where contains("index", "concurrently", sql): return "Leave CONCURRENTLY out: readers go on while an index is made."
        case .create: return ofCreate[word] ?? ofName(word)
        case .explain where contains("explain", "analyze", sql):
            return "EXPLAIN QUERY PLAN shows the plan; log_min_duration_statement logs slow statements with theirs."
        case .truncate: return "DELETE FROM the table, without WHERE, empties it."
        case .lock: return "BEGIN IMMEDIATE takes the writer: nobody else writes until COMMIT."
        case .grant, .revoke: return users
        default: break
        }
        switch word {
        // Behind a table FOR is its alias.
        case "for", "update", "share", "no", "key":
            guard Self.locks.contains(where: { contains("for", $0, sql) }) else { return nil }
            return "BEGIN IMMEDIATE takes the writer: nobody else writes what was read until COMMIT."
        case "ilike": return "LIKE ignores the case of ASCII letters."
        case "from" where contains("extract", sql):
            return "date_part('year', x) and strftime('%Y', x) give a part of a date."
        default:
            if contains("interval", sql) { return interval }
            return ofName(word)
        }
    }

    /// SQLAlchemy, and so pandas, quotes the names that PostgreSQL reserves, and these are none of them. SQLite lets the
    /// others of its words be names (https://www.sqlite.org/lang_keywords.html).
    private static func ofName(_ word: String) -> String? {
        // Those that a mistake of another kind is often near are left out: SET, EXISTS, IF and the like.
        let isOfSQLiteAlone = ["add", "escape", "index", "nothing", "transaction", "values"].contains(word)
        return isOfSQLiteAlone ? "If \(word) is a name here, it takes double quotes: the word is one of SQLite's own." : nil
    }

    /// Also where SQLite takes the word for a column.
    static let interval = "SQLite calculates with dates by functions: datetime(x, '-1 day'), julianday(x) - julianday(y)."

    /// Django, and those who insert many rows by asyncpg or pgx, give it an array for each column.
    static let unnest =
        "unnest() is a table here, of one array or several side by side: SELECT x.a, x.b FROM unnest($1::int8[], $2::text[]) AS x(a, b). "
        + "A select list may have calls of it and nothing else, without a FROM."

    /// Beside it in a text SQLite may stumble over something else first, as over the `::` in `UNNEST(($1)::bigint[])`.
    static func callsUnnest(_ sql: UnsafeRawBufferPointer) -> Bool {
        var lexer = SQLLexer(sql)
        var isBehind = false
        while let token = lexer.next() {
            if isBehind, token.kind == .leftParenthesis { return true }
            isBehind = token.matches("unnest")
        }
        return false
    }

    /// FOR UPDATE, FOR SHARE, FOR NO KEY UPDATE, FOR KEY SHARE.
    private static let locks: [StaticString] = ["update", "share", "no", "key"]

    private static let users = "Users are those of this machine; [[access]] tables of walpoold's configuration say what they may do."

    private static let ofCreate = [
        "extension": "There are no extensions. fts5 and rtree are there as CREATE VIRTUAL TABLE ... USING.",
        "schema": "There is one schema, main: write the table's name alone.",
        "sequence": "There are no sequences: INTEGER PRIMARY KEY numbers the rows, and RETURNING gives the number.",
        "user": users, "role": users,
        "database": "A walpoold serves one file: another database is another walpoold's.",
        "materialized": "CREATE TABLE ... AS keeps the rows of a query, CREATE VIEW the query.",
    ]

    /// What stands behind `near`, without its quotes.
    private static func word(of message: String) -> Substring? {
        let (start, end) = ("near \"", "\": syntax error")
        guard message.hasPrefix(start), message.hasSuffix(end), message.utf8.count >= start.utf8.count + end.utf8.count else { return nil }
        return message.dropFirst(start.count).dropLast(end.count)
    }

    /// The one right behind the other.
    private static func contains(_ first: StaticString, _ second: StaticString, _ sql: UnsafeRawBufferPointer) -> Bool {
        var lexer = SQLLexer(sql)
        var isBehind = false
        while let token = lexer.next() {
            if isBehind, token.matches(second) { return true }
            isBehind = token.matches(first)
        }
        return false
    }

    private static func contains(_ keyword: StaticString, _ sql: UnsafeRawBufferPointer) -> Bool {
        var lexer = SQLLexer(sql)
        while let token = lexer.next() { if token.matches(keyword) { return true } }
        return false
    }
}
