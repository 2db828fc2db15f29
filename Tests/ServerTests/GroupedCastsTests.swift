import Testing

@testable import Server

@Suite struct GroupedCastsTests {
    private static func spread(_ sql: String) -> String? {
        Array(sql.utf8).withUnsafeBytes { GroupedCasts.spread($0) }.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(
        "The type goes behind each value",
        arguments: [
            ("(CASE WHEN id = 1 THEN 2.5 ELSE NULL END)::numeric(10, 2)", "(CASE WHEN id = 1 THEN 2.5::numeric(10, 2) ELSE NULL END)"),
            ("(CASE x WHEN 1 THEN $1 WHEN 2 THEN 'a' END)::text, 1", "(CASE x WHEN 1 THEN $1::text WHEN 2 THEN 'a'::text END), 1"),
            (
                "(CASE WHEN a THEN E'x' ELSE -5 END)::double precision",
                "(CASE WHEN a THEN E'x'::double precision ELSE -5::double precision END)"
            ),
            ("(CASE WHEN a THEN '1'::date ELSE '2' END)::date", "(CASE WHEN a THEN '1'::date ELSE '2'::date END)"),
            ("(CASE WHEN (a) THEN \"t\".\"x\" END)::text", "(CASE WHEN (a) THEN \"t\".\"x\"::text END)"),
            ("(CASE WHEN CASE WHEN a THEN b + 1 END THEN 1 END)::int", "(CASE WHEN CASE WHEN a THEN b + 1 END THEN 1::int END)"),
            ("(5)::int4 + (x)::text", "(5::int4) + (x::text)"),
            (
                "(CASE WHEN a THEN 1 WHEN (CASE WHEN b THEN 2 END)::int = 2 THEN 3 END)::int",
                "(CASE WHEN a THEN 1::int WHEN (CASE WHEN b THEN 2::int END) = 2 THEN 3::int END)"
            ),
            ("(true)::boolean OR (NULL)::bool", "(true) OR (NULL)"),
            ("(\"t\".\"at\" AT TIME ZONE 'UTC')::date = 'x'::date", " date(\"t\".\"at\" ) = 'x'::date"),
            ("(CAST(CASE WHEN a THEN 'x' ELSE NULL END AS uuid))::uuid", "((CASE WHEN a THEN 'x'::uuid ELSE NULL END ))"),
        ])
    func spread(_ sql: String, _ result: String) {
        #expect(Self.spread("SELECT " + sql) == "SELECT " + result)
        #expect(Self.spread("SELECT " + result) == nil)
    }

    /// Each bracket would be read up to the quote: some minutes.
    @Test(
        .timeLimit(.minutes(1)),
        arguments: [
            ("(1)::double[", nil), ("(1)::timestamp with[", "(1::timestamp) with["), ("(CASE WHEN a THEN 1::double[ END)::int", nil),
        ] as [(String, String?)])
    func bracketsThatAreNotClosed(_ part: String, _ result: String?) {
        let count = 30_000
        #expect(
            Self.spread("SELECT " + String(repeating: part, count: count) + "'")
                == result.map { "SELECT " + String(repeating: $0, count: count) + "'" })
    }

    @Test(
        "Nothing else is touched",
        arguments: [
            "SELECT 1", "SELECT '(1)::int'", "SELECT \"(1)::int\"", "SELECT /* (1)::int */ 1", "SELECT f(1)::int", "SELECT (1, 2)::int",
            "SELECT (1 + 1)::int", "SELECT ()::int", "SELECT (1)::nothing", "SELECT (1):: int", "SELECT (CASE)::int",
            "SELECT (CASE END)::int)",
            "SELECT (CASE WHEN a THEN 1 + 1 END)::int", "SELECT (CASE WHEN a THEN END)::int",
            "SELECT (CASE WHEN a THEN 1 ELSE b c END)::int",
            "SELECT (CASE WHEN a THEN (CASE WHEN b THEN f(1) END) END)::int", "SELECT (CASE WHEN a THEN 1 END + 1)::int",
            "SELECT (true)::text", "SELECT ('a'::date)::timestamp", "SELECT ($1::int8)::int4", "SELECT (-x)::int", "SELECT 1)::int",
            "SELECT (1::",
            "SELECT (CASE WHEN a THEN '1'::date ELSE '2'::time END)::date", "SELECT (CAST(CASE WHEN a THEN 1 END AS int8))::uuid",
            "SELECT (CAST(CASE WHEN a THEN 1 END AS uuid) + 1)::uuid", "SELECT (CAST(CASE WHEN a THEN 1 END))::uuid",
            "SELECT (CAST(x AS uuid))::uuid",
            "SELECT (at AT TIME ZONE 'UTC')::time", "SELECT (at AT TIME ZONE 'Europe/Berlin')::date",
            "SELECT (f(at) AT TIME ZONE 'UTC')::date",
            "SELECT (at AT TIME ZONE 'UTC', 1)::date", "SELECT (at AT TIME ZONE)::date", "SELECT (AT TIME ZONE 'UTC')::date",
            "SELECT (at AT)::date",
        ])
    func untouched(_ sql: String) { #expect(Self.spread(sql) == nil) }
}
