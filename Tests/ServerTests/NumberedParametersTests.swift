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
        #expect(found.numbered.count == 200)
    }

    /// `?` is one more than the largest so far, so the number stays where it is another one.
    @Test func outOfOrder() throws {
        let found = try #require(Self.read("SELECT $3, $4::int8, $1, $4, $2, $5, " + Self.list((6...200).map { "$\($0)" })))
        #expect(found.forSQLite == "SELECT ?3, ?, ?1, ?4, ?2, ?, " + Self.list((6...200).map { _ in "?" }))
        #expect(found.numbered.types[3] == .int8 && found.numbered.mixed == [4])
    }

    /// Fewer; one that is missing; one without a number, with a name.
    @Test(arguments: ["", ", $202", ", ?", ", :a"]) func othersStay(_ end: String) {
        #expect(Self.read("SELECT " + Self.list((1...(end.isEmpty ? 100 : 200)).map { "$\($0)" }) + end) == nil)
    }
}
