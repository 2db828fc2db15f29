import PostgresWire
import Testing

@testable import Server

/// Vectors as PostgreSQL 15 prints and sends them.
@Suite struct ValueTextTests {
    private func bytes(_ hex: String) -> [UInt8] {
        var result: [UInt8] = []
        var rest = hex.filter { $0 != " " }[...]
        while !rest.isEmpty {
            result.append(UInt8(rest.prefix(2), radix: 16)!)
            rest = rest.dropFirst(2)
        }
        return result
    }

    private static func malformed() -> WireError {
        WireError(state: .invalidBinaryRepresentation, message: "malformed")
    }

    private static func text(_ bytes: UnsafeRawBufferPointer, _ type: TypeOID) throws -> String? {
        do {
            return try ValueText.text(ofBinary: bytes, type, "it", malformed: malformed)
        } catch {
            if error.state == .invalidBinaryRepresentation { return nil }
            throw error
        }
    }

    /// nil when the bytes are refused as no such value.
    private func text(_ hex: String, _ type: TypeOID) throws -> String? {
        try bytes(hex).withUnsafeBytes { try Self.text($0, type) }
    }

    @Test(
        arguments: [
            ("00000000", TypeOID.date, "2000-01-01"), ("ffffffff", .date, "1999-12-31"), ("00002279", .date, "2024-02-29"),
            ("fff4dbf9", .date, "0001-01-01"), ("002c95d4", .date, nil), ("0000", .date, nil), ("0000000000", .date, nil),
            ("0000000000000000", .time, "00:00:00"), ("000000141dd75fff", .time, "23:59:59.999999"),
            ("ffffffffffffffff", .time, nil), ("00000000", .time, nil),
            ("0000000000000000", .timestamp, "2000-01-01 00:00:00"), ("ffffffffffffffff", .timestamp, "1999-12-31 23:59:59.999999"),
            ("0000000000000001", .timestamptz, "2000-01-01 00:00:00.000001+00:00"), ("00000000000000", .timestamp, nil),
            ("0000000000000000 00000000 00000000", .interval, "PT0S"),
            ("00000000000f4240 00000001 0000000d", .interval, "P1Y1M1DT1S"),
            ("fffffffffff85ee0 00000000 00000000", .interval, "PT-0.5S"), ("00", .interval, nil),
            ("6f1e3a52000040008000 00000000000a", .uuid, "6f1e3a52-0000-4000-8000-00000000000a"), ("6f1e", .uuid, nil),
            ("01 7b7d", .jsonb, "{}"), ("02 7b7d", .jsonb, nil), ("", .jsonb, nil),
            ("00000001 00000000 00000017 00000002 00000001 00000004 00000001 00000004 fffffffe", .int4Array, "[1,-2]"),
            ("00000000 00000000 00000017", .int4Array, "[]"),
            ("00000001 00000001 00000019 00000002 00000001 00000001 22 ffffffff", .textArray, "[\"\\\"\",null]"),
            ("00000001 00000000 00000017 7fffffff 00000001 00000004 00000001", .int4Array, nil),
            ("00000001 00000000 00000017 00000001 00000001 00000002 0001", .int4Array, nil),
            ("00000001 00000000 00000019 00000001 00000001 00000001 31", .int4Array, nil),
            ("00000001 00000000 00000017 00000001 00000001 00000004 00000001 00", .int4Array, nil),
            ("00000001", .int4Array, nil),
        ] as [(String, TypeOID, String?)])
    func binary(hex: String, type: TypeOID, expected: String?) throws {
        if hex == "002c95d4" {
            #expect(throws: WireError.self, "the year 10000") { try text(hex, type) }
            return
        }
        #expect(try text(hex, type) == expected, "\(hex) \(type.sqlName)")
    }

    /// Cut short anywhere, or longer by a byte, a value is refused and nothing is read beyond its end.
    @Test func everyLengthIsChecked() throws {
        let whole = "00000001 00000001 00000b86 00000001 00000001 00000010 6f1e3a5200004000800000000000000a"
        let count = bytes(whole).count
        #expect(try text(whole, .uuidArray) == "[\"6f1e3a52-0000-4000-8000-00000000000a\"]")
        for length in 0..<count {
            let cut = String(whole.filter { $0 != " " }.prefix(2 * length))
            #expect(try text(cut, .uuidArray) == nil, "\(length) bytes")
        }
        #expect(try text(whole + "00", .uuidArray) == nil)
    }

