import PostgresWire
import Testing

@testable import Server

/// What comes of data, however it is cut into pieces.
@Suite struct CopyDecoderTests {
    /// The rows as text, `-` for NULL, fields joined by `|`; or the error with its context.
    private static func outcome(
        _ pieces: [ArraySlice<UInt8>], _ options: String, _ types: [String], looksAlways: Bool = true
    ) throws -> String {
        let statement = try onBytes("COPY t FROM STDIN \(options)") { try CopyStatement.parse($0) }
        let columns = types.enumerated().map { CopyColumn(name: "c\($0 + 1)", declared: $1) }
        let decoder = CopyDecoder(table: "t", columns: columns, options: try CopyOptions(statement))
        let rows = CopyRows()
        var result: [String] = []
        do throws(WireError) {
            for piece in pieces {
                // The bytes of a piece go away, as those of a message do.
                try append(piece, to: rows)
                if looksAlways { decoder.wanted = 1 }
                try decoder.decode(rows, isLast: false)
                take(rows, &result, columns.count)
            }
            repeat {
                try decoder.decode(rows, isLast: true)
                take(rows, &result, columns.count)
            } while !decoder.hasEnded || rows.undecoded > 0
            return result.joined(separator: "\n")
        } catch {
            return "\(error.state.code) \(error.message) [\(error.context ?? "")]"
        }
    }

