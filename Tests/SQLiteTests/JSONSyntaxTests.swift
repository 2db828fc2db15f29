import Testing

@testable import SQLite

@Suite struct JSONSyntaxTests {
    private func isValid(_ text: String) -> Bool { Array(text.utf8).withUnsafeBytes { JSONSyntax.isValid($0) } }

    @Test(arguments: [
        "1", " -0.5e+10\n", "0", "\"\"", "\"a\\u00e9\\n\\\\\"", "true", "false", "null", "[]", "{}", " [ 1 , [ ] , { } ] ",
        "{\"a\": [1, {\"b\": null}], \"c\": \"x\"}", "\"ä\"", "[[[[1]]]]", "1E2", "10.25",
    ])
    func valid(_ text: String) { #expect(isValid(text)) }

    @Test(arguments: [
        "", " ", "not json", "{a,b}", "{a:1}", "{'a':1}", "[1,]", "[,1]", "[1 2]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "[1", "]", "[1}",
        "{\"a\":1]",
        "01", "1.", ".5", "+1", "-", "1e", "0x1", "tru", "nul", "True", "NaN", "\"a", "\"\\x\"", "\"\\u12g4\"", "\"\\u12\"", "\"a\nb\"",
        "1 1", "[] []", "\0", "1\0",
    ])
    func invalid(_ text: String) { #expect(!isValid(text)) }

    /// Deeper than any stack.
    @Test func deep() {
        let count = 1_000_000
        #expect(isValid(String(repeating: "[", count: count) + String(repeating: "]", count: count)))
        #expect(!isValid(String(repeating: "[", count: count)))
    }
}