    /// Eight bytes, and what becomes of them: the scale says how many digits there are behind the point, however few are sent.
    @Test func decimalsOfManyDigits() {
        for (words, text) in [
            ([0, 0, 0, 0x3FFF], "0." + String(repeating: "0", count: 16_383)), ([0, 0, 0x4000, 2], "-0.00"),
            ([1, 1000, 0, 0, 12], "12" + String(repeating: "0", count: 4_000)),
            ([1, 0xFFFE, 0, 6, 1234], "0.000012"), ([2, 0, 0, 1, 7, 8900], "7.8"),
            ([0, 1000, 0, 0], "0"), ([2, 1000, 0x4000, 0, 0, 0], "-0"), ([2, 1, 0, 0, 0, 7], "7"), ([3, 1, 0, 2, 0, 0, 5000], "0.50"),
            ([2, 1000, 0, 1, 0, 3], "3" + String(repeating: "0", count: 3_996) + ".0"),
        ] as [([Int], String)] {
            let bytes = words.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
            #expect(bytes.withUnsafeBytes { NumericCodec.text($0) } == text, "\(words)")
        }
    }

    @Test(
        arguments: [
            ("{}", TypeOID.int8Array, "[]"), ("{1,2,NULL}", .int8Array, "[1,2,null]"), (" { 1 , 2 } ", .int4Array, "[1,2]"),
            ("{a,\"b c\",\"NULL\",\"\\\"\"}", .textArray, "[\"a\",\"b c\",\"NULL\",\"\\\"\"]"), ("{t,f}", .boolArray, "[true,false]"),
            ("{1.50,-2}", .numericArray, "[1.50,-2]"), ("{1.5}", .float8Array, "[1.5]"), ("{", .int8Array, nil), ("{1", .int8Array, nil),
            ("{1,}", .int8Array, nil), ("{,1}", .int8Array, nil), ("{{1}}", .int8Array, nil), ("{x}", .int8Array, nil),
            ("{\"\",x}", .textArray, "[\"\",\"x\"]"), ("{1,\"\\\"a\\\"\"}", .jsonArray, "[1,\"a\"]"), ("{\"\",1}", .jsonArray, nil),
            ("{nope}", .jsonArray, nil),
            ("{1.2.3}", .numericArray, nil), ("{0x1A}", .numericArray, nil), ("{1e}", .numericArray, nil),
            ("{.5,5.,+7,-0.50,007}", .numericArray, "[0.5,5,7,-0.50,7]"),
            (
                "{9.99999999999999E+17,+12345678901234567890.123,1e-20}", .numericArray,
                "[999999999999999000,12345678901234567890.123,0.00000000000000000001]"
            ),
            ("{Infinity}", .numericArray, "[9e999]"), ("{1e400}", .float8Array, nil), ("{1e39}", .float4Array, nil),
            ("{1.5}", .float4Array, "[1.5]"),
            ("{99999}", .int2Array, nil), ("{3000000000}", .int4Array, nil), ("{-1}", .oidArray, nil), ("{1e3}", .int8Array, nil),
            ("{NUL\\L,\\N,nUlL}", .textArray, "[\"NULL\",\"N\",null]"),
            ("{\"a}", .textArray, nil), ("{a\\}", .textArray, nil), ("{NaN}", .float8Array, nil), ("{1}{2}", .int8Array, nil),
        ] as [(String, TypeOID, String?)])
    func arrays(literal: String, type: TypeOID, expected: String?) {
        let json = try? Array(literal.utf8).withUnsafeBytes { try ArrayCodec.json(ofText: $0, type, malformed: Self.malformed) }
        #expect(json == expected, "\(literal)")
    }