    private static func append(_ piece: ArraySlice<UInt8>, to rows: CopyRows) throws(WireError) {
        var failure: WireError?
        Array(piece).withUnsafeBytes { bytes in
            do throws(WireError) { try rows.append(bytes) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    private static func take(_ rows: CopyRows, _ result: inout [String], _ columns: Int) {
        for row in 0..<rows.rows {
            let fields = rows.values[(row * columns)..<((row + 1) * columns)].map { value in
                switch value.kind {
                case .null: "-"
                case .integer: "i\(value.bits)"
                case .real: "r\(Double(bitPattern: UInt64(bitPattern: value.bits)))"
                case .text: String(decoding: rows.bytes(value), as: UTF8.self)
                case .made: ""
                case .blob: "b" + rows.bytes(value).map { String($0, radix: 16) }.joined(separator: ".")
                }
            }
            result.append(fields.joined(separator: "|"))
        }
        rows.removeRows()
    }

    /// Cut at every one and every two places, the outcome is the same.
    private func check(_ data: [UInt8], _ options: String, _ types: [String], _ expected: String) throws {
        #expect(try Self.outcome([data[...]], options, types) == expected)
        for first in 0...data.count {
            for second in first...data.count {
                let pieces = [data[..<first], data[first..<second], data[second...]]
                let found = try Self.outcome(pieces, options, types)
                if found != expected {
                    Issue.record("cut at \(first) and \(second): \(found)")
                    return
                }
            }
        }
        // And byte by byte, looked at when that is worth it.
        #expect(try Self.outcome(data.indices.map { data[$0...$0] }, options, types, looksAlways: false) == expected)
    }

    @Test(arguments: [
        ("", ""), ("\n", ""), ("a\nb\n", "a\nb"), ("a\nb", "a\nb"), ("a\r\nb\r\n", "a\nb"), ("a\rb\r", "a\nb"), ("a\rb", "a\nb"),
        ("\\N\n\\\\N\nN\n", "-\n\\N\nN"), ("\\b\\f\\n\\r\\t\\v\n", "\u{8}\u{c}\n\r\t\u{b}"), ("\\101\\x42\\x4\\7!\n", "AB\u{4}\u{7}!"),
        ("\\q\\xg\\8\n", "qxg8"), ("a\\\nb\n", "a\nb"), ("a\\\r\nb\n", "a\r\nb"), ("é\\é🐘\n", "éé🐘"), ("\\303\\251\n", "é"), ("x\\", "x"),
        ("\\", ""), ("x\\\\", "x\\"),
        ("a\n\\.\n", "a"), ("a\n\\.", "a"), ("a\r\n\\.\r\nwhat\tever\0", "a"), ("\\.\n\\x\n", ""),
        ("a\n\\.b\n", "22P04 end-of-copy marker corrupt [COPY t, line 2]"),
        ("a\\.\n", "22P04 end-of-copy marker is not alone on its line [COPY t, line 1]"),
        ("a\n\r\n", "22P04 literal carriage return found in data [COPY t, line 2]"),
        ("a\r\nb\n", "22P04 literal newline found in data [COPY t, line 2]"),
        ("a\r\nb\rc\r\n", "22P04 literal carriage return found in data [COPY t, line 2]"),
        ("a\rb\n", "22P04 literal newline found in data [COPY t, line 2]"),
        ("a\tb\n", "22P04 extra data after last expected column [COPY t, line 1]"),
        ("a\nb\0c\n", "22021 invalid byte sequence for encoding \"UTF8\": 0x00 [COPY t, line 2]"),
        ("\\0\n", "22021 invalid byte sequence for encoding \"UTF8\": 0x00 in COPY [COPY t, line 1, column c1]"),
        ("\\377\n", "22021 invalid byte sequence for encoding \"UTF8\" in COPY [COPY t, line 1, column c1]"),
        ("eight by\nsixteen bytes...\nseventeen bytes..\n", "eight by\nsixteen bytes...\nseventeen bytes.."),
    ])
    func text(data: String, expected: String) throws {
        try check(Array(data.utf8), "", ["TEXT"], expected)
    }

    @Test(arguments: [
        ("1\t-2.5\tt\t\\\\x00ff\n", "i1|r-2.5|i1|b0.ff"), ("\\N\t\\N\t\\N\t\\N\n", "-|-|-|-"),
        (" 7 \t1e3\toff\ta\\\\\\\\\n", "i7|r1000.0|i0|b61.5c"),
        ("\\x31\t2\tyes\t\n", "i1|r2.0|i1|b"), ("-9223372036854775808\tinf\t1\t\n", "i-9223372036854775808|rinf|i1|b"),
        ("1\t2\tt\n", "22P04 missing data for column \"c4\" [COPY t, line 1]"),
        ("1\t2\tt\t\t\n", "22P04 extra data after last expected column [COPY t, line 1]"),
        ("\t2\tt\t\n", "22P02 invalid input syntax for type bigint: \"\" [COPY t, line 1, column c1: \"\"]"),
        ("-\t2\tt\t\n", "22P02 invalid input syntax for type bigint: \"-\" [COPY t, line 1, column c1: \"-\"]"),
        ("1.0\t2\tt\t\n", "22P02 invalid input syntax for type bigint: \"1.0\" [COPY t, line 1, column c1: \"1.0\"]"),
        (
            "9223372036854775808\t2\tt\t\n",
            "22003 value \"9223372036854775808\" is out of range for type bigint [COPY t, line 1, column c1: \"9223372036854775808\"]"
        ),
        ("1\t1,5\tt\t\n", "22P02 invalid input syntax for type double precision: \"1,5\" [COPY t, line 1, column c2: \"1,5\"]"),
        ("1\tNaN\tt\t\n", "22003 NaN cannot be stored in SQLite [COPY t, line 1, column c2: \"NaN\"]"),
        ("1\t1\t2\t\n", "22P02 invalid input syntax for type boolean: \"2\" [COPY t, line 1, column c3: \"2\"]"),
        ("1\t1\tt\t\\\\x0\n", "22P02 invalid input syntax for type bytea: \"\\x0\" [COPY t, line 1, column c4: \"\\x0\"]"),
    ])
    func types(data: String, expected: String) throws {
        try check(Array(data.utf8), "", ["INTEGER", "REAL", "BOOLEAN", "BLOB"], expected)
    }

    @Test(arguments: [
        ("CSV", "a,b\n", "a|b"), ("CSV", "a,\n,b\n", "a|-\n-|b"), ("CSV", "\"\",\" x\"\n", "| x"),
        ("CSV", "\"a,b\",\"c\"\"d\"\n", "a,b|c\"d"),
        ("CSV", "a\"b,\"c,d\n", "ab,c|d"), ("CSV", "a\n", "22P04 missing data for column \"c2\" [COPY t, line 1]"),
        ("CSV", "a\"b,\"\"c\"d,e\"f\"\"g\"\n", "ab,\"cd|ef\"g"),
        ("CSV", "\"a\nb\",\"c\r\nd\"\r\nx,y\r\n", "a\nb|c\r\nd\nx|y"), ("CSV", "é,\"é\"\"🐘\"\n", "é|é\"🐘"), ("CSV", "a,b", "a|b"),
        ("CSV", "a,\"b\"", "a|b"),
        ("CSV", "a,\"b", "22P04 unterminated CSV quoted field [COPY t, line 1]"),
        ("CSV", "a,\"b\n\n\"\nx\n", "22P04 missing data for column \"c2\" [COPY t, line 4]"),
        ("CSV", "a,b\n\\.\nc", "a|b"), ("CSV", "\\.,b\n\\.x,c\n", "\\.|b\n\\.x|c"), ("CSV", "\\N,\\x\n", "\\N|\\x"),
        ("CSV", "a,b\rc\n", "22P04 unquoted newline found in data [COPY t, line 2]"),
        ("CSV", "a,b\nc\rd\n", "22P04 unquoted carriage return found in data [COPY t, line 2]"),
        ("CSV NULL 'nil'", "nil,\"nil\"\n,x\n", "-|nil\n|x"),
        ("CSV DELIMITER ';' QUOTE '''' ESCAPE '\\'", "'a\\'b\\\\c\\d';\"x\"\n", "a'b\\c\\d|\"x\""),
        ("(FORMAT csv, FORCE_NULL *, NULL 'x')", "x,\"x\"\ny,\"\"\n", "-|-\ny|"),
        ("(FORMAT csv, FORCE_NOT_NULL (c2))", ",\n,\"\"\n", "-|\n-|"),
        ("CSV HEADER", "any,\"th\ni\"\"ng\",\"more\"\na,b\n", "a|b"), ("(FORMAT csv, HEADER match)", "c1,\"c2\"\na,b\n", "a|b"),
        (
            "(FORMAT csv, HEADER match)", "c1,c3\n",
            "22P04 column name mismatch in header line field 2: got \"c3\", expected \"c2\" [COPY t, line 1]"
        ),
        ("(FORMAT csv, HEADER match)", "c1\n", "22P04 wrong number of fields in header line: got 1, expected 2 [COPY t, line 1]"),
        ("(FORMAT csv, HEADER match)", "", "22P04 wrong number of fields in header line: got 1, expected 2 [COPY t, line 1]"),
        ("(FORMAT csv, HEADER match)", "\\.\n", "22P04 wrong number of fields in header line: got 1, expected 2 [COPY t, line 1]"),
        ("(HEADER match)", "", "22P04 wrong number of fields in header line: got 1, expected 2 [COPY t, line 1]"),
        // PostgreSQL wants a line end behind the mark.
        ("CSV", "a,b\n\\.", "22P04 missing data for column \"c2\" [COPY t, line 2]"), ("CSV", "a,b\n\\.\r", "a|b"),
        ("HEADER", "x\na\tb\n", "a|b"), ("(HEADER true)", "x\na\tb\n", "a|b"),
        ("(HEADER, DELIMITER '|', NULL '')", "c1\na||b\n", "22P04 extra data after last expected column [COPY t, line 2]"),
        ("(DELIMITER '|', NULL '')", "a|\n\\N|\\|\n", "a|-\nN||"),
    ])
    func csv(options: String, data: String, expected: String) throws {
        try check(Array(data.utf8), options, ["TEXT", "TEXT"], expected)
    }

    @Test func binary() throws {
        let header = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0, 0, 0, 0, 0, 0, 0, 0, 2, 9, 9]
        let row: [UInt8] = [0, 3, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 1, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 2, 0xC3, 0xA9]
        let types = ["INTEGER", "BLOB", "TEXT"]
        for trailer in [[], [0xFF, 0xFF]] as [[UInt8]] {
            try check(header + row + row + trailer, "(FORMAT binary)", types, "i256|-|é\ni256|-|é")
        }
        try check(header + row + row.dropLast(), "(FORMAT binary)", types, "22P04 unexpected EOF in COPY data [COPY t, line 2]")
        try check(header + [0xFF, 0xFF, 1], "(FORMAT binary)", types, "22P04 received copy data after EOF marker []")
        try check(
            header + row + [0, 3, 0, 0, 0, 4, 0, 0, 0, 1] + Array(repeating: 0xFF, count: 8), "(FORMAT binary)", types,
            "22P03 incorrect binary data format [COPY t, line 2, column c1]")
        try check([], "(FORMAT binary)", types, "22P04 invalid COPY file header (missing flags) [COPY t, line 1]")
    }

    /// However small the pieces, a row is read again only when as much has come as was there.
    @Test func longRowsInSmallPieces() throws {
        let columns = [CopyColumn(name: "v", declared: "TEXT")]
        let statement = try onBytes("COPY t FROM STDIN CSV") { try CopyStatement.parse($0) }
        let decoder = CopyDecoder(table: "t", columns: columns, options: try CopyOptions(statement))
        let rows = CopyRows()
        var looks = 0
        let piece = [UInt8](repeating: UInt8(ascii: "\""), count: 1000)
        for _ in 0..<4000 {
            try Self.append(piece[...], to: rows)
            let wanted = decoder.wanted
            try decoder.decode(rows, isLast: false)
            if decoder.wanted != wanted { looks += 1 }
        }
        #expect(rows.undecoded == 4_000_000)
        #expect(looks < 10)
    }

    @Test func stopsWhereItIsToldTo() throws {
        let statement = try onBytes("COPY t FROM STDIN") { try CopyStatement.parse($0) }
        let decoder = CopyDecoder(
            table: "t", columns: [CopyColumn(name: "n", declared: "INT")], options: try CopyOptions(statement))
        let rows = CopyRows()
        let data = (1...CopyLimits.bufferedValues + 10).map { "\($0)\n" }.joined()
        try Self.append(Array(data.utf8)[...], to: rows)
        try decoder.decode(rows, limit: 3, isLast: false)
        #expect(rows.rows == 3)
        try decoder.decode(rows, isLast: false)
        #expect(rows.isFull && rows.rows == CopyLimits.bufferedValues)
        rows.removeRows()
        try decoder.decode(rows, isLast: true)
        #expect(rows.rows == 10 && rows.lines.last == CopyLimits.bufferedValues + 10)
        #expect(rows.values.last?.bits == Int64(CopyLimits.bufferedValues + 10))
    }
}
