import Testing

@testable import Workload

/// What a command line sets of classes.
@Suite struct OptionsTests {
    static func workload() throws -> Workload {
        try Workload(
            """
            [[class]]
            name = "writers"
            [[class.transaction]]
            statements = [ { sql = "BEGIN" }, { hold_ms = 5 }, { sql = "COMMIT" } ]
            [[class]]
            name = "readers"
            think_ms = 7
            [[class.transaction]]
            statements = [ { sql = "SELECT 1" } ]
            [[class]]
            name = "idlers"
            idle = true
            """)
    }

    @Test func set() throws {
        var workload = try Self.workload()
        try workload.set(clients: "readers=3,idlers=0", rate: "2.5", messages: "writers=pipeline,readers=query")
        #expect(workload.classes.map(\.clients) == [1, 3, 0] && workload.classes.map(\.ratePerSecond) == [2.5, 0, 0])
        #expect(workload.classes.map(\.messages) == [.pipeline, .query, .separate])
        // A value without a name is for the first class, but the way of the messages for all.
        try workload.set(clients: "5", rate: nil)
        #expect(workload.classes.map(\.clients) == [5, 3, 0])
        workload.classes.removeLast()
        try workload.set(clients: nil, rate: nil, messages: "pipeline")
        #expect(workload.classes.map(\.messages) == [.pipeline, .pipeline])
    }

    /// The file's complaints where the file would complain.
    @Test(arguments: [
        ("clients", "x", "--clients: \"x\" is no number of clients"),
        ("clients", "writers=0,readers=0,idlers=0", "there are no clients"),
        ("clients", "scanners=1", "--clients scanners=1: write CLASS=VALUE; the classes are writers, readers, idlers"),
        ("clients", "readers=1,readers=2", "--clients readers=1,readers=2: class readers is named twice"),
        ("rate", "-1", "--rate: \"-1\" is not 0, or a number from 0.001 to 1000000000"),
        ("rate", "readers=9", "--rate: class \"readers\": think_ms is for a class without rate, whose clients wait for nobody"),
        ("rate", "idlers=9", "--rate: class \"idlers\": a class that is idle only connects, and has no rate"),
        ("messages", "bulk", "--messages bulk: one of separate, pipeline, query"),
        ("messages", "pipeline", "--messages: class \"idlers\": a class that is idle only connects, and has no messages"),
        ("messages", "writers=query", "--messages: class \"writers\": a transaction that holds cannot be one query"),
    ])
    func refused(_ option: String, _ value: String, _ message: String) throws {
        var workload = try Self.workload()
        func given(_ name: String) -> String? { name == option ? value : nil }
        #expect(throws: WorkloadError(message)) {
            try workload.set(clients: given("clients"), rate: given("rate"), messages: given("messages"))
        }
    }
}