    /// What moves a point, or stands before the first digit that counts, is not taken one by one.
    @Test func arraysOfManyZeros() throws {
        let count = 100_000
        let json = "[" + Array(repeating: "0", count: count).joined(separator: ",") + "]"
        let literal = "{" + Array(repeating: "0e999", count: count).joined(separator: ",") + "}"
        #expect(
            try Array(literal.utf8).withUnsafeBytes { try ArrayCodec.json(ofText: $0, .numericArray, malformed: Self.malformed) } == json)
        var binary: [UInt8] = []
        for word in [1, 0, 1700, UInt32(count), 1] { withUnsafeBytes(of: word.bigEndian) { binary += $0 } }
        let zero: [UInt8] = [0, 0, 0, 8, 0, 0, 0x03, 0xE8, 0, 0, 0, 0]
        for _ in 0..<count { binary += zero }
        #expect(try binary.withUnsafeBytes { try Self.text($0, .numericArray) } == json)
    }

    @Test(arguments: [
        "", "1", "day", "1 day 1", "1.5 days", "1 fortnight", "25:61", "1:2:3:4", "P", "P1", "PT", "P1H", "1 day ago 2 days",
        "999999999999999 years", "9999999999 years", "999999999999 hours", "1 day 1:-2", "--1 day",
        "1.00000000001 days",
    ])
    func noIntervals(text: String) {
        // A number alone is seconds.
        let isSeconds = text == "1" || text == "1 day 1"
        #expect((Array(text.utf8).withUnsafeBytes { IntervalText($0) } == nil) != isSeconds, "\(text)")
    }

    /// As PostgreSQL 15 has them with `intervalstyle = iso_8601`.
    @Test(arguments: [
        ("PT0.333333333H", "PT19M59.999999S"), ("0.5000001 hours", "PT30M0.00036S"), ("0.0166666666 hours", "PT1M"),
        ("1.9999999 mins", "PT1M59.999994S"), ("PT0.9999999S", "PT1S"), ("0.1234567 sec", "PT0.123457S"), ("0.0000005 sec", "PT0S"),
        ("0.0000015 sec", "PT0.000001S"), ("-0.0000016 sec", "PT-0.000002S"), ("2.7777777 h", "PT2H46M39.99972S"),
        ("-0.333333333 h", "PT-19M-59.999999S"),
        ("0:00:01.2345678", "PT1.234568S"), ("0:0:0.0000005", "PT0S"), ("0:0:0.0000015", "PT0.000002S"), ("0:0:0.0000025", "PT0.000002S"),
        ("0:0:0.9999999", "PT1S"), ("PT0.00000000000000000001H", "PT0S"), ("PT0.99999999999999999999S", "PT1S"),
        ("1.5 h ago", "PT-1H-30M"), ("0.1 sec", "PT0.1S"), ("1.000001 sec", "PT1.000001S"),
        ("999999999999.999999 s", "PT277777777H46M39.999999S"),
    ])
    func fractionsOfIntervals(text: String, expected: String) {
        #expect(Array(text.utf8).withUnsafeBytes { IntervalText($0)?.text } == expected, "\(text)")
    }

    @Test(
        arguments: [
            ("0", "0", [0, 0, 0, 0]), ("1", "1", [1, 0, 0, 0, 1]), ("-12345.678", "-12345.678", [3, 1, 0x4000, 3, 1, 2345, 6780]),
            ("0.0001", "0.0001", [1, 0xFFFF, 0, 4, 1]), ("1e+20", "100000000000000000000", [1, 5, 0, 0, 1]),
            ("1.5e-7", "0.00000015", [1, 0xFFFE, 0, 8, 15]), ("10000", "10000", [1, 1, 0, 0, 1]),
            ("0.50", "0.50", [1, 0xFFFF, 0, 2, 5000]), ("0e999", "0", [0, 0, 0, 0]), ("-00.00e+3", "0", [0, 0, 0, 0]),
            ("0.00e-2", "0.0000", [0, 0, 0, 4]), ("12.345e2", "1234.5", [2, 0, 0, 1, 1234, 5000]), ("0.005e3", "5", [1, 0, 0, 0, 5]),
            ("12.345e-4", "0.0012345", [2, 0xFFFF, 0, 7, 12, 3450]), ("0012.5e-1", "1.25", [2, 0, 0, 2, 1, 2500]),
            ("0.005e5", "500", [1, 0, 0, 0, 500]), ("102.5e-2", "1.025", [2, 0, 0, 3, 1, 250]),
        ] as [(String, String, [Int])])
    func decimals(input: String, text: String, words: [Int]) throws {
        let decimal = try #require(DecimalNumber(input))
        #expect(decimal.text == text)
        #expect(decimal.binary == words.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] })
        #expect(decimal.binary.withUnsafeBytes { NumericCodec.text($0) } == text, "and back")
    }

    @Test(
        arguments: [
            ("42", .integer(42)), (" -7 ", .integer(-7)), ("1.50", .real(1.5)), ("100.00", .real(100)), (".5", .real(0.5)),
            ("5.", .integer(5)), ("1E+3", .integer(1000)), ("1.5e1", .integer(15)), ("1.50E1", .real(15)),
            // In doubles these would be 999999999999998976, -75704724130326096 and 9086766548538729472.
            ("9.99999999999999E+17", .integer(999_999_999_999_999_000)), ("-7.57047241303261E+16", .integer(-75_704_724_130_326_100)),
            ("9086766548538728999.", .integer(9_086_766_548_538_728_999)), ("9086766548538728999.00", .integer(9_086_766_548_538_728_999)),
            ("1e20", .text("100000000000000000000")), ("1234567890123456.50", .text("1234567890123456.50")),
            ("+1234567890123456.50", .text("1234567890123456.50")), ("-001234567890123456.5", .text("-1234567890123456.5")),
            ("00000000000000.50", .real(0.5)), ("-.123456789012345", .text("-0.123456789012345")),
            (".12345678901234", .real(0.12345678901234)),
            ("123456789012345.678E2", .text("12345678901234567.8")), ("Infinity", .real(.infinity)), (" -inf ", .real(-.infinity)),
            ("1e-400", .text("0." + String(repeating: "0", count: 399) + "1")),
            ("0." + String(repeating: "0", count: 3990) + "1", .text("0." + String(repeating: "0", count: 3990) + "1")),
        ] as [(String, StoredDecimal)])
    func storedDecimals(input: String, expected: StoredDecimal) throws {
        let stored = try Array(input.utf8).withUnsafeBytes { try StoredDecimal($0) }
        #expect(stored == expected)
    }

    @Test(
        arguments: [
            ("", .malformed), ("0x1A", .malformed), ("1.2.3", .malformed), ("1e", .malformed), ("- 1", .malformed), ("1 2", .malformed),
            (".", .malformed), ("1\0", .malformed), ("1e400", .outOfRange), ("-1e5000", .outOfRange),
            (String(repeating: "9", count: 400), .outOfRange),
        ] as [(String, NumberError)])
    func noStoredDecimals(input: String, expected: NumberError) {
        #expect(throws: expected) { try Array(input.utf8).withUnsafeBytes { try StoredDecimal($0) } }
    }

    @Test(arguments: ["", "-", ".", "1e", "1e99999", "abc", "1.2.3", "0x10", " 1", "Infinity", "NaN"])
    func noDecimals(input: String) { #expect(DecimalNumber(input) == nil) }

    /// A thousand digits on either side, wherever the point is moved to.
    @Test func digitsOfDecimals() {
        let digits = { String(repeating: "1", count: $0) }
        for text in [
            digits(1000), digits(1) + "e999", digits(2000) + "e-1000", digits(600) + "." + digits(1400) + "e400",
            "." + digits(2000) + "e1000",
        ] {
            #expect(DecimalNumber(text) != nil, "\(text)")
        }
        for text in [
            digits(1001), digits(1) + "e1000", digits(2001) + "e-1000", digits(601) + "." + digits(1400) + "e400",
            "." + digits(2001) + "e1000", "1e-1001", "0." + digits(1) + "e-1000", digits(1_000_000) + "e-1000",
        ] {
            #expect(DecimalNumber(text) == nil, "\(text.prefix(3000))")
        }
    }

    @Test func momentsBeyondAllDates() {
        for microseconds in [Int64.min, .min + 1, .max, -1 << 60, 1 << 60] {
            #expect(throws: WireError.self) { try DateTimeCodec.text(timestamp: microseconds) }
        }
    }

    /// Every day from 1 to 9999 there and back.
    @Test func calendar() throws {
        for days in stride(from: Int32(-730_119), through: 2_921_939, by: 61) {
            let text = try withUnsafeBytes(of: days.bigEndian) { try DateTimeCodec.date($0) }
            let moment = try #require(text.flatMap { text in Array(text.utf8).withUnsafeBytes { MomentText($0) } })
            #expect(moment.date == days)
        }
    }

    @Test(arguments: [
        "", "2024", "2024-13-01", "2023-02-29", "2024-2-1", "24:00", "12:60", "12:00:61", "2024-01-01x", "2024-01-01 ",
        "2024-01-01 12", "12:00+25:00", "12:00:00.", "١٢:٠٠",
    ])
    func noMoments(text: String) { #expect(Array(text.utf8).withUnsafeBytes { MomentText($0) } == nil, "\(text)") }
}
