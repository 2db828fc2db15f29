import Testing

@testable import Workload

@Suite struct ReadingTests {
    static let text = """
        description = "Two classes"
        data = "pgbench"

        [variables]
        scale = 10

        [[class]]
        name = "writers"
        clients = 64
        rate = 2.5
        isolation = "repeatable read"
        messages = "pipeline"

        [[class.transaction]]
        weight = 3
        let = { aid = "uniform(1, scale * 100000)" }
        statements = [
            { sql = "BEGIN" },
            { sql = "UPDATE a SET b = $1 WHERE c = $2", parameters = ["aid + 1", "client"] },
            { hold_ms = 50 },
            { sql = "COMMIT" },
        ]

        [[class.transaction]]
        statements = [ { sql = "INSERT INTO t (a, b) VALUES ($1, $2)", parameters = ["1", "text(3)"], rows = 2, repeat = 2 } ]

        [[class]]
        name = "idlers"
        clients = 1000
        idle = true
        """

    @Test func everything() throws {
        let workload = try Workload(Self.text)
        #expect(workload.description == "Two classes" && workload.data == .pgbench && workload.variables == ["scale": 10])
        let writers = try #require(workload.classes.first)
        #expect(writers.name == "writers" && writers.clients == 64 && writers.ratePerSecond == 2.5)
        #expect(writers.isolation == "repeatable read" && writers.messages == .pipeline && !writers.isIdle)
        let first = writers.transactions[0]
        #expect(first.weight == 3 && first.writes)
        #expect(first.locals == [.init(name: "aid", expression: .uniform(from: 1, to: 1_000_000))])
        #expect(first.steps[2] == .hold(milliseconds: 50))
        #expect(first.statements.map(\.kind) == [.begin, .write, .commit])
        #expect(first.statements[1].parameters == [.arithmetic(.plus, .local(0, isText: false), .integer(1)), .client])
        let second = writers.transactions[1].statements
        #expect(second.count == 2 && second[0] == second[1])
        #expect(second[0].sql == "INSERT INTO t (a, b) VALUES ($1, $2), ($3, $4)" && second[0].parameters.count == 4)
        #expect(workload.classes[1] == ClientClass(name: "idlers", clients: 1000, isIdle: true))
    }

