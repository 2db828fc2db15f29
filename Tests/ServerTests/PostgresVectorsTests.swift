import PostgresWire
import Testing

@testable import Server

/// What a PostgreSQL 15 sends for values, as `psycopg` got it in binary and in text (SET intervalstyle = iso_8601).
@Suite struct PostgresVectorsTests {
    private func bytes(_ hex: String) -> [UInt8] {
        var result: [UInt8] = []
        var rest = hex[...]
        while !rest.isEmpty {
            result.append(UInt8(rest.prefix(2), radix: 16)!)
            rest = rest.dropFirst(2)
        }
        return result
    }

    private static let malformed = WireError(state: .invalidBinaryRepresentation, message: "malformed")

    /// The type, a text that PostgreSQL takes for the value, what it sends of it, and what SQLite stores: the same
    /// for both.
    static let values: [(type: TypeOID, text: String, binary: String, stored: String)] = [
        (.date, #"2000-01-01"#, "00000000", #"2000-01-01"#),
        (.date, #"1999-12-31"#, "ffffffff", #"1999-12-31"#),
        (.date, #"2024-02-29"#, "00002279", #"2024-02-29"#),
        (.date, #"0001-01-01"#, "fff4dbf9", #"0001-01-01"#),
        (.date, #"9999-12-31"#, "002c95d3", #"9999-12-31"#),
        (.date, #"1900-03-01"#, "ffff718f", #"1900-03-01"#),
        (.date, #"1970-01-01"#, "ffffd533", #"1970-01-01"#),
        (.time, #"00:00:00"#, "0000000000000000", #"00:00:00"#),
        (.time, #"23:59:59.999999"#, "000000141dd75fff", #"23:59:59.999999"#),
        (.time, #"01:02:03"#, "00000000dde878c0", #"01:02:03"#),
        (.time, #"12:00:00.5"#, "0000000a0ef35120", #"12:00:00.500000"#),
        (.timetz, #"00:00:00+00"#, "000000000000000000000000", #"00:00:00+00:00"#),
        (.timetz, #"23:59:59.999999-12"#, "000000141dd75fff0000a8c0", #"23:59:59.999999-12:00"#),
        (.timetz, #"01:02:03+05:30"#, "00000000dde878c0ffffb2a8", #"01:02:03+05:30"#),
        (.timetz, #"12:00:00.5-03:30"#, "0000000a0ef3512000003138", #"12:00:00.500000-03:30"#),
        (.timestamp, #"2000-01-01 00:00:00"#, "0000000000000000", #"2000-01-01 00:00:00"#),
        (.timestamp, #"1999-12-31 23:59:59.999999"#, "ffffffffffffffff", #"1999-12-31 23:59:59.999999"#),
        (.timestamp, #"0001-01-01 00:00:00"#, "ff1fe2ffc59c6000", #"0001-01-01 00:00:00"#),
        (.timestamp, #"9999-12-31 23:59:59.999999"#, "0380e70b913b7fff", #"9999-12-31 23:59:59.999999"#),
        (.timestamp, #"2024-02-29 12:34:56.789"#, "0002b58341728608", #"2024-02-29 12:34:56.789000"#),
        (.timestamp, #"1969-12-31 23:59:59"#, "fffca2fec4b8ddc0", #"1969-12-31 23:59:59"#),
        (.timestamptz, #"2000-01-01 00:00:00+00"#, "0000000000000000", #"2000-01-01 00:00:00+00:00"#),
        (.timestamptz, #"2024-02-29 12:34:56.789+05:30"#, "0002b57ea5468008", #"2024-02-29 07:04:56.789000+00:00"#),
        (.timestamptz, #"1999-12-31 23:59:59.999999-12"#, "0000000a0eebafff", #"2000-01-01 11:59:59.999999+00:00"#),
        (.timestamptz, #"2024-01-01 00:30:00+14"#, "0002b0ca84201a00", #"2023-12-31 10:30:00+00:00"#),
        (.interval, #"0"#, "00000000000000000000000000000000", #"PT0S"#),
        (.interval, #"1 second"#, "00000000000f42400000000000000000", #"PT1S"#),
        (.interval, #"-1 second"#, "fffffffffff0bdc00000000000000000", #"PT-1S"#),
        (.interval, #"1 day"#, "00000000000000000000000100000000", #"P1D"#),
        (.interval, #"1 month"#, "00000000000000000000000000000001", #"P1M"#),
        (.interval, #"1 year 2 months 3 days 04:05:06.789"#, "000000036c97ca88000000030000000e", #"P1Y2M3DT4H5M6.789S"#),
        (.interval, #"-1 day 00:00:05"#, "00000000004c4b40ffffffff00000000", #"P-1DT5S"#),
        (.interval, #"1 year -1 day"#, "0000000000000000ffffffff0000000c", #"P1Y-1D"#),
        (.interval, #"-00:00:00.5"#, "fffffffffff85ee00000000000000000", #"PT-0.5S"#),
        (.interval, #"100:00:00"#, "00000053d1ac10000000000000000000", #"PT100H"#),
        (.interval, #"-1 year -2 months"#, "000000000000000000000000fffffff2", #"P-1Y-2M"#),
        (.interval, #"2 weeks"#, "00000000000000000000000e00000000", #"P14D"#),
        (.interval, #"-04:05:06.000001"#, "fffffffc93743f7f0000000000000000", #"PT-4H-5M-6.000001S"#),
        (.interval, #"178000000 years"#, "0000000000000000000000007f50c600", #"P178000000Y"#),
        (.interval, #"3 days ago"#, "0000000000000000fffffffd00000000", #"P-3D"#),
        (.interval, #"@ 1 hour 2 mins"#, "00000000ddbab2000000000000000000", #"PT1H2M"#),
        (.uuid, #"6f1e3a52-0000-4000-8000-00000000000a"#, "6f1e3a5200004000800000000000000a", #"6f1e3a52-0000-4000-8000-00000000000a"#),
        (.uuid, #"{6F1E3A52-0000-4000-8000-00000000000A}"#, "6f1e3a5200004000800000000000000a", #"6f1e3a52-0000-4000-8000-00000000000a"#),
        (.uuid, #"6f1e3a5200004000800000000000000a"#, "6f1e3a5200004000800000000000000a", #"6f1e3a52-0000-4000-8000-00000000000a"#),
        (.uuid, #"ffffffff-ffff-ffff-ffff-ffffffffffff"#, "ffffffffffffffffffffffffffffffff", #"ffffffff-ffff-ffff-ffff-ffffffffffff"#),
        (.jsonb, #"{}"#, "017b7d", #"{}"#),
        (.jsonb, #"[1, 2]"#, "015b312c20325d", #"[1, 2]"#),
        (.jsonb, #""x""#, "01227822", #""x""#),
        (.int8Array, #"{}"#, "000000000000000000000014", #"[]"#),
        (
            .int8Array, #"{1,NULL,-9223372036854775808}"#,
            "0000000100000001000000140000000300000001000000080000000000000001ffffffff000000088000000000000000",
            #"[1,null,-9223372036854775808]"#
        ),
        (
            .textArray, #"{a,"b c","\"\\",NULL,"NULL",""}"#,
            "000000010000000100000019000000060000000100000001610000000362206300000002225cffffffff000000044e554c4c00000000",
            #"["a","b c","\"\\",null,"NULL",""]"#
        ),
        (
            .float8Array, #"{1.5,Infinity,-Infinity}"#,
            "0000000100000000000002bd0000000300000001000000083ff8000000000000000000087ff000000000000000000008fff0000000000000",
            #"[1.5,9e999,-9e999]"#
        ),
        (.boolArray, #"{t,f}"#, "000000010000000000000010000000020000000100000001010000000100", #"[true,false]"#),
        (
            .numericArray, #"{1.50,-2,NULL}"#,
            "0000000100000001000006a400000003000000010000000c0002000000000002000113880000000a00010000400000000002ffffffff",
            #"[1.50,-2,null]"#
        ),
        (
            .uuidArray, #"{6f1e3a52-0000-4000-8000-00000000000a}"#,
            "000000010000000000000b860000000100000001000000106f1e3a5200004000800000000000000a", #"["6f1e3a52-0000-4000-8000-00000000000a"]"#
        ),
        (
            .dateArray, #"{2024-02-29,1999-12-31}"#, "00000001000000000000043a0000000200000001000000040000227900000004ffffffff",
            #"["2024-02-29","1999-12-31"]"#
        ),
        (
            .timestamptzArray, #"{"2024-02-29 12:34:56+02"}"#, "0000000100000000000004a00000000100000001000000080002b581943f3400",
            #"["2024-02-29 10:34:56+00:00"]"#
        ),
        (
            .intervalArray, #"{"1 day 00:00:05"}"#, "0000000100000000000004a200000001000000010000001000000000004c4b400000000100000000",
            #"["P1DT5S"]"#
        ),
        (
            .timestampArray, #"{"2024-02-29 12:34:56.5"}"#, "00000001000000000000045a0000000100000001000000080002b583416e1d20",
            #"["2024-02-29 12:34:56.500000"]"#
        ),
    ]

    @Test(arguments: values)
    func inBinary(type: TypeOID, text: String, binary: String, stored: String) throws {
        let found = try bytes(binary).withUnsafeBytes {
            try ValueText.text(ofBinary: $0, type, "it", malformed: { Self.malformed })
        }
        #expect(found == stored, "\(type.sqlName) \(text)")
    }

    @Test(arguments: values)
    func inText(type: TypeOID, text: String, binary: String, stored: String) throws {
        let found = try Array(text.utf8).withUnsafeBytes {
            try ValueText.canonical($0, type, malformed: { Self.malformed })
        }
        // What has no form of its own is stored as it came; a time zone without minutes is PostgreSQL's alone.
        #expect(found == stored || found == nil && (type == .jsonb || type == .timetz), "\(type.sqlName) \(text)")
    }

    static let moments = values.filter { [TypeOID.date, .time, .timestamp, .timestamptz].contains($0.type) }

    /// What is stored goes out again as PostgreSQL sends it.
    @Test(arguments: moments)
    func outAgain(type: TypeOID, text: String, binary: String, stored: String) throws {
        let moment = try #require(Array(stored.utf8).withUnsafeBytes { MomentText($0) })
        let image: [UInt8]? =
            switch type {
            case .date: moment.date.map { withUnsafeBytes(of: $0.bigEndian) { Array($0) } }
            case .time: moment.time.map { withUnsafeBytes(of: $0.bigEndian) { Array($0) } }
            case .timestamp: moment.timestamp.map { withUnsafeBytes(of: $0.bigEndian) { Array($0) } }
            default: moment.timestamptz.map { withUnsafeBytes(of: $0.bigEndian) { Array($0) } }
            }
        #expect(image == bytes(binary), "\(type.sqlName) \(stored)")
    }

    @Test(arguments: [
        ("0", "0000000000000000", "0"),
        ("0.00", "0000000000000002", "0.00"),
        ("1", "00010000000000000001", "1"),
        ("-1", "00010000400000000001", "-1"),
        ("9999", "0001000000000000270f", "9999"),
        ("10000", "00010001000000000001", "10000"),
        ("-12345.678", "0003000140000003000109291a7c", "-12345.678"),
        ("0.0001", "0001ffff000000040001", "0.0001"),
        ("0.00001", "0001fffe0000000503e8", "0.00001"),
        ("1e20", "00010005000000000001", "100000000000000000000"),
        ("1.5e-7", "0001fffe00000008000f", "0.00000015"),
        ("12345678901234567890.0123456789", "000800040000000a04d2162e23340d801ed2007b11d722c4", "12345678901234567890.0123456789"),
        ("0.50", "0001ffff000000021388", "0.50"),
        ("99999999", "0002000100000000270f270f", "99999999"),
        ("-0.5", "0001ffff400000011388", "-0.5"),
        (
            "1000000000000000000000.000000000000000001", "000b000500000012000a0000000000000000000000000000000000000064",
            "1000000000000000000000.000000000000000001"
        ),
        ("NaN", "00000000c0000000", "NaN"),
        ("Infinity", "00000000d0000020", "Infinity"),
        ("-Infinity", "00000000f0000020", "-Infinity"),
        ("9223372036854775808", "0005000400000000039a0d2c0170156516b0", "9223372036854775808"),
    ])
    func numerics(text: String, binary: String, shown: String) throws {
        #expect(bytes(binary).withUnsafeBytes { NumericCodec.text($0) } == shown)
        guard let decimal = DecimalNumber(text) else {
            #expect(shown == "NaN" || shown.hasSuffix("Infinity"))
            return
        }
        #expect(decimal.text == shown)
        #expect(decimal.binary == bytes(binary))
    }

    @Test(arguments: [
        ("0000000000000000", "0"),
        ("8000000000000000", "-0"),
        ("3ff0000000000000", "1"),
        ("3ff8000000000000", "1.5"),
        ("7e37e43c8800759c", "1e+300"),
        ("81a56e1fc2f8f359", "-1e-300"),
        ("0000000000000001", "5e-324"),
        ("7fefffffffffffff", "1.7976931348623157e+308"),
        ("3fb999999999999a", "0.1"),
        ("437b69b4ba630f35", "1.2345678901234568e+17"),
        ("430c6bf526340000", "1e+15"),
        ("4341c37937e08000", "1e+16"),
        ("4376345785d8a000", "1e+17"),
        ("7ff0000000000000", "Infinity"),
        ("fff0000000000000", "-Infinity"),
    ])
    func doubles(binary: String, shown: String) throws {
        let image = bytes(binary)
        let value = try #require(image.withUnsafeBytes { BinaryCodec.double($0) })
        let read = try #require(Array(shown.utf8).withUnsafeBytes { TextCodec.parseDouble($0) })
        #expect(read.bitPattern == value.bitPattern)
        // Other digits may be shown, but they are the same number: clients read both.
        let out = OutputBuffer()
        let mark = out.beginDataRow(columns: 1)
        out.fieldDoubleText(value)
        _ = out.endDataRow(mark)
        let text = Array(out.readable)[11...]
        let again = try #require(Array(text).withUnsafeBytes { TextCodec.parseDouble($0) })
        #expect(again.bitPattern == value.bitPattern, "\(String(decoding: text, as: UTF8.self))")
    }
}
