import PostgresWire
import TestSupport
import Testing

@testable import Server

@Suite struct SQLTextTypingTests {
    @Test(
        arguments: [
            ("1, 1.5, 'a', x'00', NULL, -1, 99999999999999999999", [.int8, .float8, .text, .bytea, .unknown, .int8, .float8]),
            ("count(*), COUNT(*) n, count(*) FILTER (WHERE a) OVER (ORDER BY b) AS x, row_number() over w", [.int8, .int8, .int8, .int8]),
            ("sum(x), abs(x), a, a+1, round(x), total(x), julianday('now')", [nil, nil, nil, nil, .float8, .float8, .float8]),
            (
                "CAST(a AS INTEGER), cast(a as varchar(10)) x, CAST(a AS REAL), cast(a as blob), cast(a as numeric)",
                [.int8, .text, .float8, .bytea, nil]
            ),
            (
                "a || b, upper(a), substr(a,1), substr('abc',1), json(a), a -> 'x', a ->> 'x', a->>'x'||'y'",
                [.text, .text, nil, .text, .text, .text, nil, .text]
            ),
            (
                "a = b, NOT a, EXISTS(select 1), a IN (1), a IS NULL, a LIKE 'x', a BETWEEN 1 AND 2, a and b",
                Array(repeating: .bool, count: 8)
            ),
            ("'a' ISNULL, 'a' x, 'a' \"y\", (('a')), (select 1), 'a' COLLATE nocase", [.bool, .text, .text, .text, nil, .text]),
            (
                "a REGEXP b, case when a then 1 end, coalesce(count(a),0), max(a), like, t.like, ~a, a|b, +'x', -a",
                [nil, .int8, .int8, nil, nil, nil, .int8, .int8, .text, nil]
            ),
            (
                "a IN (1,2) * 0.5, a ISNULL || 'x', 1.5 + NOT a, a NOT NULL - 1, a IN t * 2, a NOTNULL -> 'x'",
                Array(repeating: nil, count: 6)
            ),
            ("~NOT a, a IN main.t + 1, a IN main.f(1) & 1, a IN main.t, a IN t.f(1) OR b", [nil, nil, nil, .bool, .bool]),
            ("case when a then b isnull end, case when a then b else c notnull end + 1", [.bool, nil]),
            (
                "a NOTNULL COLLATE nocase % 7, a IN (1) COLLATE nocase COLLATE rtrim + 1, a COLLATE nocase = 1, a NOT NULL COLLATE nocase",
                [nil, nil, .bool, .bool]
            ),
            (
                "CAST(a > 1 AS boolean), CAST((a = b) AS bool) x, CAST(1 AS boolean), NOT CAST(1 AS bool), CAST(a > 1 AS integer)",
                [.bool, .bool, nil, .bool, .int8]
            ),
            ("a IS NOT NULL, a IN (1) OR b, a = NOT b, NOT a, a NOT IN (1, 2), a NOT NULL", Array(repeating: .bool, count: 6)),
            ("a IS DISTINCT FROM b, 2", [.bool, .int8]),
            ("$1, current_timestamp, \"a\", true, 1 x, iif(a, 'b', 'c')", [nil, .timestamptz, nil, .bool, .int8, .text]),
            (
                "now(), NOW ( ) n, current_date AS d, clock_timestamp(), coalesce(now(), 'x'), \"now\"(), current_time, now",
                [.timestamptz, .timestamptz, .date, .timestamptz, .text, nil, .text, nil]
            ),
            (
                "+(a = b), -(a = b), ~(a = b), coalesce(a = b, false), coalesce(a = b, 2), max(a > b), sum(a > b), (a = b) & 1, (a = b) + 1",
                [.bool, nil, .int8, .bool, .int8, .bool, nil, .int8, nil]
            ),
            (
                "case when a then true else b > 1 end, case a when 1 then 'x' else 'y' end z, case a when 1 then 'x' else b end, case when a then 1 else 0 end - 1",
                [.bool, .text, nil, nil]
            ),
            (
                "case when case a when 1 then 2 end then case when b then 'x' end else null end, case end when end then 1 end = 1, case when a then end end",
                [.text, .bool, .perhapsBool]
            ),
            (
                "coalesce(a, false), case when a then b else c > 1 end, iif(a, t.b, null), coalesce(a, b), ifnull(f(a), true)",
                Array(repeating: .perhapsBool, count: 5)
            ),
            (
                "coalesce(a, 0), coalesce(a, b, 'x'), max(a, false), coalesce(a, false) + 1, case when a then b + 1 else true end, a",
                Array(repeating: nil, count: 6)
            ),
            ("'x' = case a when 1 then 'y' end, case when a then 1, 2", [.bool, nil, .int8]),
            ("*", [nil]), ("*, 'a'", [nil, nil, .text]), ("1, t.*, a = b", [.int8, nil, nil, .bool]),
            ("1, *, 2, u.*, 3", [.int8, nil, nil, nil, .int8]), ("1, *, 2", nil), ("1 UNION SELECT 2", nil),
            ("DISTINCT 1, 2", [.int8, .int8]), ("2 * 3", [nil]),
        ] as [(String, [StaticType?]?)])
    func selectList(list: String, expected: [StaticType?]?) {
        for suffix in ["", " FROM t WHERE a = 1", ";"] {
            for prefix in ["SELECT ", "WITH c(a) AS (select 1) select "] {
                let found = onBytes(prefix + list + suffix) { SelectListTypes.infer($0, columnCount: expected?.count ?? 2) }
                #expect(found == expected, "\(prefix)\(list)\(suffix)")
            }
        }
    }

