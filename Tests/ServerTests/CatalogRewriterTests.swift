import TestSupport
import Testing

@testable import Server

/// What becomes of PostgreSQL's syntax in a catalog statement.
@Suite struct CatalogRewriterTests {
    private static func rewrite(_ sql: String) throws(CatalogSyntaxError) -> CatalogRewriter.Result {
        let bytes = Array(sql.utf8)
        let result: Result<CatalogRewriter.Result, CatalogSyntaxError> = bytes.withUnsafeBytes { bytes in
            do throws(CatalogSyntaxError) { return .success(try CatalogRewriter.rewrite(bytes)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    /// Each wraps the one before it. Deep trees are taken apart by recursion: 8,000 of these ended the daemon.
    @Test(arguments: ["SELECT 1\(String(repeating: "::int", count: 8_000))", "SELECT a\(String(repeating: "[1]", count: 66_000))"])
    func castsNestToALimit(_ sql: String) {
        let error = #expect(throws: CatalogSyntaxError.self) { try Self.rewrite(sql + " FROM pg_class") }
        #expect(error?.message == "the statement is nested too deeply")
    }

    /// To ask for the type of what is in it twice would double the time with each.
    @Test func arraysAndCallsNest() throws {
        for (open, close) in [("array[", "]"), ("coalesce(", ", 1)"), ("json_build_object('a', ", ")"), ("(CASE WHEN a THEN ", " END)")] {
            let sql = "SELECT \(String(repeating: open, count: 60))b\(String(repeating: close, count: 60)) FROM pg_class WHERE b = $1"
            #expect(try Self.rewrite(sql).columnTypes.count == 1)
        }
    }

    @Test func anyNumberOfCastsStandSideBySide() throws {
        let sql = "SELECT " + Array(repeating: "a::int::text[1]", count: 500).joined(separator: ", ")
        #expect(throws: Never.self) { try Self.rewrite(sql) }
    }

    /// White space says nothing.
    private static func plain(_ sql: String) -> String { sql.filter { $0 != " " && $0 != "\n" } }

    static let texts: [(String, String)] = [
        ("SELECT pg_catalog.pg_class.relname FROM pg_catalog.pg_class", "select pg_class.relname from pg_class"),
        ("SELECT * FROM information_schema.tables", "select * from \"information_schema.tables\" as \"tables\""),
        (
            "SELECT columns.*, information_schema.columns.x FROM \"information_schema\".\"columns\" JOIN information_schema.tables AS t ON true"
                + " JOIN information_schema.views v ON true WHERE EXISTS (SELECT 1 FROM information_schema.views)",
            "select columns.*, \"columns\".x from \"information_schema.columns\" as \"columns\" join \"information_schema.tables\" as t on true"
                + " join \"information_schema.views\" v on true where exists (select 1 from \"information_schema.views\" as \"views\")"
        ),
        (
            "SELECT a FROM t WHERE a OPERATOR(pg_catalog.~) '^(x)$' COLLATE pg_catalog.default",
            "select a from t where a regexp '^(x)$'"
        ),
        (
            "SELECT DISTINCT t.oid, x, t.*, f(t.a) FROM e JOIN t ON t.oid = k ORDER BY oid",
            "select distinct t.oid as \"oid\", x, t.*, f(t.a) from e join t on t.oid = k order by oid"
        ),
        ("SELECT a.x FROM a UNION SELECT b.y FROM b ORDER BY x", "select a.x as \"x\" from a union select b.y as \"y\" from b order by x"),
        ("SELECT t.oid, sum(x) OVER (ORDER BY y) FROM t", "select t.oid, sum(x) over (order by y) from t"),
        ("SELECT a !~ '^pg_' FROM t", "select a not regexp '^pg_' from t"),
        ("SELECT a ~* 'x', b ILIKE 'y%'", "select a regexp '(?i)' || 'x', b regexp '(?l)' || 'y%'"),
        ("SELECT a::pg_catalog.text", "select cast(a as text)"),
        ("SELECT f(a.b, 1)::text::oid", "select pg_oid(cast(f(a.b, 1) as text))"),
        ("SELECT 'pg_class'::regclass", "select pg_regclass_name('pg_class') as \"regclass\""),
        ("SELECT c.oid::regclass", "select pg_regclass_name(c.oid) as \"oid\""),
        ("SELECT 1 WHERE c.oid = f(x)::regclass", "select 1 where c.oid = pg_regclass_of(f(x))"),
        ("SELECT 1 WHERE i.indrelid::regclass = $1", "select 1 where pg_regclass_of(i.indrelid) = pg_regclass_oid(?1)"),
        (
            "SELECT 1 WHERE indisprimary = 't' AND 'f' <> x.indisunique",
            "select 1 where indisprimary = pg_bool('t') and pg_bool('f') <> x.indisunique"
        ),
        ("SELECT 1 WHERE x IN (SELECT a::regclass FROM t)", "select 1 where x in (select pg_regclass_of(a) from t)"),
        ("SELECT relname AS default, s.table, x AS y", "select relname as \"default\", s.\"table\", x as y"),
        ("SELECT a SIMILAR TO 'x.%_|y'", "select a regexp '^(x\\..*.|y)$'"),
        ("SELECT EXISTS (SELECT FROM t)", "select exists (select 1 from t)"),
        ("SELECT c.tableoid FROM pg_class c", "select \(CatalogTableOIDs.oid(of: "pg_class")!) from pg_class c"),
        ("SELECT 'book'::regclass::text", "select pg_regclass_name('book')"),
        ("SELECT CAST(CAST($2 AS REGCLASS) AS OID)", "select pg_oid(pg_regclass_oid(?2))"),
        ("SELECT x::character varying(10), y::\"char\"", "select cast(x as text), cast(y as text)"),
        (
            "SELECT 1 WHERE a = ANY (ARRAY['r', 'p'])",
            "select 1 where a in (select value from json_each(pg_array(json_array('r', 'p'))))"
        ),
        ("SELECT 1 WHERE a = ANY(SELECT b FROM t)", "select 1 where a in (select b from t)"),
        (
            "SELECT 1 WHERE a <> ALL ('{1,2}'::int2[])",
            "select 1 where a not in (select value from json_each(pg_array(pg_array('{1,2}'))))"
        ),
        ("SELECT conkey[1], E'a\\nb'", "select pg_element(conkey, 1), 'a\nb'"),
        (
            "SELECT unnest(k) AS n, generate_subscripts(k, 1) AS o FROM t WHERE x",
            "select (pg_nth(pg_array(k), srf1_.key)) as n, (srf1_.key + pg_lower_bound(k)) as o from t, "
                + "json_each(pg_array(k)) as srf1_ where x"
        ),
        (
            "SELECT s FROM pg_catalog.generate_series(0, 2) s",
            "select s from (select value as \"s\" from json_each(pg_series(0, 2))) as \"s\""
        ),
        (
            "SELECT k FROM generate_subscripts(i, 1) AS k",
            "select k from (select key + pg_lower_bound(i) as \"k\" from json_each(pg_array(i))) as \"k\""
        ),
        (
            "SELECT a AS x FROM (VALUES ('a', 1)) s(a, b)",
            "select a as x from (with s(a, b) as (values('a', 1)) select * from s) as s"
        ),
        (
            "SELECT 1 FROM a JOIN b ON b.x = (SELECT 1) AND (b.y = 0)",
            "select 1 from a join b on b.x = (select 1) and (b.y = 0)"
        ),
        (
            "SELECT 1 FROM f(x) WITH ORDINALITY AS a(b, c)",
            "select 1 from (select value as \"b\", key + 1 as \"c\" from json_each(f(x))) as \"a\""
        ),
        (
            "SELECT 1 FROM unnest(x, y) WITH ORDINALITY AS a(b, c, d)",
            "select 1 from (select value as \"b\", pg_nth(y, key) as \"c\", key + 1 as \"d\" from json_each(pg_array(x))) as \"a\""
        ),
        // A neighbour's columns are no business of a subquery's.
        (
            "SELECT *, key, option & 1 AS o FROM pg_index i, unnest(i.indkey, i.indoption) WITH ORDINALITY k(key, option, n) WHERE k.n > (i.a)",
            "select \"i\".*, (\"k\".value) as \"key\", (pg_nth(i.indoption, \"k\".key)) as \"option\", (\"k\".key + 1) as \"n\", "
                + "(\"k\".value) as \"key\", (pg_nth(i.indoption, \"k\".key)) & 1 as o "
                + "from pg_index i, json_each(pg_array(i.indkey)) as \"k\" where (\"k\".key + 1) > (i.a)"
        ),
        (
            "SELECT c.x, a.y FROM t AS c JOIN LATERAL unnest(c.conkey) AS k ON true JOIN a ON a.n = k WHERE (SELECT k FROM b WHERE b.k = k.k)",
            "select c.x, a.y from t as c join json_each(pg_array(c.conkey)) as \"k\" on true join a on a.n = (\"k\".value) "
                + "where (select k from b where b.k = (\"k\".value))"
        ),
        ("SELECT array_agg(x ORDER BY y)", "select array_agg(x, pg_sort_key('a', y))"),
        ("SELECT string_agg(x, ',' ORDER BY y DESC, z NULLS FIRST)", "select string_agg(x, ',', pg_sort_key('DA', y, z))"),
        ("SELECT a IS NOT DISTINCT FROM b FROM t", "select a is not distinct from b from t"),
        ("(SELECT 1) UNION (SELECT 2)", "select * from (select 1) union select * from (select 2)"),
        ("SELECT current_user, a AS current_role", "select current_user(), a as current_role"),
        ("SELECT substring('abc' FROM 2 FOR 1), position('a' in b)", "select substr('abc', 2, 1), instr(b, 'a')"),
        ("SELECT array(SELECT a FROM t)", "select (with array_(v) as (select a from t) select json_group_array(v) from array_)"),
        ("SELECT 1 -- a /* comment */ of ours\n;", "select 1"),
    ]

    @Test(arguments: texts)
    func text(_ sql: String, _ expected: String) throws {
        let made = try Self.rewrite(sql).sql
        #expect(Self.plain(made) == Self.plain(expected))
    }

    static let refused = [
        "SELECT 1 FROM a, LATERAL (SELECT 1) b", "SELECT a @@ b", "SELECT a::tsvector", "SELECT (1", "SELECT 1)",
        "SELECT 1 FROM a, " + (0..<9).map { "unnest(a.x) k\($0)" }.joined(separator: ", "),
        "SELECT 1 FROM a, unnest(a.x, \(String(repeating: "a.", count: 200))b) k(m, n)",
        "SELECT " + String(repeating: "*,", count: 2_000) + "* FROM a, unnest(a.x) k",
        // Names in names: each query around it would make it five times as long.
        (0..<20).reduce("SELECT k.b") { query, _ in "SELECT k.b FROM a, unnest(a.x, k.b || k.b || k.b || k.b) k(a, b) WHERE (\(query)) = 1"
        },
        "SELECT a > ANY (b)", "SELECT a[1:2]", "SELECT substring(a FROM '^p')", "SELECT array_agg(a ORDER BY)", "SELECT a::regclass[]",
        "SELECT tableoid FROM a", "SELECT 'unfinished",
        String(repeating: "(", count: 100) + String(repeating: ")", count: 100),
    ]

    @Test(arguments: refused)
    func refusal(_ sql: String) {
        #expect(throws: CatalogSyntaxError.self) { try Self.rewrite(sql) }
    }

    static let types: [(String, [String?])] = [
        ("SELECT c.relname, c.oid, a.attnotnull FROM t", ["name", "oid", "bool"]),
        ("SELECT true, NOT a, a = b, a IS NULL, 'x', 1, count(*)", ["bool", "bool", "bool", "bool", "text", "int4", "int8"]),
        ("SELECT CASE WHEN a = 1 THEN 'x' ELSE NULL END, a || 'b'", ["text", "text"]),
        ("SELECT x.n FROM (SELECT array_agg(i.indisunique) AS n FROM i) AS x", ["bool[]"]),
        ("SELECT min(indnkeyatts), coalesce(relname, 'x') AS y, oid::regtype::text AS z", ["int2", "name", "text"]),
        ("SELECT 1, 1e3, 3000000000, 0.5, 99999999999999999999", ["int4", "float8", "int8", "float8", "float8"]),
        ("SELECT CASE WHEN a THEN attnum WHEN b THEN NULL ELSE 2.5 END, CASE WHEN a THEN CASE WHEN b THEN oid END END", ["float8", "oid"]),
        ("SELECT greatest(1, attnum), coalesce(NULL, attnum, 1), coalesce(relname, 1), least(oid, 1)", ["int4", "int4", "name", "oid"]),
        ("SELECT (SELECT relkind FROM pg_class), array(SELECT rolname FROM pg_roles) AS r", ["char", "name[]"]),
    ]

    @Test(arguments: types)
    func type(_ sql: String, _ expected: [String?]) throws {
        #expect(try Self.rewrite(sql).columnTypes == expected)
    }

    @Test func parameters() throws {
        let result = try Self.rewrite("SELECT $2::varchar || $1 WHERE a = ANY($3::oid[])")
        #expect(result.parameterCount == 3)
        #expect(result.parameterTypes == [2: "varchar", 3: "oid[]"])
    }

    static let parametersBeside: [(String, [Int: String])] = [
        (
            "SELECT 1 WHERE oid = $1 AND $2 < c.relnatts AND relname <> $3 AND relkind IN ($4, 'r')",
            [1: "oid", 2: "int2", 3: "name", 4: "char"]
        ),
        (
            "SELECT 1 WHERE relkind = ANY ($1) AND table_name <> ALL ($2) AND $3 = ANY (conkey) LIMIT $4 OFFSET $5",
            [1: "char[]", 2: "text[]", 3: "int2", 4: "int8", 5: "int8"]
        ),
        (
            "SELECT 1 WHERE oid = $1::text AND relkind <> $2::CHAR AND relkind = $3::\"char\" AND indisprimary = $4 AND attnum NOT IN ($5)",
            [1: "text", 2: "bpchar", 3: "char", 4: "bool", 5: "int2"]
        ),
        ("SELECT $1 = $2, f($3), table_schema = $4, $5 = ANY ($6)", [6: "text[]"]),
    ]

    /// A parameter that is cast to nothing is of the type that it is compared with.
    @Test(arguments: parametersBeside)
    func parameterBeside(_ sql: String, _ expected: [Int: String]) throws {
        #expect(try Self.rewrite(sql).parameterTypes == expected)
    }

    @Test func recognition() {
        func isCatalog(_ sql: String) -> Bool {
            Array(sql.utf8).withUnsafeBytes { CatalogStatement.parse($0) != nil }
        }
        #expect(isCatalog("SELECT typname FROM pg_type"))
        #expect(isCatalog("SELECT pg_catalog.version()"))
        #expect(isCatalog("SELECT 'book'::regclass::oid"))
        #expect(isCatalog("SELECT * FROM \"information_schema\".tables"))
        #expect(isCatalog("WITH x AS (SELECT 1) SELECT * FROM x, pg_class"))
        #expect(!isCatalog("SELECT pg_sleep(1)"))
        #expect(!isCatalog("SELECT format_type FROM things"))
        #expect(!isCatalog("SELECT 'pg_catalog.pg_class' FROM t"))
        #expect(!isCatalog("SELECT t.pg_class FROM t"))
    }

    /// A code of a byte that was read as letters would look for another name, and find nothing.
    @Test(arguments: ["\\x77", "\\167", "\\u0077", "\\U00000077", "\\0", "\\b", "\\f"])
    func escapesThatAreNotRead(_ escape: String) {
        #expect(throws: CatalogSyntaxError.self) { try Self.rewrite("SELECT E'a\(escape)b' FROM pg_class") }
    }

    @Test func escapesThatStandForThemselves() throws {
        #expect(try Self.rewrite(#"SELECT E'\%\'\\\n' FROM pg_class"#).sql.contains("'%''\\\n'"))
    }

    /// Whatever comes in, an answer comes out.
    @Test func anyWords() {
        var generator = SeededGenerator(state: 11)
        let pieces = Self.texts.map(\.0).flatMap { $0.split(separator: " ") }
        for _ in 0..<3_000 {
            let sql = (0..<Int.random(in: 1...12, using: &generator)).map { _ in String(pieces.randomElement(using: &generator)!) }
                .joined(separator: Bool.random(using: &generator) ? " " : "")
            _ = try? Self.rewrite(sql)
        }
    }
}

@Suite struct SentinelInsertTests {
    private func rewritten(_ sql: String) -> String? {
        Array(sql.utf8).withUnsafeBytes { SentinelInsert.rewritten($0) }.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func rows() {
        let sql =
            "INSERT INTO t (a, b) SELECT p0::BIGINT, p1::VARCHAR FROM (VALUES ($1::BIGINT, $2, 0), ($3, $4, 1))"
            + " AS imp_sen(p0, p1, sen_counter) ORDER BY sen_counter RETURNING t.id, t.id AS id__1"
        #expect(
            rewritten(sql) == "INSERT INTO t (a, b) SELECT column1, column2 FROM (VALUES ($1::BIGINT, $2, 0), ($3, $4, 1)) "
                + "ORDER BY column3 RETURNING t.id, t.id AS id__1")
    }

    @Test func others() {
        #expect(rewritten("INSERT INTO imp_sen SELECT 1") == nil)
        #expect(rewritten("INSERT INTO t SELECT p0 FROM x AS imp_sen") == nil)
        #expect(rewritten("INSERT INTO t SELECT f(p0) FROM (VALUES (1)) AS imp_sen(p0) ORDER BY p0") == nil)
    }
}

@Suite struct CatalogPartsTests {
    @Test func objectIDs() {
        // Kept by clients, so a change is a change of the protocol.
        #expect(CatalogOID.hash("book") == 1_100_286_520 && CatalogOID.hash("BOOK") == 1_100_286_520)
        let all = CatalogOID.assign((0..<100_000).map { ExactName("table \($0)") })
        #expect(Set(all.values).count == 100_000)
    }

    static let declared: [(String, String)] = [
        ("INTEGER", "bigint"), ("VARCHAR(100)", "character varying(100)"), ("NUMERIC(8,2)", "numeric(8,2)"), ("", "text"),
        ("DECIMAL", "numeric"), ("TIMESTAMP", "timestamp without time zone"), ("DOUBLE PRECISION", "double precision"),
        ("BOOLEAN", "boolean"), ("FLOATING POINT", "double precision"), ("JSON", "json"), ("NVARCHAR(0)", "character varying"),
        ("TIMESTAMP(3) WITH TIME ZONE", "timestamp with time zone"), ("TIMESTAMPTZ", "timestamp with time zone"), ("DATE", "date"),
        ("DATETIME", "timestamp without time zone"), ("TIME", "time without time zone"), ("TIME(3)", "time without time zone"),
        // What is announced as text for want of PostgreSQL's type.
        ("TIME WITH TIME ZONE", "text"), ("TIMETZ", "text"), ("DATE_TIME", "text"), ("DATEONLY", "text"), ("UUID", "uuid"),
        ("MONEY", "text"),
    ]

    @Test(arguments: declared)
    func declaredType(_ declared: String, _ expected: String) {
        let type = AttributeType(declared)
        #expect(CatalogTypes.formatted(type.oid, modifier: type.modifier) == expected)
    }

    static let arrays: [(String, [String?]?)] = [
        ("{a,\"b c\",NULL,\"null\"}", ["a", "b c", nil, "null"]), ("[\"x\\\"y\",null,3]", ["x\"y", nil, "3"]),
        ("1 2 3", ["1", "2", "3"]), ("{}", []), ("", []), ("{a", nil), ("{{1},{2}}", nil),
        // To JSON a letter behind a backslash is an escape, to PostgreSQL's arrays it is itself.
        (#"["\b\f\n\r\t\/\\\"\u000a\u00E9\ud83d\ude00"]"#, ["\u{8}\u{C}\n\r\t/\\\"\né😀"]), (#"{"\t\n"}"#, ["tn"]),
        (#"["\ud83dx","\ude00","\ud83d\u0041","\u12","\u"]"#, ["\u{FFFD}x", "\u{FFFD}", "\u{FFFD}A", "\u{FFFD}12", "\u{FFFD}"]),
    ]

    @Test(arguments: arrays)
    func array(_ text: String, _ expected: [String?]?) {
        #expect(CatalogArrays.elements(text) == expected)
    }

    /// What is written is what was read.
    @Test func everyCharacterOfAnArray() {
        let all: [String?] = (1...0x100).compactMap { UnicodeScalar($0).map { "x" + String($0) } } + ["😀", nil, ""]
        #expect(CatalogArrays.elements(CatalogArrays.json(all)) == all)
    }

    static let patterns: [(String, String, Bool)] = [
        ("book", "^(book)$", true), ("books", "^(book)$", false), ("Book", "(?i)^book$", true), ("a_b", "(?l)A\\_%", true),
        ("aXb", "(?l)a\\_%", false), ("abcbc", "(?l)%bc", true), ("", "(?l)%", true), ("x", "(?l)", false),
    ]

    @Test(arguments: patterns)
    func pattern(_ text: String, _ pattern: String, _ expected: Bool) throws {
        #expect(try CatalogPattern.matches(text, pattern: pattern) == expected)
    }

    @Test(arguments: ["(a{1,200}){1,200}", "(a)\\1", "(", String(repeating: "a", count: 2_000)])
    func badPattern(_ pattern: String) {
        #expect(throws: CatalogPattern.Failure.self) { try CatalogPattern.matches("a", pattern: pattern) }
    }

    @Test func definition() {
        let table = TableDefinition(
            """
            CREATE TABLE t (a INTEGER CONSTRAINT pk PRIMARY KEY, b TEXT DEFAULT (x(1, 2)) UNIQUE CHECK (b <> ','),
                c INTEGER REFERENCES o (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
                CONSTRAINT both UNIQUE (a, "B c" DESC), FOREIGN KEY (a, b) REFERENCES p (x, y))
            """)
        let found = table.constraints.map { "\($0.kind) \($0.name ?? "-") \($0.columns.joined(separator: ","))" }
        #expect(
            found == [
                "primaryKey pk a", "unique - b", "check - b", "foreignKey - c", "unique both a,B c", "foreignKey - a,b",
            ])
        #expect(table.constraints[2].text == "b <> ','")
        #expect(table.constraints[3].isDeferred && table.constraints[3].isDeferrable)
    }

    /// It is said of the constraint before it, in the same definition.
    @Test(arguments: [
        ("a REFERENCES p DEFERRABLE INITIALLY DEFERRED, b UNIQUE", ["foreignKey a deferrable deferred", "unique b"]),
        ("a REFERENCES p NOT DEFERRABLE INITIALLY IMMEDIATE, b NOT NULL UNIQUE", ["foreignKey a", "unique b"]),
        ("a DEFERRABLE, b UNIQUE", ["unique b"]), ("a UNIQUE, b INITIALLY DEFERRED, c CHECK (c)", ["unique a", "check c"]),
        ("a UNIQUE, b DEFERRABLE", ["unique a"]),
    ])
    func deferral(_ columns: String, _ expected: [String]) {
        let found = TableDefinition("CREATE TABLE t (\(columns))").constraints.map {
            "\($0.kind) \($0.columns.joined(separator: ","))\($0.isDeferrable ? " deferrable" : "")\($0.isDeferred ? " deferred" : "")"
        }
        #expect(found == expected)
    }
}
