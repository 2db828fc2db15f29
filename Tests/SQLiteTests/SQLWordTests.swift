import Testing

@testable import SQLite

@Suite struct SQLWordTests {
    @Test(arguments: [
        ("fail", true), ("FAIL", true), ("INSERT OR FaIl INTO t", true), ("raise(fail, 'x')", true), ("x.fail", true),
        ("\"fail\"", true), ("a NOT NULL ON CONFLICT FAIL", true), ("fails and then fail", true), ("failfail fail", true),
        // Another word, whose name it begins, ends or stands in: with digits, underscores and letters of all alphabets.
        ("", false), ("fai", false), ("failed", false), ("fail_count", false), ("or_fail", false), ("fail2", false),
        ("7fail", false), ("éfail", false), ("failé", false), ("FAILURE", false), ("unfailing", false), ("failfail", false),
        // "F" and "f" differ by one bit, and so do other bytes from other letters.
        ("&ail", false), ("fa)l", false), ("f\u{1}il", false),
    ])
    func stands(_ sql: String, _ expected: Bool) {
        var sql = sql
        #expect(sql.withUTF8 { SQLWord.stands("fail", in: UnsafeRawBufferPointer($0)) } == expected)
    }
}

extension SQLWordTests {
    @Test(arguments: [("FROM json_each($1)", true), ("JSON_EACH (x)", true), ("json\u{7F}each", false), ("xjson_each", false)])
    func wordsWithUnderscores(_ sql: String, _ expected: Bool) {
        var sql = sql
        #expect(sql.withUTF8 { SQLWord.stands("json_each", in: UnsafeRawBufferPointer($0)) } == expected)
    }
}

@Suite struct SQLQuotingTests {
    static let names = [
        "", "t", "a b", "a\"b", "it's", "\"", "''", "\"\"\"", "é\"", "back\\slash", "semi;colon --",
        // To Swift a quote and a mark that joins it are one Character, and not equal to a quote.
        "x\"\u{301}", "\u{600}\"y", "x'\u{20E3}", "'\u{FE0F}'", "\u{600}'; DROP TABLE t; --", "\r\n\"\r\n",
    ]

    /// SQLite reads each name and each text as what it was.
    @Test(arguments: names)
    func whatSQLiteReads(_ text: String) throws {
        let connection = try TemporaryDatabase("CREATE TABLE t(x)").open()
        #expect(try connection.rows("SELECT \(SQLQuoting.literal(text))") == [[text]])
        #expect(try connection.rows("SELECT n FROM (SELECT 5 AS \(SQLQuoting.identifier(text)), 1 AS n)") == [["1"]])
        try connection.executeInternal("CREATE TABLE \(SQLQuoting.identifier("t " + text))(a)")
        #expect(try connection.rows("SELECT name FROM sqlite_schema WHERE name LIKE 't %'") == [["t " + text]])
    }

    @Test func bytes() {
        #expect(SQLQuoting.identifier("a\"b'c") == "\"a\"\"b'c\"")
        #expect(SQLQuoting.literal("a\"b'c") == "'a\"b''c'")
        #expect(Array(SQLQuoting.literal("'\u{301}").utf8) == Array("''''".utf8.dropLast()) + [0xCC, 0x81] + Array("'".utf8))
    }
}