    @Test(arguments: [
        "INSERT INTO t (a, b) VALUES (1, 2) ", "insert into t select 1 union select 2 ", "REPLACE INTO t VALUES (1) ",
        "UPDATE t SET a = 1 FROM u WHERE a = b ",
        "with c(a) as (select 1), replace as (select 2) delete from t where a in (select a from c) ",
    ])
    func returning(statement: String) {
        let found = onBytes(statement + "RETURNING a, *, b > 1 AS more, 'x'") { SelectListTypes.infer($0, columnCount: 5) }
        #expect(found == [nil, nil, nil, .bool, .text])
        #expect(onBytes(statement) { SelectListTypes.infer($0, columnCount: 1) } == nil)
    }

    @Test(arguments: [
        ("select * from t where count(*) > $1", "number"), ("select 1 having count(*) > ($1)", "number"),
        ("select sum(n) = $1, max(n) = $2, n*1=$3, n+0 = $4", "number column?max number number"),
        ("select * from t where id = $1 and \"Name\" <> $2", "column:id column:\"Name\""),
        ("select * from t where t.id = $1", "column:t.id"), ("where $1 = a.b or upper(x) = $2", "column:a.b text"),
        ("select * from t where upper(x) = $1 || 'a'", "text"), ("select substr(a,1,2) = $1, substr(a,$2,$3)", "text number number"),
        ("update t set a = a + $1, b = $2 where c = $3", "number column:b column:c"),
        ("select json_extract(a,'$.x') = $1", "undecided"), ("select $1", "undecided"),
        ("select $1, $2 + 1, -$3, +$4", "undecided number number undecided"),
        ("select 1 limit $1 offset $2", "limit limit"), ("select 1 limit 1, $1", "limit"),
        ("insert into t values ($1, $2), ($3, upper($4))", "insert0 insert1 insert0 text"),
        ("insert into t(a, \"b\") values ($1,$2)", "column:a column:\"b\""),
        ("select 1 where n between $1 and $2 and upper(x) between $3 and $4", "column:n column:n text text"),
        ("select 1 where n in ($1, $2) and n+1 not in ($3)", "column:n column:n number"),
        (
            "select $1 in ('a', 'b'), $2 not in (1, null, 2 + 3), $3 in (1, 'a'), $4 in (n), $5 in (select n from t), $6 in (null)",
            "text number undecided undecided undecided any"
        ), ("select 1 where $1 is null or a = $1", "any column:a"), ("select 1 where a is not $1", "column:a"),
        ("select sum(n) as s from t having s > $1", "undecided"), ("select sum(n) s from t having s > $1", "undecided"),
        ("select a and b s from t where s = $1", "undecided"), ("select sum(n) over w s from t where s = $1", "undecided"),
        ("select 1 where a = b and c = $1", "column:c"), ("select id as id from t where id = $1", "column:id"),
        ("with c(x) as (select 1 union all select x+1 from c where x < $1) select * from c", "undecided"),
        ("select 1 where a like $1 and $2 not like 'b'", "text text"),
        ("select cast($1 as integer), cast($2 as text), cast($3 as blob)", "number text undecided"),
        ("select case when $1 > 5 then 1 end", "number"), ("select max($1,5)", "undecided"),
        ("select 'a' = $1, x'00' = $2, $3 = $4", "text undecided undecided undecided"), ("select 1 where a = $1 order by b", "column:a"),
        ("select count(*) over w = $1", "number"),
        ("select 1 where a = b = $1", "undecided"), ("select 1 where x between 1 and upper(a) = $1", "undecided"),
        ("select 1 where a is distinct from $1", "column:a"), ("select 1 where a || $1 + 1", "text"),
    ])
    func parameterContexts(sql: String, expected: String) {
        let found = onBytes(sql) { bytes in
            NumericContext.uses(bytes).map { use in
                switch use.context {
                case .number: "number"
                case .truth: "truth"
                case .text: "text"
                case .column(let range): "column:" + String(decoding: bytes[range], as: UTF8.self)
                case .insertColumn(let index): "insert\(index)"
                case .limit: "limit"
                case .array: "array"
                case .any: "any"
                case .undecided: "undecided"
                }
            }.joined(separator: " ")
        }
        #expect(found == expected.split(separator: " ").map { $0 == "column?max" ? "undecided" : $0 }.joined(separator: " "))
    }

