import Glibc

/// What the first words of a statement say: its verb, the verb that does the work, and PostgreSQL's command tag
/// (https://www.postgresql.org/docs/current/protocol-message-formats.html, CommandComplete).
struct StatementHead: Sendable {
    /// The first keyword.
    let verb: Verb
    /// The same, except for WITH: the verb of the statement that follows the common table expressions.
    let main: Verb
    /// Without the counts: INSERT is completed with `0 n`, UPDATE, DELETE and SELECT with `n`.
    let tag: StaticString

    init(_ statement: UnsafeRawBufferPointer) {
        var lexer = SQLLexer(statement)
        guard var first = lexer.next() else {
            (verb, main, tag) = (.empty, .empty, "")
            return
        }
        // `(SELECT …) UNION (SELECT …)`: see CompoundArms.
        if first.kind == .leftParenthesis, let word = Self.firstWord(&lexer),
            word.matches("select") || word.matches("values") || word.matches("with")
        {
            first = word
        }
        verb = Verb(first)
        main = verb == .with ? Self.verbAfterCommonTables(&lexer) : verb
        tag =
            switch main {
            case .create, .drop, .alter: Self.definitionTag(main, &lexer)
            default: main.tag
            }
    }

    private static func firstWord(_ lexer: inout SQLLexer) -> SQLToken? {
        while let token = lexer.next() { if token.kind != .leftParenthesis { return token } }
        return nil
    }

    /// Skips `[RECURSIVE] name [(columns)] AS [[NOT] MATERIALIZED] (...), ...`. Parentheses are counted, not
    /// parsed: the main verb is the first word outside of them that can start a statement and that stands where
    /// one can, right after the `)` of a common table.
    private static func verbAfterCommonTables(_ lexer: inout SQLLexer) -> Verb {
        var depth = 0
        var afterParenthesis = false
        while let token = lexer.next() {
            switch token.kind {
            case .leftParenthesis where depth == 0 && afterParenthesis: return firstWord(&lexer).map(Verb.init) ?? .other
            case .leftParenthesis: depth += 1
            case .rightParenthesis: depth -= 1
            case .identifier where depth == 0 && afterParenthesis && !token.matches("as"): return Verb(token)
            default: break
            }
            if depth < 0 { break }
            afterParenthesis = token.kind == .rightParenthesis
        }
        return .other
    }

    private static func definitionTag(_ verb: Verb, _ lexer: inout SQLLexer) -> StaticString {
        while let token = lexer.next() {
            if token.matches("table") { return pick(verb, "CREATE TABLE", "DROP TABLE", "ALTER TABLE") }
            if token.matches("index") { return pick(verb, "CREATE INDEX", "DROP INDEX", "ALTER INDEX") }
            if token.matches("view") { return pick(verb, "CREATE VIEW", "DROP VIEW", "ALTER VIEW") }
            if token.matches("trigger") { return pick(verb, "CREATE TRIGGER", "DROP TRIGGER", "ALTER TRIGGER") }
            let modifier =
                token.matches("temp") || token.matches("temporary") || token.matches("unique")
                || token.matches("virtual")
            if !modifier { break }
        }
        return pick(verb, "CREATE", "DROP", "ALTER")
    }

    /// - Parameter tag: of a definition, as it is completed with.
    func creates(_ tag: StaticString) -> Bool {
        main == .create && self.tag.utf8CodeUnitCount == tag.utf8CodeUnitCount
            && memcmp(self.tag.utf8Start, tag.utf8Start, tag.utf8CodeUnitCount) == 0
    }

    private static func pick(
        _ verb: Verb, _ create: StaticString, _ drop: StaticString, _ alter: StaticString
    ) -> StaticString {
        switch verb {
        case .create: create
        case .drop: drop
        default: alter
        }
    }
}

extension Verb {
    /// REPLACE is SQLite's short form of INSERT OR REPLACE and is answered as an INSERT; VALUES as the SELECT it is.
    var tag: StaticString {
        switch self {
        case .select, .values, .table: "SELECT"
        case .insert, .replace: "INSERT"
        case .update: "UPDATE"
        case .delete: "DELETE"
        case .explain: "EXPLAIN"
        case .pragma: "PRAGMA"
        case .create: "CREATE"
        case .alter: "ALTER"
        case .drop: "DROP"
        case .reindex: "REINDEX"
        case .analyze: "ANALYZE"
        case .vacuum: "VACUUM"
        case .attach: "ATTACH"
        case .detach: "DETACH"
        default: sessionTag
        }
    }

    private var sessionTag: StaticString {
        switch self {
        case .begin: "BEGIN"
        case .start: "START TRANSACTION"
        case .commit, .end: "COMMIT"
        case .rollback, .abort: "ROLLBACK"
        case .savepoint: "SAVEPOINT"
        case .release: "RELEASE"
        case .set: "SET"
        case .reset: "RESET"
        case .show: "SHOW"
        case .discard: "DISCARD"
        case .deallocate: "DEALLOCATE"
        case .prepare: "PREPARE"
        case .execute: "EXECUTE"
        case .declare: "DECLARE CURSOR"
        case .fetch: "FETCH"
        case .move: "MOVE"
        case .close: "CLOSE CURSOR"
        case .listen: "LISTEN"
        case .unlisten: "UNLISTEN"
        case .notify: "NOTIFY"
        case .copy: "COPY"
        case .truncate: "TRUNCATE TABLE"
        case .lock: "LOCK TABLE"
        case .checkpoint: "CHECKPOINT"
        case .grant: "GRANT"
        case .revoke: "REVOKE"
        case .comment: "COMMENT"
        default: ""
        }
    }
}
