import Testing

@testable import Server

/// What a session keeps for its client has a limit in bytes, whatever it is called and however much of it there is.
@Suite struct KeptMemoryTests {
    private let long = String(repeating: "n", count: SessionLimits.nameBytes + 1)

    @Test func names() throws {
        let test = try TestServer()
        let client = try test.connect()
        #expect(try client.query("BEGIN").errors == [])
        #expect(try client.query("SAVEPOINT \(long)").errors == ["54000"])
        #expect(try client.query("ROLLBACK; PREPARE \(long) AS SELECT 1").errors == ["54000"])
        #expect(try client.query("SET my.\(long) = 1").errors == ["54000"])
        client.send(RawClient.parse("SELECT 1", name: long) + RawClient.sync)
        #expect(try client.reply().errors == ["54000"])
        client.send(RawClient.parse("SELECT 1") + RawClient.bind(portal: long) + RawClient.sync)
        #expect(try client.reply().errors == ["54000"])
        #expect(try client.query("PREPARE \(long.dropLast()) AS SELECT 1").tags == ["PREPARE"])
    }

    /// A transaction whose portals keep all but 14 MB of what they may: a value is cheaper to send than texts are to read.
    private func fill(_ client: RawClient) throws {
        #expect(try client.query("BEGIN").errors == [])
        client.send(RawClient.parse("SELECT length($1)", name: "filling") + RawClient.sync)
        #expect(try client.reply().errors == [])
        let value = String(repeating: "v", count: (SessionLimits.keptBytes - 14_000_000) / 3)
        for index in 0..<3 {
            client.send(RawClient.bind([value], portal: "filling\(index)", statement: "filling") + RawClient.sync)
            #expect(try client.reply().errors == [])
        }
    }

    /// Statements with texts of a megabyte: as many as fit the limit, and after a DEALLOCATE one more.
    @Test func statements() throws {
        let test = try TestServer()
        let client = try test.connect()
        let text = "SELECT 1 AS a /*" + String(repeating: "x", count: 1_000_000) + "*/"
        let fitting = SessionLimits.keptBytes / text.utf8.count
        for index in 0..<fitting {
            client.send(RawClient.parse(text, name: "s\(index)") + RawClient.sync)
            #expect(try client.reply().errors == [])
        }
        client.send(RawClient.parse(text, name: "over") + RawClient.sync)
        #expect(try client.reply().errors == ["54000"])
        #expect(try client.query("DEALLOCATE s0").errors == [])
        client.send(RawClient.parse(text, name: "over") + RawClient.sync)
        #expect(try client.reply().errors == [])
        client.send(RawClient.parse("SELECT 1", name: "small") + RawClient.sync)
        #expect(try client.reply().errors == [])
    }

    /// The sum is kept as statements come and go, and is that of before where a transaction runs again.
    @Test func theSumOfNamedStatements() throws {
        func statement(_ bytes: Int) throws -> PreparedStatement {
            var text = "SHOW \"" + String(repeating: "n", count: bytes) + "\""
            return PreparedStatement(try text.withUTF8 { try Query(UnsafeRawBufferPointer($0)) })
        }
        var statements = NamedStatements()
        let (small, large) = (try statement(10), try statement(100_000))
        statements.keep(small, "a")
        statements.keep(large, "b")
        #expect(statements.count == 2 && statements.bytes == small.keptBytes + large.keptBytes)
        let other = try statement(10)
        #expect(statements.has(small) && !statements.has(other))
        let marked = statements
        let removals = [statements.remove("b"), statements.remove("b")]
        #expect(removals == [true, false])
        #expect(statements.bytes == small.keptBytes && !statements.has(large))
        statements.keep(large, "a")
        #expect(statements.count == 1 && statements.bytes == large.keptBytes && !statements.has(small))
        let names = [statements.recount(small), statements.recount(large)]
        #expect(names == [nil, "a"])
        #expect(statements.bytes == large.keptBytes)
        statements = marked
        statements.remove("a")
        statements.remove("b")
        #expect(statements.bytes == 0)
    }