    /// Everything that reads a client's text, on one text.
    private func readAll(_ bytes: UnsafeRawBufferPointer) {
        var last = 0
        for token in SQLLexer(bytes) {
            guard token.start >= last, token.end > token.start, token.end <= bytes.count else {
                Issue.record("token out of order")
                return
            }
            last = token.end
        }
        for range in StatementSplitter(bytes) where range.isEmpty || range.upperBound > bytes.count { Issue.record("range") }
        _ = StatementHead(bytes)
        _ = try? TransactionStatement.parse(bytes)
        _ = try? SessionStatement.parse(bytes)
        _ = ChatterQuery.parse(bytes)
        _ = ParameterName(bytes)
        _ = SelectListTypes.infer(bytes, columnCount: 1)
        _ = NumericContext.uses(bytes)
        _ = try? PostgresSpelling.rewritten(bytes)
        _ = try? DefaultValues.rewritten(bytes)
        try? NumericCoercion.check(bytes)
        _ = CompoundSelect.mayBe(bytes)
        _ = ScalarExtremes.replaced(in: bytes)
        _ = ElementwiseComparison.replaced(in: bytes)
        try? ForeignQuotes.check(bytes)
        try? ForeignQuotes.checkComments(bytes)
    }

    @Test(
        arguments: [
            ("select 1 where a = any($1) and b", "select 1 where a  IN ($1) and b"),
            ("select 1 where a <> all ( $2 )", "select 1 where a  NOT IN ($2)"),
            ("select 1 where a = any($1) or $3 = any($2)", "select 1 where a  IN ($1) or $3  IN ($2)"),
            ("select 1 where a = any(array[$1])", nil), ("select 1 where a = any($1::int8[]) or b = any(c)", nil),
        ] as [(String, String?)])
    func elementwise(sql: String, expected: String?) throws {
        let spelt = try #require(try onBytes(sql) { try PostgresSpelling.rewritten($0) })
        let found = spelt.withUnsafeBytes { ElementwiseComparison.replaced(in: $0) }
        #expect(found.map { String(decoding: $0, as: UTF8.self) } == expected)
    }

    @Test(arguments: [
        "select +value from json_each($1)", "select +value from json_each($1) union all select null where $2 is null)",
        "select +value from json_each($1) union all select null where $1 is null", "json_each($1) union all", "json_each",
        "x in (select +value from json_each($1) union all select null where $1 is not null)",
    ])
    func elementwiseThatIsNone(sql: String) {
        #expect(onBytes(sql) { ElementwiseComparison.replaced(in: $0) } == nil)
    }

    @Test(
        arguments: [
            ("select max(a, 0), min (b, (c), 'max(1,2)')", "select greatest(a, 0), greatest (b, (c), 'max(1,2)')"),
            ("select greatest(a, least(b, $1)) from t -- max(1,2)", "select greatest(a, greatest(b, $1)) from t -- max(1,2)"),
            ("select max(a), min(f(a, b)), \"max\"(a, b), x.max(a, b), max, maxi(a, b)", nil), ("select max(a, b", nil), ("max(,", nil),
        ] as [(String, String?)])
    func scalarExtremes(sql: String, expected: String?) {
        let found = onBytes(sql) { ScalarExtremes.replaced(in: $0) }
        #expect(found.map { String(decoding: $0, as: UTF8.self) } == expected)
    }

