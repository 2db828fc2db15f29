import PostgresWire
import TestSupport
import Testing

@testable import Server

/// A message is cut into the same statements however it is read.
@Suite struct QueryReadingTests {
    /// What becomes of a text, read by steps that see so much of it at most.
    private static func read(_ sql: String, limit: Int, hasVerbs: Bool = false) -> Result<[String], WireError> {
        Array(sql.utf8).withUnsafeBufferPointer { bytes in
            let sql = UnsafeRawBufferPointer(bytes)
            var reading = QueryReading(limitBytes: limit, bytesBefore: 0, hasVerbs: hasVerbs)
            do throws(WireError) {
                var all = 0
                while let bytes = try reading.step(sql) {
                    #expect(bytes > 0 && bytes <= limit)
                    all += bytes
                }
                #expect(all == sql.count)
            } catch { return .failure(error) }
            return .success(reading.statements.map { String(decoding: sql[$0], as: UTF8.self) })
        }
    }

    private static func split(_ sql: String) -> [String] {
        Array(sql.utf8).withUnsafeBufferPointer { bytes in
            let sql = UnsafeRawBufferPointer(bytes)
            return StatementSplitter(sql).map { String(decoding: sql[$0], as: UTF8.self) }
        }
    }

    @Test(arguments: [
        "", " ", ";", ";;;;;;;;;;;;;;;", "a", "a;", "a;b", ";a;;b;", " a ; b -- c", "'a;b';c", "[a;b];c", "\"a;b\";c", "/* a;b */;c",
        "CREATE TRIGGER t BEGIN a; b; END;c", "a(;);b", "ARRAY['a]', 'b;'];c", "x'0;1';c", "a --b;c\n;d", "E'a\\';b';c",
    ])
    func whateverItHas(_ sql: String) throws {
        let want = Self.split(sql)
        for limit in sql.utf8.count...sql.utf8.count + 2 { #expect(try Self.read(sql, limit: max(1, limit)).get() == want) }
        // With less, it is the same or too long.
        for limit in 1..<max(2, sql.utf8.count) {
            switch Self.read(sql, limit: limit) {
            case .success(let statements): #expect(statements == want, "\(limit)")
            case .failure(let error): #expect(error.state == .programLimitExceeded, "\(limit)")
            }
        }
    }

    @Test func atRandom() throws {
        let parts = [
            "a", " ", ";", "'", "\"", "[", "]", "--", "\n", "/*", "*/", "(", ")", "CREATE TRIGGER", " BEGIN ", " END", "'b;c'", "x'00'",
            "é", "ARRAY", "$1",
        ]
        var random = SeededGenerator(state: 7)
        for _ in 0..<3_000 {
            let sql = (0..<Int.random(in: 0..<40, using: &random)).map { _ in parts.randomElement(using: &random)! }.joined()
            let limit = Int.random(in: 1...30, using: &random)
            let want = Self.split(sql)
            switch Self.read(sql, limit: limit) {
            case .success(let statements): #expect(statements == want, "\(sql) by \(limit)")
            case .failure(let error):
                // Comments that end elsewhere for PostgreSQL are an error, too.
                #expect(
                    error.state == .syntaxError || (error.state == .programLimitExceeded && sql.utf8.count > limit), "\(sql) by \(limit)")
            }
        }
    }

    /// Each bracket would be read up to the quote, in each step: some minutes.
    @Test(.timeLimit(.minutes(1))) func bracketsThatAreNotClosed() throws {
        let sql = String(repeating: "SELECT[;", count: 50_000) + "SELECT''"
        #expect(try Self.read(sql, limit: 1 << 20).get().count == 50_001)
    }

    /// Space between statements is no part of any.
    @Test func space() throws {
        let space = String(repeating: " \n", count: 20)
        #expect(try Self.read("a;\(space)b;\(space);c", limit: 10).get() == ["a", "b", "c"])
        for count in 0...12 {
            let space = String(repeating: " ", count: count)
            #expect(try Self.read("a;\(space)bbbbb;\(space)ccccc;d", limit: 6).get() == ["a", "bbbbb", "ccccc", "d"], "\(count)")
        }
    }

    /// One above the limit, and what is read of it is no more than the limit.
    @Test func howLongAStatementMayBe() throws {
        #expect(try Self.read("aaaa;bbbb;", limit: 5).get() == ["aaaa", "bbbb"])
        #expect(try Self.read("aaaa;bbbbb", limit: 5).get() == ["aaaa", "bbbbb"])
        for sql in ["aaaa;bbbbb;", "aaaaa;b", "aaaa;/* */b"] {
            #expect(throws: WireError.self) { try Self.read(sql, limit: 5).get() }
        }
    }

    @Test func firstWords() throws {
        #expect(try Self.read("SELEC 1", limit: 100, hasVerbs: true).get() == ["SELEC 1"])
        for (sql, position) in [("SELECT 1; é; SELECT 2", 11), ("é;SELECT 1", 1), ("SELECT 'é';SELECT 2;SELEC 3", 21)] {
            guard case .failure(let error) = Self.read(sql, limit: 100, hasVerbs: true) else {
                Issue.record("\(sql) was read")
                continue
            }
            #expect(error.state == .syntaxError && error.position == position, "\(sql)")
        }
    }
}
