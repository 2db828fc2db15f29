import Testing

@testable import PostgresWire

@Suite struct CodecTests {
    @Test(
        arguments: [
            ("0", 0), (" \t\n42\r ", 42), ("+7", 7), ("-0", 0), ("-9223372036854775808", Int64.min),
            ("9223372036854775807", Int64.max), ("0000000000000000000000012", 12), ("9223372036854775808", nil),
            ("-9223372036854775809", nil), ("18446744073709551616", nil), ("99999999999999999999999", nil), ("", nil), (" ", nil),
            ("-", nil), ("+-1", nil), ("1 2", nil), ("1.0", nil), ("0x10", nil), ("1\0", nil), ("１", nil),
        ] as [(String, Int64?)])
    func integers(_ text: String, _ expected: Int64?) {
        #expect(withRaw(text, TextCodec.parseInt) == expected)
    }

    @Test(
        arguments: [
            ("1", 1), (" -1.5e3 ", -1500), ("Infinity", .infinity), ("-inf", -.infinity), ("+INFINITY", .infinity), (".5", 0.5),
            ("5e-324", .leastNonzeroMagnitude), ("0", 0), ("0e999", 0), ("1e309", nil), ("-1e309", nil), ("1e-400", nil), ("", nil),
            ("1x", nil),
            ("1\0", nil), ("1,5", nil), ("--1", nil),
        ] as [(String, Double?)])
    func doubles(_ text: String, _ expected: Double?) {
        #expect(withRaw(text, TextCodec.parseDouble) == expected)
    }

    @Test func notANumber() {
        #expect(withRaw("NaN", TextCodec.parseDouble)?.isNaN == true)
        #expect(withRaw(" nan ", TextCodec.parseDouble)?.isNaN == true)
    }

    @Test func bools() {
        for text in ["t", "tr", "TRUE", "y", "Yes", "on", "1", " true "] { #expect(withRaw(text, TextCodec.parseBool) == true) }
        for text in ["f", "fals", "FALSE", "n", "No", "of", "off", "0", "\tf\n"] {
            #expect(withRaw(text, TextCodec.parseBool) == false)
        }
        for text in ["", " ", "o", "truee", "2", "10", "yes no", "t\0", "\u{11}"] {
            #expect(withRaw(text, TextCodec.parseBool) == nil)
        }
    }

    @Test(
        arguments: [
            (#"\x"#, []), (#"\x00fF"#, [0, 255]), (#"\x 00 \#nff "#, [0, 255]), (#"\x0"#, nil), (#"\x0 0"#, nil), (#"\xzz"#, nil),
            ("", []), ("abc", [97, 98, 99]), (#"a\\b"#, [97, 92, 98]), (#"\000\377"#, [0, 255]), (#"\400"#, nil), (#"\"#, nil),
            (#"\12"#, nil), (#"\n"#, nil),
        ] as [(String, [UInt8]?)])
    func bytea(_ text: String, _ expected: [UInt8]?) {
        #expect(withRaw(text, TextCodec.parseBytea) == expected)
    }

    @Test func byteaRoundTrip() {
        let all = (0...255).map { UInt8($0) }
        let field = encoded { buffer in withRaw(all) { buffer.fieldByteaText($0) } }
        #expect(withRaw(Array(field.dropFirst(4)), TextCodec.parseBytea) == all)
    }

    @Test func utf8() {
        for valid in ["", "a", "é", "€", "😀", "a\0b"] { #expect(withRaw(valid, TextCodec.isValidUTF8)) }
        for invalid: [UInt8] in [
            [0x80], [0xC3], [0xC0, 0x80], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0x61, 0xFF],
        ] {
            #expect(!withRaw(invalid, TextCodec.isValidUTF8))
        }
    }

    @Test func binaryValuesHaveTheirLength() {
        for length in 0...16 {
            withRaw([UInt8](repeating: 1, count: length)) { bytes in
                #expect((BinaryCodec.bool(bytes) != nil) == (length == 1))
                #expect((BinaryCodec.int16(bytes) != nil) == (length == 2))
                #expect((BinaryCodec.int32(bytes) != nil) == (length == 4))
                #expect((BinaryCodec.float(bytes) != nil) == (length == 4))
                #expect((BinaryCodec.int64(bytes) != nil) == (length == 8))
                #expect((BinaryCodec.double(bytes) != nil) == (length == 8))
            }
        }
        #expect(withRaw([0x80, 0], BinaryCodec.int16) == .min)
        #expect(withRaw([0xFF, 0xFF, 0xFF, 0xFE], BinaryCodec.int32) == -2)
        #expect(withRaw([0x7F, 255, 255, 255, 255, 255, 255, 255], BinaryCodec.int64) == .max)
        #expect(withRaw([0x3F, 0xC0, 0, 0], BinaryCodec.float) == 1.5)
        #expect(withRaw([0], BinaryCodec.bool) == false)
    }
}