    @Test(arguments: [
        ("select 1 union all select 2.5", true), ("select a from t EXCEPT select b from u", true), ("select 1 intersect select 1", true),
        ("select union_id from exceptions where note = 'except'", false), ("select \"union\" from t -- union", false), ("", false),
    ])
    func compound(sql: String, isCompound: Bool) {
        #expect(onBytes(sql) { CompoundSelect.mayBe($0) } == isCompound)
    }

    @Test(arguments: [
        ("select now() - at", true), ("select at-current_date", true), ("select 1 where ((date(a, 'x'))) + 1 > b", true),
        ("select cast(a || 'x' as timestamp (3) with time zone)", true), ("select cast (cast(a as text) as uuid)", true),
        ("select case a when 1 then 2 end - now()", true), ("values (-1, now()) returning -1, datetime() -1", true),
        ("select -now(), t.now - 1, \"now\" - 1, f(now()) - 1, 'now() - 1'", false), ("values (-5, current_date, now(), date(-1))", false),
        ("select a - 1, now(), -current_date, b + 1", false), ("select cast(null as date), cast(a as date text), cast(a as text)", false),
        ("select date - 1, time + 1, a -- - now()", false), ("select date('now', '-1 day'), julianday(now()) - 1", false),
    ])
    func dateArithmetic(sql: String, isRefused: Bool) {
        let found = onBytes(sql) { bytes in
            do throws(WireError) { try NumericCoercion.check(bytes) } catch { return error.state == .featureNotSupported }
            return false
        }
        #expect(found == isRefused)
    }

    @Test(arguments: [
        ("select 1 where a = any(array[0.1, 2])", "select 1 where a  IN (0.1, 2)"),
        ("select 1 where a <> all (array['x'::text]::text[] )", "select 1 where a  NOT IN ('x') "),
        (
            "select 1 where a = any(array[1] || b)",
            "select 1 where a  IN (SELECT +value FROM (SELECT coalesce(json_array(1) || b, '[null]') AS walpool_array), json_each(walpool_array))"
        ),
        (
            "select array[0.30000000000000004, - 1.5, 1, -a, 1.5 + 1]",
            "select json_array(json('0.30000000000000004'), json('-1.5'), 1, -a, 1.5 + 1)"
        ),
        ("select 1 where a = any('{x,\"y z\"}')", "select 1 where a  IN (SELECT value FROM json_each('[\"x\",\"y z\"]'))"),
        (
            "select 1 where a = any($1)",
            "select 1 where a  IN (SELECT +value FROM json_each($1) UNION ALL SELECT NULL WHERE $1 IS NULL)"
        ),
        ("select 1 where a < '2024-01-02'::date", "select 1 where a < '2024-01-02'"),
        ("select 1 where a = any((('{1,x}')))", "select 1 where a  IN (SELECT value FROM json_each('[\"1\",\"x\",1]'))"),
        ("select 1 where a = any (('{\"\\\\x61\"}'::bytea[]))", "select 1 where a  IN (x'61')"),
        ("select 1 where a = any(ARRAY ['a]', 'b'])", "select 1 where a  IN ('a]', 'b')"),
        ("select array /* ] */ ['];']", "select json_array('];')"),
        ("select array[array['a]'], array['b;']]", "select json_array(json_array('a]'), json_array('b;'))"),
        ("select a limit'1'::int8", "select a limit 1"),
        ("select $1::numeric(10, 2)and x", "select $1::numeric and x"), ("select 'a'::text'b'", "select 'a' 'b'"),
    ])
    func spelling(sql: String, expected: String) throws {
        let found = try onBytes(sql) { try PostgresSpelling.rewritten($0) }
        #expect(found.map { String(decoding: $0, as: UTF8.self) } == expected)
    }

