import Testing

@testable import Server

/// Statements with very many parameters, as SQLite gets them.
@Suite struct NumberedParametersTests {
    private static func read(_ sql: String) -> (numbered: NumberedParameters, text: String, forSQLite: String)? {
        Array(sql.utf8).withUnsafeBytes { bytes in
            NumberedParameters(bytes).map {
                ($0, String(decoding: $0.text.bytes, as: UTF8.self), String(decoding: $0.textForSQLite, as: UTF8.self))
            }
        }
    }

    private static func list(_ parameters: some Sequence<String>) -> String { parameters.joined(separator: ",") }

    @Test(arguments: ["$", "?"]) func inOrder(_ sign: String) throws {
        let found = try #require(Self.read("SELECT " + Self.list((1...200).map { "\(sign)\($0)" })))
        #expect(found.text == "SELECT " + Self.list((1...200).map { "?\($0)" }))
        #expect(found.forSQLite == "SELECT " + Self.list((1...200).map { _ in "?" }))
        #expect(found.numbered.slots == (1...200).map { ParameterSlot(index: $0, number: $0) })
    }

    /// `?` is one more than the largest so far, so the number stays where it is another one.
    @Test func outOfOrder() throws {
        let found = try #require(Self.read("SELECT $3, $1, $3, $2, " + Self.list((4...200).map { "$\($0)" })))
        #expect(found.text == "SELECT ?1, ?2, ?1, ?3, " + Self.list((4...200).map { "?\($0)" }))
        #expect(found.forSQLite == "SELECT ?, ?, ?1, ?, " + Self.list((4...200).map { _ in "?" }))
        #expect(found.numbered.slots.prefix(4).map(\.number) == [3, 1, 2, 4])
        #expect(found.numbered.slots.map(\.index) == Array(1...200))
    }

    /// Two values, one of which is of that type.
    @Test func withACastHereAndNoneThere() throws {
        let found = try #require(Self.read("SELECT $2::int8, $1::date, $2, $2::int8, $1::date, " + Self.list((3...200).map { "$\($0)" })))
        #expect(found.forSQLite == "SELECT ?, ?, ?, ?1, ?2, " + Self.list((3...200).map { _ in "?" }))
        #expect(found.numbered.types.prefix(3) == [.date, .int8, .unspecified])
        #expect(found.numbered.casts == [ParameterCast(number: 2, type: .int8)])
        let slots = [ParameterSlot(index: 1, number: 2, cast: 0), ParameterSlot(index: 2, number: 1), ParameterSlot(index: 3, number: 2)]
        #expect(Array(found.numbered.slots.prefix(3)) == slots)
    }

    /// Fewer; one that is missing; one without a number, with a name.
    @Test(arguments: ["", ", $202", ", ?", ", :a"]) func othersStay(_ end: String) {
        #expect(Self.read("SELECT " + Self.list((1...(end.isEmpty ? 100 : 200)).map { "$\($0)" }) + end) == nil)
    }
}
