import Testing

@testable import Server

/// Names are what PostgreSQL 15 answers, or nil where that is `?column?` or a type's name.
@Suite struct ResultNamesTests {
    @Test(
        arguments: [
            ("count(*), max(t.id), Lower(\"Name\"), \"Odd Name\"(1)", ["count", "max", "lower", "Odd Name"]),
            ("a, t.a, \"A\", main.t.a, null, true, 1, 'x', $1, a + 1, -a, not a", Array(repeating: nil, count: 12)),
            ("count(*) AS n, count(*) n, count(*) \"n\", 1 AS count", [nil, nil, nil, nil]),
            ("exists (select 1), not exists (select 1), exists (select 1) = 1", ["exists", nil, nil]),
            ("(a), ((t.a)), (count(*)), (a + 1), (a, b)", ["a", "a", "count", nil, nil]),
            (
                "(select max(id) from t), (select id as n from t), (select t.id from t), (select 1), (select id n)",
                ["max", "n", "id", nil, "n"]
            ),
            ("cast(a as text), cast(max(a) as text), cast(1 as text), cast(cast(t.a as int) as text)", ["a", "max", nil, "a"]),
            ("a::text, max(a)::int8, (a)::varchar(3), 1::int8, '2'::date, a::text::date", ["a", "max", "a", nil, nil, "a"]),
            ("case when a then b end, case a when 1 then 2 else c end, case when a then b else 1 end", ["case", "c", "case"]),
            (
                "case when a then 1 else case when b then 2 else c end end, case when a then 1 else max(c) end + 1, (case when 1 then 2 end)",
                ["case", nil, "case"]
            ),
            (
                "cast(case when a then 1 end as int), cast(case when a then 1 else b end as int), max(a) collate nocase, a collate nocase",
                [nil, "b", "max", "a"]
            ),
            ("case a when case when 1 then 2 else d end then 3 else f(c) end", ["f"]),
            ("sum(a) over (order by b), sum(a) filter (where b) over w, count(*) filter (where b)", ["sum", "sum", "count"]),
            ("sum(a) over (order by b) + 1, sum(a) / 2, a in (1), a like 'x', a between 1 and 2", Array(repeating: nil, count: 5)),
            (
                "CURRENT_TIMESTAMP, current_date, Current_Time, coalesce(a, b), nullif(a, b)",
                ["current_timestamp", "current_date", "current_time", "coalesce", "nullif"]
            ),
            ("max(a), t.*, min(a)", ["max", nil, nil, "min"]), ("distinct count(*), a", ["count", nil]),
            ("a -> 'b', a ->> 'b', 1 collate nocase", [nil, nil, nil]),
            (
                "a::text || 'x', max(a)::int8 + 1, (a)::varchar, a collate x || b, max(a)::numeric(5, 2)",
                [nil, nil, "a", nil, "max"]
            ),
        ] as [(String, [String?])])
    func names(list: String, expected: [String?]) {
        for prefix in ["select ", "WITH c(a) AS (select 1, count(*)) SELECT ", "INSERT INTO t VALUES (1) RETURNING "] {
            for suffix in ["", " ", ";"]
                + (prefix.hasSuffix("RETURNING ") ? [] : [" FROM t WHERE a = max(1)", " union all select 2 order by 1"])
            {
                guard !(prefix.hasSuffix("RETURNING ") && list.hasPrefix("distinct")) else { continue }
                let found = onBytes(prefix + list + suffix) { ResultNames.names(in: $0, columnCount: expected.count) }
                #expect(found == expected, "\(prefix)\(list)\(suffix)")
            }
        }
    }

    @Test func namesOfAnotherNumberOfColumnsAreNotKnown() {
        #expect(onBytes("SELECT count(*), 1") { ResultNames.names(in: $0, columnCount: 3) } == nil)
        #expect(onBytes("VALUES (count(*))") { ResultNames.names(in: $0, columnCount: 1) } == nil)
    }

    @Test(arguments: [
        "select ", "select ,", "select )", "select (", "select (select", "select case", "select case else end", "select ::", "select a::",
        "select cast(", "select cast(as x)", "select f() over", "select f() filter (", "select ((select ,))",
    ])
    func whatIsNoStatementHasNoNames(statement: String) {
        for count in 0...2 {
            let found = onBytes(statement) { ResultNames.names(in: $0, columnCount: count) }
            #expect(found == nil || found?.count == count)
        }
    }
}
