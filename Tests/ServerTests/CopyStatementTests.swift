import PostgresWire
import Testing

@testable import Server

@Suite struct CopyStatementTests {
    typealias Table = CopyStatement.Table

    private static func table(_ name: String, _ columns: [String] = [], schema: String? = nil) -> CopyStatement.Source {
        .table(Table(schema: schema, name: name, columns: columns))
    }

    /// Of several that are wrong, the first as written.
    @Test func theFirstWrongOption() throws {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h"]
        for start in names.indices {
            let options = (names[start...] + names[..<start]).joined(separator: " 1, ")
            let statement = try onBytes("COPY t FROM STDIN (\(options) 1)") { try CopyStatement.parse($0) }
            let error = #expect(throws: WireError.self) { try CopyOptions(statement) }
            #expect(error?.message == "option \"\(names[start])\" not recognized")
        }
    }

    /// What an option is by itself is looked at as it is read, and what it is to the others, as a character is to its format, behind all.
    @Test(arguments: [
        ("FROM STDIN (foo 1, FORMAT xml)", "option \"foo\" not recognized"),
        ("FROM STDIN (FORMAT xml, foo 1)", "COPY format \"xml\" not recognized"),
        ("FROM STDIN (DELIMITER 'ab', foo 1)", "option \"foo\" not recognized"),
        ("FROM STDIN (foo 1, FORMAT csv, FORMAT csv)", "option \"foo\" not recognized"),
        ("FROM STDIN (FORMAT csv, FORMAT csv, foo 1)", "conflicting or redundant options: \"format\""),
        ("FROM STDIN (FORCE_QUOTE (a), foo 1)", "option \"foo\" not recognized"),
        ("FROM STDIN (DELIMITER, foo 1)", "delimiter requires a parameter"),
        ("FROM STDIN (DELIMITER 'ab', FORMAT binary)", "cannot specify DELIMITER in BINARY mode"),
        ("FROM STDIN (QUOTE 'ab', DELIMITER 'ab')", "COPY delimiter must be a single one-byte character"),
        ("FROM STDIN (QUOTE 'ab')", "COPY quote available only in CSV mode"),
        ("FROM STDIN (FORCE_QUOTE (a), FORMAT csv, QUOTE 'ab')", "COPY quote must be a single one-byte character"),
        ("FROM STDIN (FORCE_QUOTE (a))", "COPY force quote available only in CSV mode"),
        ("FROM STDIN (FORCE_QUOTE (a), FORMAT csv)", "COPY force quote only available using COPY TO"),
        ("TO STDOUT (FORCE_NOT_NULL (a), FORMAT csv)", "COPY force not null only available using COPY FROM"),
    ])
    func theOrderOfOptions(options: String, message: String) throws {
        let statement = try onBytes("COPY t \(options)") { try CopyStatement.parse($0) }
        let error = #expect(throws: WireError.self) { try CopyOptions(statement) }
        #expect(error?.message == message)
    }

    @Test func columnsOfOptions() throws {
        let statement = try onBytes("COPY t TO STDOUT (FORMAT csv, FORCE_QUOTE (Name, \"É\"))") { try CopyStatement.parse($0) }
        let columns = try CopyOptions(statement).forceQuote
        #expect(columns.contains("NAME") && columns.contains("name") && columns.contains("É"))
        #expect(!columns.contains("é") && !columns.contains("E\u{301}") && !columns.contains(""))
        #expect(CopyOptions.Columns.all.contains("é") && !CopyOptions.Columns.none.contains("é"))
    }