    /// What was found last is found again only as long as it has that name, also where a transaction runs again.
    @Test func theNameThatWasAskedForLast() throws {
        func statement(_ text: String) throws -> PreparedStatement {
            var text = text
            return PreparedStatement(try text.withUTF8 { try Query(UnsafeRawBufferPointer($0)) })
        }
        func named(_ name: String, _ statements: inout NamedStatements) -> PreparedStatement? {
            Array(name.utf8).withUnsafeBytes { statements.named($0) }
        }
        var statements = NamedStatements()
        #expect(named("a", &statements) == nil)
        let (one, two) = (try statement("SHOW one"), try statement("SHOW two"))
        let long = String(repeating: "long", count: 10)
        statements.keep(one, "a")
        statements.keep(two, long)
        for _ in 0..<2 {
            for (name, expected) in [("a", one), (long, two), ("a", one)] { #expect(named(name, &statements) === expected) }
        }
        #expect(named("A", &statements) == nil && named("aa", &statements) == nil)
        let marked = statements
        // Under a name that another had, and that was asked for just before.
        #expect(named("a", &statements) === one)
        statements.keep(two, "a")
        #expect(named("a", &statements) === two)
        statements.remove("a")
        #expect(named("a", &statements) == nil)
        statements = marked
        #expect(named("a", &statements) === one && named(long, &statements) === two)
        statements.removeAll()
        #expect(named(long, &statements) == nil)
    }

    /// The statements of named portals count, where no name of their own does.
    @Test func statementsOfPortals() throws {
        let test = try TestServer()
        let client = try test.connect()
        try fill(client)
        let text = "SELECT 1 AS a /*" + String(repeating: "x", count: 1_000_000) + "*/"
        let fitting = 14_000_000 / text.utf8.count
        for index in 0..<fitting {
            // Each has a text of its own, or they would be one.
            client.send(RawClient.parse(text + "--\(index)") + RawClient.bind(portal: "p\(index)") + RawClient.sync)
            #expect(try client.reply().errors == [])
        }
        client.send(RawClient.closePortal("p0") + RawClient.parse(text) + RawClient.bind(portal: "q") + RawClient.sync)
        #expect(try client.reply().errors == [])
        // Portals of one statement are no more than that.
        client.send(RawClient.bind(portal: "r") + RawClient.bind(portal: "s") + RawClient.sync)
        #expect(try client.reply().errors == [])
        client.send(RawClient.parse(text + "--over") + RawClient.bind(portal: "over") + RawClient.sync)
        #expect(try client.reply().errors == ["54000"])
        #expect(try client.query("ROLLBACK").errors == [])
    }

    @Test func portals() throws {
        let test = try TestServer()
        let client = try test.connect()
        #expect(try client.query("BEGIN").errors == [])
        let value = String(repeating: "v", count: 20_000_000)
        let fitting = SessionLimits.keptBytes / value.utf8.count
        client.send(RawClient.parse("SELECT length($1)", name: "s") + RawClient.sync)
        #expect(try client.reply().errors == [])
        for index in 0..<fitting {
            client.send(RawClient.bind([value], portal: "p\(index)", statement: "s") + RawClient.sync)
            #expect(try client.reply().errors == [])
        }
        client.send(RawClient.closePortal("p0") + RawClient.bind([value], portal: "q", statement: "s") + RawClient.sync)
        #expect(try client.reply().errors == [])
        client.send(RawClient.bind([value], portal: "over", statement: "s") + RawClient.sync)
        #expect(try client.reply().errors == ["54000"])
        #expect(try client.query("ROLLBACK").errors == [])
    }

    /// With a function in FROM a text of a few KB is one of hundreds to SQLite, and that one is remembered, too.
    @Test func textsAboutTheCatalogs() throws {
        let registry = QueryRegistry(limit: 10_000)
        let options = Array(repeating: "i.indoption", count: 10).joined(separator: ",")
        let names = Array(repeating: "b", count: 4_000).joined(separator: "+")
        var bytes = 0
        for number in 0..<100 {
            var text = "SELECT \(names) FROM pg_index i, unnest(i.indkey, coalesce(\(options))) k(a, b) -- \(number)"
            bytes = try text.withUTF8 { try registry.query(UnsafeRawBufferPointer($0)).keptBytes }
        }
        // All hundred are more than two generations may take.
        #expect(bytes > 500_000)
        #expect(registry.count <= 2 * (SessionLimits.rememberedBytes / bytes + 1))
    }

    /// So is what is known of their parameters, of which a few letters may have as many as there may be.
    @Test func parametersOfQuestionsToTheCatalogs() throws {
        let test = try TestServer()
        let client = try test.connect()
        for number in 0..<40 {
            client.send(RawClient.parse("SELECT $65535 FROM pg_class -- \(number)") + RawClient.sync)
            #expect(try client.reply().errors == [])
        }
        #expect(test.server.registry.count < 30)
    }

    /// What is read in a text counts, too: of a list of digits, where each of them stands.
    @Test(arguments: [("EXECUTE p(", ")"), ("PREPARE p(", ") AS SELECT 1"), ("COPY t(", ") TO STDOUT"), ("SET search_path = ", "")])
    func listsInTexts(_ beginning: String, _ end: String) throws {
        var text = beginning + Array(repeating: "a", count: 8_000).joined(separator: ",") + end
        let query = try text.withUTF8 { try Query(UnsafeRawBufferPointer($0)) }
        #expect(query.keptBytes > 16 * 8_000)
    }
}
