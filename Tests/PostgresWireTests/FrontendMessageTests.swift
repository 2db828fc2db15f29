import Testing

@testable import PostgresWire

@Suite struct FrontendMessageTests {
    /// The SQLSTATE with which a body is refused, or nil.
    static func refusal(_ bytes: [UInt8], _ decode: (UnsafeRawBufferPointer) throws(WireError) -> Void) -> String? {
        withRaw(bytes) { body in
            do throws(WireError) {
                try decode(body)
                return nil
            } catch {
                #expect(error.severity == .error)
                return error.state.code
            }
        }
    }

    static func bindRefusal(_ parts: Part...) -> String? {
        refusal(parts.flatMap(\.bytes)) { body throws(WireError) in _ = try BindMessage(body: body) }
    }

    @Test func parse() throws {
        try withRaw(body(.cString("s"), .cString("SELECT $1"), .i16(2), .i32(20), .i32(-1))) { body in
            let parse = try ParseMessage(body: body)
            #expect(string(parse.name) == "s")
            #expect(string(parse.sql) == "SELECT $1")
            #expect(parse.parameterTypes == [.int8, TypeOID(rawValue: .max)])
        }
    }

    @Test func bind() throws {
        let bytes = body(
            .cString("p"), .cString("s"), .i16(3), .i16(0), .i16(1), .i16(0), .i16(3),
            .i32(2), .text("42"), .i32(-1), .i32(0), .i16(2), .i16(1), .i16(0))
        try withRaw(bytes) { body in
            let bind = try BindMessage(body: body)
            #expect(string(bind.portal) == "p")
            #expect(string(bind.statement) == "s")
            #expect(bind.parameterCount == 3)
            #expect(bind.resultFormatCount == 2)
            #expect([0, 1, 2, -1].map { bind.resultFormat(column: $0) } == [.binary, .text, .text, .text])
            var seen: [String] = []
            for parameter in bind.parameters {
                seen.append("\(parameter.format) \(parameter.bytes.map(string) ?? "NULL")")
                #expect(parameter.bytes == nil || parameter.bytes?.baseAddress != nil)
            }
            #expect(seen == ["text 42", "binary NULL", "text "])
        }
    }

    @Test func oneFormatIsForAll() throws {
        try withRaw(body(.cString(""), .cString(""), .i16(1), .i16(1), .i16(2), .i32(-1), .i32(-1), .i16(1), .i16(1))) { body in
            let bind = try BindMessage(body: body)
            #expect(bind.parameters.map(\.format) == [.binary, .binary])
            #expect(bind.resultFormat(column: 500) == .binary)
        }
        try withRaw(body(.cString(""), .cString(""), .i16(0), .i16(1), .i32(-1), .i16(0))) { body in
            let bind = try BindMessage(body: body)
            #expect(bind.parameters.map(\.format) == [.text])
            #expect(bind.resultFormat(column: 0) == .text)
        }
    }

    @Test func asManyParametersAsTheCountCanSay() throws {
        let nulls = [UInt8](repeating: 0xFF, count: 4 * 65_535)
        try withRaw(body(.cString(""), .cString(""), .i16(0), .i16(65_535), .raw(nulls), .i16(0))) { body in
            let bind = try BindMessage(body: body)
            #expect(bind.parameterCount == 65_535)
            #expect(bind.parameters.allSatisfy { $0.bytes == nil })
        }
    }

    @Test func badBinds() {
        let names = Part.raw([0, 0])
        #expect(Self.bindRefusal(names, .i16(2), .i16(0), .i16(0), .i16(1), .i32(-1), .i16(0)) == "08P01")
        #expect(Self.bindRefusal(names, .i16(2), .i16(0), .i16(0), .i16(3), .i32(-1), .i32(-1), .i32(-1), .i16(0)) == "08P01")
        #expect(Self.bindRefusal(names, .i16(1), .i16(2), .i16(1), .i32(-1), .i16(0)) == "22023")
        #expect(Self.bindRefusal(names, .i16(0), .i16(0), .i16(1), .i16(-1)) == "22023")
        // Parameter lengths: CVE-2026-4427 and its kind.
        for length in [-2, Int(Int32.min), 5, Int(Int32.max)] {
            #expect(Self.bindRefusal(names, .i16(0), .i16(1), .i32(length), .text("12"), .i16(0)) == "08P01")
        }
        // Counts larger than the body.
        #expect(Self.bindRefusal(names, .i16(65_535)) == "08P01")
        #expect(Self.bindRefusal(names, .i16(0), .i16(65_535), .i32(-1)) == "08P01")
        #expect(Self.bindRefusal(names, .i16(0), .i16(0), .i16(65_535), .i16(0)) == "08P01")
        #expect(Self.bindRefusal(names, .i16(0), .i16(0), .i16(0), .i8(0)) == "08P01")
    }

    @Test func describeCloseExecute() throws {
        try withRaw(body(.text("P"), .cString("p"))) { body in
            let describe = try DescribeMessage(body: body)
            let close = try CloseMessage(body: body)
            #expect(describe.kind == .portal && close.kind == .portal)
            #expect(string(describe.name) == "p" && string(close.name) == "p")
        }
        for kind in UInt8.min...UInt8.max where kind != UInt8(ascii: "S") && kind != UInt8(ascii: "P") {
            let bytes = body(.i8(kind), .cString("x"))
            #expect(Self.refusal(bytes) { body throws(WireError) in _ = try DescribeMessage(body: body) } == "08P01")
            #expect(Self.refusal(bytes) { body throws(WireError) in _ = try CloseMessage(body: body) } == "08P01")
        }
        for rows in [0, 1, -1, Int(Int32.min), Int(Int32.max)] {
            try withRaw(body(.cString(""), .i32(rows))) { body in
                let execute = try ExecuteMessage(body: body)
                #expect(execute.maxRows == rows)
            }
        }
    }

    /// No prefix of a body is a body, and neither is a body with one byte more.
    @Test func cutAndTrailingBytes() {
        for valid in validMessages
        where ![
            UInt8(ascii: "d"), UInt8(ascii: "S"), UInt8(ascii: "H"),
            UInt8(ascii: "X"), UInt8(ascii: "c"),
        ].contains(valid[0]) {
            let body = Array(valid.dropFirst(5))
            for cut in 0..<body.count { #expect(!withRaw(Array(body.prefix(cut))) { decode(type: valid[0], $0) }) }
            #expect(withRaw(body) { decode(type: valid[0], $0) })
            #expect(!withRaw(body + [0]) { decode(type: valid[0], $0) })
        }
    }
}