    @Test(
        arguments: [
            ("COPY t FROM STDIN", table("t"), true, []), ("copy t to stdout;", table("t"), false, []),
            ("COPY \"A\"\"b\" (x, \"Y\") FROM STDIN", table("A\"b", ["x", "Y"]), true, []),
            ("COPY main.t FROM STDIN", table("t", schema: "main"), true, []),
            ("COPY (SELECT a, (1) FROM t) TO STDOUT", .query(6..<26), false, []),
            ("COPY BINARY t FROM STDIN", table("t"), true, [("format", .text("binary"))]),
            ("COPY t FROM STDIN USING DELIMITERS '|'", table("t"), true, [("delimiter", .text("|"))]),
            (
                "COPY t FROM STDIN WITH CSV HEADER QUOTE AS '\"' ESCAPE '\\' NULL AS '' FORCE NOT NULL a, b FORCE NULL c", table("t"), true,
                [
                    ("format", .text("csv")), ("header", .none), ("quote", .text("\"")), ("escape", .text("\\")), ("null", .text("")),
                    ("force_not_null", .columns(["a", "b"])), ("force_null", .columns(["c"])),
                ]
            ),
            (
                "COPY t TO STDOUT CSV FORCE QUOTE * ENCODING 'UTF8'", table("t"), false,
                [("format", .text("csv")), ("force_quote", .all), ("encoding", .text("UTF8"))]
            ),
            ("COPY t FROM STDIN DELIMITER E'\\t'", table("t"), true, [("delimiter", .text("\t"))]),
            (
                "COPY t FROM STDIN DELIMITER E'\\x01' NULL E'\\x41'", table("t"), true,
                [("delimiter", .text("\u{1}")), ("null", .text("A"))]
            ),
            (
                "COPY t FROM STDIN (DELIMITER E'\\001', NULL E'\\1011\\7x\\xg')", table("t"), true,
                [("delimiter", .text("\u{1}")), ("null", .text("A1\u{7}xxg"))]
            ),
            ("COPY t FROM STDIN NULL E'\\u00e9\\U0001F418\\303\\251\\q\\\\'", table("t"), true, [("null", .text("é🐘éq\\"))]),
            (
                "COPY t FROM STDIN (FORMAT csv, HEADER, DELIMITER e'\\\\', FORCE_NULL (a), FREEZE on, BATCH 100)", table("t"), true,
                [
                    ("format", .text("csv")), ("header", .none), ("delimiter", .text("\\")), ("force_null", .columns(["a"])),
                    ("freeze", .text("on")), ("batch", .text("100")),
                ]
            ),
            ("copy pgbench_accounts from stdin with (freeze on)", table("pgbench_accounts"), true, [("freeze", .text("on"))]),
            ("COPY t FROM STDIN WHERE a > 1", table("t"), true, [("where", .none)]),
        ] as [(String, CopyStatement.Source, Bool, [(String, CopyStatement.Option.Value)])])
    func statements(
        sql: String, source: CopyStatement.Source, isInput: Bool, options: [(String, CopyStatement.Option.Value)]
    ) throws {
        let statement = try onBytes(sql) { try CopyStatement.parse($0) }
        #expect(statement.source == source)
        #expect(statement.isInput == isInput && statement.endpoint == .client)
        #expect(statement.options == options.map { .init(name: $0.0, value: $0.1) })
    }

    /// Each escape is read where it stands: for each of these a copy of the rest of the string was made.
    @Test func manyEscapes() {
        let written = String(repeating: "\\101\\60\\n\\x42\\u00e9", count: 100_000)
        let content = EscapeString.content(written)
        #expect(content == String(repeating: "A0\nBé", count: 100_000))
        #expect(EscapeString.content("\\8\\79\\7777\\") == nil && EscapeString.content("\\8\\79\\1011") == "8\u{7}9A1")
    }

    @Test(arguments: [
        ("COPY", 4), ("COPY t", 6), ("COPY t FROM", 11), ("COPY t FROM stdin WITH", 22), ("COPY t FROM stdin (", 19),
        ("COPY t FROM stdin ()", 19),
        ("COPY t FROM stdin (format csv", 29), ("COPY t () FROM stdin", 8), ("COPY t (a,) FROM stdin", 10),
        ("COPY (SELECT 1) FROM stdin", 21),
        ("COPY t FROM stdin csv nonsense", 22), ("COPY t FROM stdin DELIMITER x", 28), ("COPY t FROM stdin; SELECT", 19),
        ("COPY (SELECT 1 TO stdout", 24),
        ("COPY t FROM stdin FORCE a", 24), ("COPY 'file' FROM stdin", 5),
    ])
    func syntaxErrors(sql: String, offset: Int) {
        let error = #expect(throws: SQLSyntaxError.self) { try onBytes(sql) { _ = try CopyStatement.parse($0) } }
        #expect(error?.offset == offset)
    }

    @Test func endpoints() throws {
        #expect(try onBytes("COPY t FROM '/etc/passwd'") { try CopyStatement.parse($0) }.endpoint == .file)
        #expect(try onBytes("COPY t TO PROGRAM 'id' CSV") { try CopyStatement.parse($0) }.endpoint == .program)
    }
}
