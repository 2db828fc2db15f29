import Testing

@testable import Configuration

struct ConfigurationExpressionsTests {
    private func lines(_ text: String) -> [Int] { ConfigurationExpressions(text).all.map(\.line) }

    @Test(
        "Expressions begin where they begin",
        arguments: [
            ("", []),
            ("\n# a comment = 1\n\n", []),
            ("a = 1\nb = 2\n", [1, 2]),
            ("\n\n  a = 1 # b = 2\r\n\tb = 2", [3, 4]),
            ("a = \"#\"\nb = '\\'\nc = 1", [1, 2, 3]),
            ("a = \"\\\"\"\nb = 1", [1, 2]),
            ("a = \"\"\"\nb = 1\n\"\"\"\nc = 1", [1, 4]),
            ("a = '''\nb = 1\n'''\nc = 1", [1, 4]),
            ("a = \"\"\"x\"\"\"\"\"\nb = 1", [1, 2]),
            ("a = \"\"\nb = ''\nc = 1", [1, 2, 3]),
            ("a = [\n  1, # ]\n  \"]\",\n]\nb = 1", [1, 5]),
            ("a = { b = [1] }\nc = 1", [1, 2]),
            ("[[access]] # one\na = 1\n[[access]]\nb = 2", [1, 2, 3, 4]),
        ] as [(String, [Int])])
    func beginnings(text: String, expected: [Int]) {
        #expect(lines(text) == expected)
    }

    @Test("An unclosed string ends with its line, an unclosed bracket before the next key")
    func unclosed() {
        #expect(lines("a = \"x\nb = 1") == [1, 2])
        #expect(lines("a = 'x\nb = 1") == [1, 2])
        #expect(lines("a = [1,\n  2,\nb = 1\nc = 2") == [1, 3, 4])
        #expect(lines("a = {\n\n[[access]]\nb = 1") == [1, 3, 4])
        #expect(lines("a = [") == [1])
        #expect(lines("a = \"\"\"\nb = 1") == [1])
        #expect(lines("a = [\"\\") == [1])
    }

    @Test("Headers are told from values")
    func headers() {
        let all = ConfigurationExpressions("[a]\nb = [\n[1]\n]\n[[c]]").all
        #expect(all.map(\.kind) == [.header, .entry, .header])
        #expect(all[1].text == "b = [\n[1]\n]")
    }
}
