import Foundation
import Testing

@testable import SQLite

/// Beside json_each(), which says what they are.
@Suite struct JSONElementsTests {
    /// With a zero behind it, as SQLite's texts have one.
    private func withText<Result>(_ text: String, _ work: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try (Array(text.utf8) + [0]).withUnsafeBytes { try work(UnsafeRawBufferPointer(rebasing: $0.dropLast())) }
    }

    private func shown(_ element: JSONElements.Element) -> String {
        switch element {
        case .null: return "null"
        case .integer(let value): return "integer \(value)"
        case .real(let value): return "real \(value)"
        case .text(let text): return "text \(String(decoding: text, as: UTF8.self))"
        case .nested(let text): return "text \(String(decoding: text, as: UTF8.self))"
        case .escapedText(let written):
            var memory = [UInt8](repeating: 0, count: written.count)
            guard let count = memory.withUnsafeMutableBytes({ JSONElements.unescape(written, into: $0) }) else { return "none" }
            return "text \(String(decoding: memory[..<count], as: UTF8.self))"
        }
    }

    private func elements(_ text: String) throws -> [String] {
        try withText(text) { bytes in
            var elements = try JSONElements(bytes)
            var found: [String] = []
            while let element = try elements.next() { found.append(shown(element)) }
            return found
        }
    }

    private func elementsOfSQLite(_ text: String, on given: Connection? = nil) throws -> [String] {
        let connection = try given ?? TemporaryDatabase().open()
        let statement = try connection.prepared("SELECT typeof(value), CAST(value AS TEXT), value FROM json_each(?1)")
        try statement.bindText(copying: text, at: 1)
        var found: [String] = []
        while try statement.step() == .row {
            let type = String(decoding: statement.text(0), as: UTF8.self)
            let value = type == "real" ? "\(statement.double(2))" : String(decoding: statement.text(1), as: UTF8.self)
            found.append(type == "null" ? "null" : "\(type) \(value)")
        }
        return found
    }

    @Test(arguments: [
        "[]", " [ ] ", "[1]", "[1,-2, 3 ]\n", "[true,false,null]", "[9223372036854775807,-9223372036854775808,9223372036854775808]",
        "[0,-0,-0.0,0.5,1e3,1E-3,-12.5e+2,123456789012345678901234567890]", "[0.1,1.7976931348623157e308,5e-324,2.5]",
        "[\"\",\"a\",\"ä€𝄞\",\"a\\\"b\\\\c\\/\\b\\f\\n\\r\\t\"]", "[\"\\u00e4\\u20ac\\ud834\\udd1e\\u0041\"]",
        "[[1,2],{\"a\":[\"]\"]},[], {} ]", "[\"[1,2]\",\"{\"]", "[[[[]]]]",
    ])
    func asOfSQLite(_ text: String) throws {
        #expect(try elements(text) == elementsOfSQLite(text))
    }

    @Test(arguments: [
        "", "[", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "[1]]", "[1] 2", "[01]", "[1.]", "[-]", "[+1]", "[nul]", "[\"a]", "[\"\\x\"]",
        "[\"\\u12\"]",
        "[[1]", "[{\"a\"}]", "nonsense", "[\"a\nb\"]", "[]]",
    ])
    func malformed(_ text: String) {
        #expect(throws: JSONElements.Failure.isMalformed) { try elements(text) }
    }

    @Test(arguments: ["1", "{}", "{\"a\": [1]}", "\"[1]\"", "null"])
    func noArrays(_ text: String) {
        #expect(throws: JSONElements.Failure.isNoArray) { try elements(text) }
    }

    @Test func halvesOfCharactersAndNUL() throws {
        #expect(try elements("[\"\\ud834\",\"\\udd1e\\ud834\"]") == ["text \u{FFFD}", "text \u{FFFD}\u{FFFD}"])
        #expect(try elements("[\"a\\u0000b\"]") == ["none"])
    }

    /// Marsaglia's, so that a seed gives the same texts everywhere.
    private struct Xorshift: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state
        }
    }

    @Test("What random bytes make of arrays is read as SQLite reads it, or refused by both")
    func random() throws {
        var generator = Xorshift(state: 0x9E37_79B9_7F4A_7C15)
        let parts = [
            "[", "]", "{", "}", ",", ":", "\"a\"", "\"\\n\"", "1", "-", ".5", "e3", "true", "null", " ", "\"", "\\u0041", "0", "[1,2]",
        ]
        let connection = try TemporaryDatabase().open()
        let isValid = try connection.prepared("SELECT json_valid(?1)")
        var compared = 0
        for _ in 0..<3_000 {
            let count = Int.random(in: 0...8, using: &generator)
            let text = "[" + (0..<count).map { _ in parts.randomElement(using: &generator)! }.joined() + "]"
            try isValid.bindText(copying: text, at: 1)
            _ = try isValid.step()
            let expected = isValid.integer(0) == 1
            isValid.reset()
            let found = try? elements(text)
            #expect((found != nil) == expected, "\(text)")
            guard expected else { continue }
            compared += 1
            try #expect(found == elementsOfSQLite(text, on: connection), "\(text)")
        }
        #expect(compared > 300)
    }
}