    /// nil: SQLite has a meaning for it, or is to complain.
    @Test(
        arguments: [
            ("select 1 where a < DATE '2024-01-02'", "select 1 where a < '2024-01-02'"),
            (
                "insert into t values (TIMESTAMP '2024-01-02 03:04:05', time  '03:04:05')",
                "insert into t values ('2024-01-02 03:04:05', '03:04:05')"
            ),
            ("update t set a = timestamp with time zone '2024-01-02 03:04+02'", "update t set a = '2024-01-02 01:04:00+00:00'"),
            ("select f(date '2024-01-02') from t", "select f('2024-01-02') from t"),
            ("select case when a > date '2024-01-02' then 1 end from t", "select case when a > '2024-01-02' then 1 end from t"),
            ("select date '2024-01-02' as d from t", "select '2024-01-02' as d from t"),
            ("select date '2024-01-02', timestamp '2024-01-02 03:04:05'", "select '2024-01-02', '2024-01-02 03:04:05'"),
            (
                "select 1 from t join u on t.a = date '2024-01-02' and date '2024-01-02' < u.a",
                "select 1 from t join u on t.a = '2024-01-02' and '2024-01-02' < u.a"
            ),
            (
                "select 1 from t where a between date '2024-01-02' and date '2024-01-03'",
                "select 1 from t where a between '2024-01-02' and '2024-01-03'"
            ),
            ("select date '2024-01-02' from t", nil), ("select a, date '2024-01-02', b from t", nil),
            ("select 1 + date '2024-01-02' from t", nil),
            ("select a from date '2024-01-02'", nil), ("select a from t, date '2024-01-02' where b", nil),
            ("select 1 from t join date '2024-01-02' on a", nil), ("select (select date '2024-01-02')", nil),
            ("delete from t returning date '2024-01-02'", nil), ("select 1 where t.date '2024-01-02'", nil),
            ("select 1 where a = date 'yesterday'", nil), ("select 1 where a = \"date\" '2024-01-02'", nil),
        ] as [(String, String?)])
    func literalBehindItsType(sql: String, expected: String?) throws {
        let found = try onBytes(sql) { try PostgresSpelling.rewritten($0) }
        #expect(found.map { String(decoding: $0, as: UTF8.self) } == expected)
    }

    @Test(
        arguments: [
            ("insert into t (id, a) values (default, $1)", "insert into t (a) VALUES ($1)"),
            (
                "INSERT INTO t AS x (\"id\", a, b) VALUES (DEFAULT, f($1, 2), DEFAULT), (DEFAULT, $2, DEFAULT) RETURNING id",
                "INSERT INTO t AS x (a) VALUES (f($1, 2)), ($2) RETURNING id"
            ),
            ("insert into t (id) values (default) returning id", "insert into t DEFAULT VALUES returning id"),
            ("insert into t(id) values(default)", "insert into t DEFAULT VALUES"),
            ("insert into \"t\"(id, a) values(default, default)returning id;", "insert into \"t\" DEFAULT VALUES returning id;"),
            ("insert into t(id)values(default);", "insert into t DEFAULT VALUES;"),
            (
                "with c as (select 1) insert into t (id, a) values (default, (select * from c)) on conflict do nothing",
                "with c as (select 1) insert into t (a) VALUES ((select * from c)) on conflict do nothing"
            ),
            ("insert into t default values", nil), ("insert into t (a) values ('default')", nil),
            ("insert into t (\"default\") values (1)", nil),
            ("insert into t (a, b) values (default)", nil), ("insert into t (a) select 1 where default", nil),
            ("insert into t (a) values (default", nil),
            ("insert into t (a) values (1) on conflict (a) do update set a = default", nil),
        ] as [(String, String?)])
    func defaults(sql: String, expected: String?) throws {
        let found = try onBytes(sql) { try DefaultValues.rewritten($0) }
        #expect(found.map { String(decoding: $0, as: UTF8.self) } == expected)
    }

    @Test(arguments: [
        "insert into t values (default, 1)", "insert into t (a, b) values (default, 1), (2, 3)",
        "insert into t (a) values (default), (default)",
        "insert into t (a) values (default) on conflict do nothing",
    ])
    func defaultsRefused(sql: String) {
        #expect(throws: WireError.self) { _ = try onBytes(sql) { try DefaultValues.rewritten($0) } }
    }

    /// What is left in brackets must be to SQLite what it is to us.
    @Test(arguments: [
        "select doc['a]'", "select x[e'a]", "select x[1:'a]']", "select x[lower('a]')]", "select x[/**/'a]']", "select array[ ['a]'] ]",
        "select array[array[array[array[array[array[array['a]']]]]]]]", "create view v as select array['a]']",
        "select array['a]'], e'\\x41'",
        "explain select doc['a]']", "create table t ([it's] text)", "select [unterminated", "select d[\"a]\"]",
        "select e'\\'' || ' x'", "create view v as select e'\\n'", "select E'\\x41'",
    ])
    func brackets(sql: String) {
        #expect(throws: WireError.self) { try onBytes(sql) { _ = try Query($0) } }
    }

