import SQLite
import Testing

@testable import Server

/// Names read off the text are those that SQLite tells.
@Suite struct ParameterNamesTests {
    private static let rest = (1...130).map { "$\($0)" }.joined(separator: ",")

    static let texts = [
        "SELECT \(rest)",
        "SELECT $5, $130, $5::int8, $5::int8, \(rest)",
        "SELECT \((1...130).map { "?\($0)" }.joined(separator: ","))",
        "SELECT \((1...130).reversed().map { "?\($0)" }.joined(separator: ","))",
        "SELECT \(Array(repeating: "?", count: 130).joined(separator: ","))",
        "SELECT ?130, ?, ?007, ?7, :a, @a, $a, :a, ?, ?3",
        "SELECT $9, ?1, ?1, ?2, ?200, $9, ?, '?', '$10', /* ?201 */ $a::b(c) -- ?202",
        "SELECT ?300",
        // Few: SQLite is asked.
        "SELECT $2, ?, ?7",
    ]

    @Test(arguments: texts) func areSQLites(_ sql: String) throws {
        let connection = try Connection(path: ":memory:", mode: .readWrite, settings: ConnectionSettings())
        try Array(sql.utf8).withUnsafeBytes { bytes in
            let statement = try #require(try connection.prepare(bytes).statement)
            let names = ParameterNames(bytes, of: statement)
            for index in 1...statement.parameterCount { #expect(names.name(index) == statement.parameterName(index), "\(index)") }
        }
    }
}