    @Test func variablesAreReplaced() throws {
        let workload = try Workload(Self.text, replacing: ["scale": 2])
        #expect(workload.classes[0].transactions[0].locals[0].expression == .uniform(from: 1, to: 200_000))
        #expect(throws: WorkloadError("there is no variable \"skale\"; the workload has scale")) {
            try Workload(Self.text, replacing: ["skale": 2])
        }
    }

    /// What is replaced in the file, the line and the words of the complaint.
    @Test(arguments: [
        ("scale = 10", "scale = ", 5, "parsing"),
        ("scale = 10", "scale = \"x\"", 5, "scale is a whole number"),
        ("data = \"pgbench\"", "data = \"tpch\"", 2, "data is \"pgbench\", \"ycsb\" or \"none\", not \"tpch\""),
        ("clients = 64", "clients = -1", 9, "clients is a whole number from 0 to 100000"),
        ("clients = 64", "client = 64", 9, "unknown key \"client\" in [[class]]; it takes"),
        ("rate = 2.5", "rate = -1", 10, "rate is 0, or a number from 0.001 to 1000000000"),
        ("rate = 2.5", "rate = 1e-300", 10, "rate is 0, or a number from"),
        ("rate = 2.5", "think_ms = 1e16", 10, "think_ms is a number from 0 to 1000000000"),
        ("rate = 2.5", "think_ms = inf", 10, "think_ms is a number from"),
        ("rate = 2.5", "think_ms = \"long\"", 10, "think_ms is a number from"),
        ("hold_ms = 50", "hold_ms = 1e300", 20, "hold_ms is a number from 0 to 1000000000"),
        ("hold_ms = 50", "hold_ms = nan", 20, "hold_ms is a number from"),
        ("\"repeatable read\"", "\"snapshot\"", 11, "isolation is one of"),
        ("\"pipeline\"", "\"bulk\"", 12, "messages is \"separate\", \"pipeline\" or \"query\", not \"bulk\""),
        ("\"pipeline\"", "\"query\"", 12, "a transaction that holds cannot be one query"),
        ("weight = 3", "weight = 0", 15, "weight is a whole number from 1 to 1000000"),
        ("scale * 100000", "skale * 100000", 16, "there is no variable \"skale\""),
        ("\"aid + 1\"", "\"aid +\"", 19, "a value is missing at the end"),
        (", \"client\"]", "]", 19, "the statement has 2 parameters, and 1 are given"),
        ("hold_ms = 50", "hold_ms = 50, repeat = 3", 20, "a step with hold_ms has no repeat"),
        ("{ sql = \"COMMIT\" },", "{ sql = \"COMMIT\" }, { hold_ms = 9 },", 20, "hold_ms stands between two statements"),
        ("{ sql = \"BEGIN\" },", "{ hold_ms = 9 }, { sql = \"BEGIN\" },", 18, "hold_ms stands between two statements"),
        ("rate = 2.5", "rate = 2.5\nthink_ms = 5", 11, "think_ms is for a class without rate"),
        ("idle = true", "idle = true\nconnect = \"each\"", 31, "a class that is idle only connects, and has no connect"),
        ("hold_ms = 50", "hold = 50", 20, "unknown key \"hold\" in a step of statements"),
        ("{ sql = \"COMMIT\" },", "", 14, "BEGIN without COMMIT"),
        ("{ sql = \"BEGIN\" },", "", 21, "COMMIT without BEGIN"),
        ("VALUES ($1, $2)\"", "SELECT $1, $2\"", 25, "rows is for a statement that ends in VALUES (...)"),
        ("name = \"idlers\"", "name = \"writers\"", 27, "there are two classes \"writers\""),
        ("idle = true", "idle = false", 27, "class \"idlers\" has no [[class.transaction]], and is not idle"),
    ])
    func complaints(_ old: String, _ new: String, _ line: Int, _ message: String) throws {
        let parts = Self.text.split(separator: old, maxSplits: 1, omittingEmptySubsequences: false)
        try #require(parts.count == 2)
        do throws(WorkloadError) {
            _ = try Workload(String(parts[0]) + new + parts[1])
            Issue.record("it was read")
        } catch {
            #expect(error.line == line && error.message.contains(message), "\(error)")
        }
    }

    @Test func isolationOfNothing() {
        let text = """
            [[class]]
            name = "readers"
            isolation = "serializable"
            [[class.transaction]]
            statements = [ { sql = "SELECT 1" } ]
            """
        #expect(throws: WorkloadError(line: 3, "isolation is what BEGIN asks for, and no transaction has one")) { try Workload(text) }
    }

    /// Bind has no room for the number of more.
    @Test(arguments: [(9362, true), (9363, false)])
    func parametersOfManyRows(_ rows: Int, _ isRead: Bool) throws {
        let text = """
            [[class]]
            name = "writers"
            [[class.transaction]]
            statements = [ { sql = "INSERT INTO t VALUES ($1, $2, $3, $4, $5, $6, $7)", parameters = ["1", "1", "1", "1", "1", "1", "1"], \
            rows = \(rows) } ]
            """
        guard !isRead else { return #expect(try Workload(text).classes[0].transactions[0].statements[0].parameters.count == 65_534) }
        let message = "the statement has 65541 parameters with its rows, and Bind has 65535 at most"
        #expect(throws: WorkloadError(line: 4, message)) { try Workload(text) }
    }

    @Test func noClass() {
        #expect(throws: WorkloadError("there is no [[class]]")) { try Workload("data = \"none\"") }
        #expect(throws: WorkloadError("a NUL character")) { try Workload("a = 1\0") }
    }

    @Test(arguments: [
        ("SELECT 1", Statement.Kind.read), ("  insert INTO t VALUES (1)", .write), ("UPDATE t SET a = 1", .write),
        ("begin immediate", .begin), ("END", .commit), ("WITH n AS (SELECT 1) SELECT * FROM n", .read),
        ("WITH n AS (SELECT 'DELETE') INSERT INTO t SELECT * FROM n", .write), ("VALUES (1)", .read),
    ])
    func kinds(_ sql: String, _ kind: Statement.Kind) {
        #expect(Statement(sql: sql, parameters: []).kind == kind)
    }

    @Test func piecesOutsideOfQuotes() {
        let statement = Statement(sql: "SELECT '$1', \"$2\", $2, $10", parameters: [])
        #expect(
            statement.pieces == [
                .text("SELECT '$1', \"$2\", "), .parameter(1), .text(", "), .parameter(9), .text(""),
            ])
        #expect(Statement.highestParameter(statement.sql) == 10)
        #expect(statement.sqlWithNumbers == "SELECT '$1', \"$2\", ?2, ?10")
    }
}
