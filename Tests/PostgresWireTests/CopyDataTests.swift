import Testing

@testable import PostgresWire

@Suite struct CopyDataTests {
    private func written(_ write: (OutputBuffer) -> Void) -> String {
        let out = OutputBuffer()
        write(out)
        return String(decoding: out.readable, as: UTF8.self)
    }

    @Test(arguments: [
        ("", ""), ("plain", "plain"), ("a\tb\nc\rd\\e", "a\\tb\\nc\\rd\\\\e"), ("\u{8}\u{b}\u{c}\u{1}", "\\b\\v\\f\u{1}"), ("a|b", "a\\|b"),
        ("é🐘|", "é🐘\\|"),
        ("\\N", "\\\\N"), ("\\.", "\\\\."), ("\n", "\\n"),
    ])
    func text(value: String, expected: String) {
        let bytes = Array(value.utf8)
        #expect(written { out in bytes.withUnsafeBytes { out.copyText($0, delimiter: UInt8(ascii: "|")) } } == expected)
    }

    @Test(arguments: [("", "''"), ("a", "'a'"), ("it's", "'it^'s'"), ("^", "'^^'"), ("'^'", "'^'^^^''"), ("é,\n", "'é,\n'")])
    func quoted(value: String, expected: String) {
        let bytes = Array(value.utf8)
        #expect(
            written { out in
                bytes.withUnsafeBytes { out.copyQuoted($0, quote: UInt8(ascii: "'"), escape: UInt8(ascii: "^")) }
            } == expected)
    }

    @Test func numbersAndBytes() {
        #expect(written { $0.copyInteger(.min) } == "-9223372036854775808")
        #expect(written { $0.copyDouble(0.1) } == "0.1")
        #expect(written { $0.copyDouble(-.infinity) } == "-Infinity")
        #expect(
            written { out in [UInt8](arrayLiteral: 0, 255).withUnsafeBytes { out.copyHexadecimal($0, prefix: "\\\\x") } } == "\\\\x00ff")
    }

    @Test func dataRowsBecomeCopyData() {
        let out = OutputBuffer()
        out.parseComplete()
        out.consume(5)
        let mark = out.beginDataRow(columns: 1)
        out.fieldNull()
        #expect(out.endDataRow(mark))
        out.renameDataRowToCopyData(at: mark)
        #expect(Array(out.readable) == [UInt8(ascii: "d"), 0, 0, 0, 10, 0, 1, 255, 255, 255, 255])
    }
}