    @Test(arguments: [
        "select [a], t.[b c] as [d] from [main].[t]", "select '[''', \"['\", 1 /* ['] */ -- ['", "select array[t.[a], (select [b] from t)]",
        "create table [t] ([a b] text default '['']')", "select t.array [z], t.array[z] from t", "select array['a]', 'b'], [c]",
    ])
    func bracketsThatAreNames(sql: String) {
        #expect(throws: Never.self) { try onBytes(sql) { try Query($0) } }
    }

    @Test(arguments: [
        ("select 1 /* a /* b */ , '*/ , '", false), ("select 1 -- the id\r, '\n; delete from t; --'", false),
        ("select 'a' /* /* */", false),
        ("select 'a' /* x", true), ("select 'a' /* b */ /* c */ -- /* d\r\n, 1", true), ("select 'a' -- x\r\n, 'b' -- y\r", true),
        ("select '/* /* \r --' -- x", true), ("select 1 /* a /* b */", false), ("delete from t -- a\r where id = 1", false),
        ("begin; -- a\r delete from t", false), ("\u{FEFF}select 'a'\r\n/* \r */", true), ("select 'a' /* a /* b */ */", false),
        ("select 'a' -- x\r y", false), ("select 'a' / * 2 /**/ /***/", true),
    ])
    func comments(sql: String, isTaken: Bool) {
        let found = onBytes(sql) { bytes in
            do throws(WireError) { try ForeignQuotes.checkComments(bytes) } catch { return false }
            return true
        }
        #expect(found == isTaken)
    }

    /// Each ended the daemon, or might have: parentheses that cross the brackets, for SQLite to complain about.
    @Test(arguments: [
        "select array[)] x", "select 1 = any(array[)]) x", "select array[array[))", "select array[(] x", "select array[(]) x",
        "select )1::int8 x",
        "select f(array[)], 1::int8) x", "select any(array[1)] x]", "create view v as select 1",
    ])
    func spellingThatIsNone(sql: String) throws {
        #expect(try onBytes(sql) { try PostgresSpelling.rewritten($0) } == nil)
    }

    @Test(arguments: [
        "select a - b < '1 day'::interval", "select 1 where '2024-01-02'::date >= (a + 1)", "select 'NaN'::float8",
        "select 1 where'2024-01-02'::date>=(a + 1)",
    ])
    func spellingRefuses(sql: String) {
        #expect(throws: WireError.self) { _ = try onBytes(sql) { try PostgresSpelling.rewritten($0) } }
    }

    @Test(arguments: [
        "(", ")", "'", "\"", "[", "/*", "--", "$1(", "$1=", "$1,", "max(", "max($1=", "1+", "- ", "x OVER w ", "a.", "a IN ($1) ",
        "BETWEEN $1 AND ", "case ", "a as b,", "f(a)||", ":", "x'",
        "not ", "coalesce(a,", "(($1),", "1 in (", ";", "create trigger ; ", "over ", "date '2024-01-02', ", "(default),", "any((",
        "[a", "['", "array[", "array[)", "=any(array[)", "(]", "case when a then ", "case a = ", " end",
    ])
    func hostile(piece: String) {
        let repeated = String(repeating: piece, count: 15_000 / piece.utf8.count)
        for prefix in ["", "select ", "with a as (", "set a = ", "execute p(", "insert into t values ("] {
            onBytes(prefix + repeated) { readAll($0) }
        }
    }

    @Test func randomBytes() {
        var generator = SeededGenerator(state: 12)
        func random(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }
        let pieces = [
            "select ", "from ", "(", ")", ",", ";", "$1", "=", "a", ".", "'", "x'0", "and ", "between ", "in ", "as ", "count(*)", "||",
            "-", "over ", "end ", "values ", "insert ", "not ", "fetch ", "set ", "\u{0}", "é", "array[", "]", "any(", "all(", "cast(",
            "::int8", "date '2024-01-02' ", "e'", "case ", "when ", "then ", "default", "returning ",
        ]
        for _ in 0..<10_000 {
            var bytes: [UInt8] = []
            if random(2) == 0 {
                for _ in 0..<random(60) { bytes.append(UInt8(random(256))) }
            } else {
                for _ in 0..<random(30) { bytes.append(contentsOf: pieces[random(pieces.count)].utf8) }
            }
            bytes.withUnsafeBytes { readAll($0) }
        }
    }
}
