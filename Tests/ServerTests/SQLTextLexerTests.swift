import Testing

@testable import Server

/// Runs `body` on the bytes of a string.
func onBytes<T>(_ text: String, _ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T {
    var text = text
    return try text.withUTF8 { try body(UnsafeRawBufferPointer($0)) }
}

@Suite struct SQLTextLexerTests {
    @Test(arguments: [
        ("SELECT a", "identifier:SELECT identifier:a"),
        ("'it''s' \"a\"\"b\" `c` [d e]", "string:'it''s' quotedIdentifier:\"a\"\"b\" quotedIdentifier:`c` quotedIdentifier:[d e]"),
        ("x'0aFF' X'' x'0' xy", "blob:x'0aFF' blob:X'' illegal:x'0' identifier:xy"),
        (
            "1 1.5 .5 1e5 1.e-3 0x1F 1_000 1abc 1e",
            "number:1 number:1.5 number:.5 number:1e5 number:1.e-3 number:0x1F number:1_000 illegal:1abc illegal:1e"
        ),
        (
            "$1::int8 $1::varchar(10) ? ?12 :a @b #c $ :",
            "parameter:$1::int8 parameter:$1::varchar(10) parameter:? parameter:?12 parameter::a parameter:@b parameter:#c illegal:$ illegal::"
        ),
        (
            "a||b<=c<>d!=e==f<<g>>h->i->>j",
            "identifier:a operatorOrPunctuation:|| identifier:b operatorOrPunctuation:<= identifier:c operatorOrPunctuation:<> identifier:d operatorOrPunctuation:!= identifier:e operatorOrPunctuation:== identifier:f operatorOrPunctuation:<< identifier:g operatorOrPunctuation:>> identifier:h operatorOrPunctuation:-> identifier:i operatorOrPunctuation:->> identifier:j"
        ),
        ("a -- x\n/* y */b /* z", "identifier:a identifier:b"),
        ("(a,b);", "leftParenthesis:( identifier:a comma:, identifier:b rightParenthesis:) semicolon:;"),
        ("'open", "illegal:'open"), ("[open", "illegal:[open"), ("!", "illegal:!"), ("é1", "identifier:é1"),
        ("1::int", "number:1 illegal:: parameter::int"), ("", ""),
        // What PostgreSQL's drivers write: here one token. Everything else with a space is what it is to SQLite.
        ("$1::numeric(10, 2) $2::t( 1 , 2 )x", "parameter:$1::numeric(10, 2) parameter:$2::t( 1 , 2 ) identifier:x"),
        ("$1::t(a b)", "illegal:$1::t(a identifier:b rightParenthesis:)"), ("$1::t(1, 2", "illegal:$1::t(1, number:2"),
        ("$1::t(1\n", "illegal:$1::t(1"),
        ("$1::t (1, 2)", "parameter:$1::t leftParenthesis:( number:1 comma:, number:2 rightParenthesis:)"),
    ])
    func tokens(sql: String, expected: String) {
        let found = onBytes(sql) { SQLLexer($0).map { "\($0.kind):\($0.text)" }.joined(separator: " ") }
        #expect(found == expected)
    }

    @Test(
        arguments: [
            ("select 1", ["select 1"]), ("  select 1 ; ", ["select 1"]), (";;", []), ("", []), (" -- x", []),
            ("a;b;;c", ["a", "b", "c"]), ("select ';' ; select 2", ["select ';'", "select 2"]),
            ("create trigger t begin select 1; end; select 2", ["create trigger t begin select 1; end", "select 2"]),
            (
                "explain query plan create temp trigger t begin x; y; end;z",
                ["explain query plan create temp trigger t begin x; y; end", "z"]
            ),
            ("create virtual table f using fts4(a; b, (c;)); d", ["create virtual table f using fts4(a; b, (c;))", "d"]),
            ("a); b", ["a)", "b"]),
            ("create table trigger(a); b", ["create table trigger(a)", "b"]), ("a/*;*/;b", ["a", "b"]),
            ("begin; insert into t values(1); end", ["begin", "insert into t values(1)", "end"]),
            (
                "SELECT pg_advisory_unlock_all();\nCLOSE ALL;\nUNLISTEN *;\nRESET ALL;",
                ["SELECT pg_advisory_unlock_all()", "CLOSE ALL", "UNLISTEN *", "RESET ALL"]
            ),
        ] as [(String, [String])])
    func statements(sql: String, expected: [String]) {
        let found = onBytes(sql) { bytes in
            StatementSplitter(bytes).map { String(decoding: bytes[$0], as: UTF8.self) }
        }
        #expect(found == expected)
    }

    @Test(
        arguments: [
            ("select 1", Verb.select, Verb.select, "SELECT"), ("", .empty, .empty, ""),
            ("((select 1) union (select 2))", .select, .select, "SELECT"), ("(begin)", .other, .other, ""),
            ("WITH a AS (select 1), b(x) AS NOT MATERIALIZED (select 2) INSERT INTO t SELECT 1", .with, .insert, "INSERT"),
            ("with recursive c(x) as (values(1)) values (2)", .with, .values, "SELECT"),
            ("with a as (select 1", .with, .other, ""), ("replace into t values (1)", .replace, .replace, "INSERT"),
            ("create temp table t as select 1", .create, .create, "CREATE TABLE"),
            ("create unique index i on t(a)", .create, .create, "CREATE INDEX"),
            ("create virtual table t using fts5(a)", .create, .create, "CREATE TABLE"),
            ("drop view v", .drop, .drop, "DROP VIEW"), ("alter table t add a", .alter, .alter, "ALTER TABLE"),
            ("explain select 1", .explain, .explain, "EXPLAIN"), ("END", .end, .end, "COMMIT"), ("frob", .other, .other, ""),
            ("CREATE TRIGGER t", .create, .create, "CREATE TRIGGER"), ("\"select\" 1", .other, .other, ""),
        ] as [(String, Verb, Verb, String)])
    func head(sql: String, verb: Verb, main: Verb, tag: String) {
        let head = onBytes(sql) { StatementHead($0) }
        #expect(head.verb == verb && head.main == main && "\(head.tag)" == tag)
    }

    @Test(arguments: [
        ("$1", ParameterName.numbered(1, type: nil)), ("$12::int8", .numbered(12, type: 5..<9)), ("?3", .numbered(3, type: nil)),
        ("$1::varchar(10)", .numbered(1, type: 4..<11)), (":x", .named), ("$0", .outOfRange), ("$65536", .outOfRange),
        ("$65535", .numbered(65535, type: nil)), ("$99999999999999999999999", .outOfRange), ("$1::a::b", .malformed),
        ("$1(x)", .malformed), ("$1a", .named), ("$a", .named), ("$1::", .malformed), ("?", .positional), ("@a", .named),
    ])
    func parameterNames(name: String, expected: ParameterName) {
        #expect(onBytes(name) { ParameterName($0) } == expected)
        #expect(ParameterName(nil) == .positional)
    }
}
