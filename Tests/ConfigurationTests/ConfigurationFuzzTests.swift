import TOMLKit
import Testing

@testable import Configuration

/// Texts of TOML's own parts in any order: what TOMLKit takes as a whole is taken in parts too, and what it refuses is
/// refused; nothing traps.
struct ConfigurationFuzzTests {
    private static let parts = [
        "a", "b", "c = 1", " = ", "1", "\"", "'", "\"\"\"", "'''", "[", "]", "[[t]]", "{", "}", ",", "#", "\n", "\n", "\r\n", " ", "\\",
        "\\\"", "x = \"\"\"", "y = [", "true", "\u{0}", "é", "z = { k = 1 }",
    ]

    @Test(arguments: 0..<20)
    func anyOrder(seed: Int) {
        var random = Random(state: UInt64(seed))
        var good = 0
        for _ in 0..<1000 {
            let count = Int.random(in: 1...12, using: &random)
            let text = (0..<count).map { _ in Self.parts.randomElement(using: &random)! }.joined()
            let document = ConfigurationDocument(text)
            let isForTOMLKit = !text.contains("\u{0}") && !document.problems.contains { Self.isKeptFromTOMLKit($0) }
            let isTOML = isForTOMLKit && (try? TOMLTable(string: text)) != nil
            #expect(document.problems.isEmpty == isTOML, "\(text.debugDescription) \(document.problems)")
            if isTOML { good += 1 }
            let lines = text.utf8.count { $0 == UInt8(ascii: "\n") } + 1
            #expect(document.problems.allSatisfy { (1...lines).contains($0.line) }, "\(text.debugDescription)")
        }
        #expect(good > 20, "the parts make TOML now and then")
    }

    /// Its parser would end the process.
    private static func isKeptFromTOMLKit(_ problem: ConfigurationProblem) -> Bool {
        problem.message.contains("a name is expected") || problem.message.contains("bracket")
    }

    /// A linear congruential generator, so that a seed is a case.
    private struct Random: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 33
        }
    }
}
