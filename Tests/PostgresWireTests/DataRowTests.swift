import TestSupport
import Testing

@testable import PostgresWire

@Suite struct DataRowTests {
    /// The text of a field, its length word checked.
    static func text(_ encode: (OutputBuffer) -> Void) -> String {
        let bytes = encoded(encode)
        #expect(Array(bytes.prefix(4)) == Part.i32(bytes.count - 4).bytes)
        return String(decoding: bytes.dropFirst(4), as: UTF8.self)
    }

    @Test func row() {
        let row = encoded { buffer in
            let mark = buffer.beginDataRow(columns: 4)
            buffer.fieldNull()
            withRaw("héllo") { buffer.fieldText($0) }
            buffer.fieldText(UnsafeRawBufferPointer(start: nil, count: 0))
            buffer.fieldIntegerText(-42)
            #expect(buffer.endDataRow(mark))
        }
        #expect(
            row == message("D", .i16(4), .i32(-1), .i32(6), .text("héllo"), .i32(0), .i32(3), .text("-42")))
    }

    @Test func binaryFields() {
        #expect(encoded { $0.fieldBinary(Int16(-2)) } == body(.i32(2), .i16(-2)))
        #expect(encoded { $0.fieldBinary(Int32.min) } == body(.i32(4), .raw([0x80, 0, 0, 0])))
        #expect(encoded { $0.fieldBinary(Int64.max) } == body(.i32(8), .raw([0x7F, 255, 255, 255, 255, 255, 255, 255])))
        #expect(encoded { $0.fieldBinary(1.0 as Double) } == body(.i32(8), .raw([0x3F, 0xF0, 0, 0, 0, 0, 0, 0])))
        #expect(encoded { $0.fieldBinary(1.0 as Float) } == body(.i32(4), .raw([0x3F, 0x80, 0, 0])))
        #expect(encoded { $0.fieldBoolBinary(true) } == body(.i32(1), .i8(1)))
        #expect(encoded { $0.fieldBoolBinary(false) } == body(.i32(1), .i8(0)))
        #expect(encoded { $0.append64(1) } == [0, 0, 0, 0, 0, 0, 0, 1])
    }

    @Test func integersAsText() {
        var values: [Int64] = [0, 1, -1, 9, 10, 99, 100, -100, .max, .min, .max - 1, .min + 1]
        var power: Int64 = 1
        for _ in 0..<18 {
            power *= 10
            values += [power - 1, power, power + 1, -power]
        }
        var generator = SeededGenerator(state: 1)
        for _ in 0..<20_000 {
            values.append(Int64(truncatingIfNeeded: generator.next()) >> Int64(generator.next() % 64))
        }
        for value in values {
            let text = Self.text { $0.fieldIntegerText(value) }
            #expect(text == String(value))
            #expect(withRaw(text, TextCodec.parseInt) == value)
        }
    }

    @Test(arguments: [
        (1.0, "1.0"), (-0.0, "-0.0"), (0.1 + 0.2, "0.30000000000000004"), (1e20, "1e+20"), (-1.5, "-1.5"),
        (.nan, "NaN"), (.infinity, "Infinity"), (-.infinity, "-Infinity"), (-.leastNormalMagnitude, "-2.2250738585072014e-308"),
        (.greatestFiniteMagnitude, "1.7976931348623157e+308"), (.leastNonzeroMagnitude, "5e-324"), (123_456_789.125, "123456789.125"),
    ])
    func doublesAsText(_ value: Double, _ expected: String) {
        #expect(Self.text { $0.fieldDoubleText(value) } == expected)
    }

    @Test func doublesRoundTrip() {
        var generator = SeededGenerator(state: 2)
        for round in 0..<20_000 {
            let bits = generator.next()
            let value = round % 2 == 0 ? Double(bitPattern: bits) : Double(Int64(truncatingIfNeeded: bits) >> 20) / 1000
            guard value.isFinite else { continue }
            let text = Self.text { $0.fieldDoubleText(value) }
            #expect(withRaw(text, TextCodec.parseDouble)?.bitPattern == value.bitPattern)
            let binary = encoded { $0.fieldBinary(value) }
            #expect(withRaw(Array(binary.dropFirst(4)), BinaryCodec.double)?.bitPattern == value.bitPattern)
        }
    }

    @Test func boolsAndBytea() {
        #expect(Self.text { $0.fieldBoolText(true) } == "t")
        #expect(Self.text { $0.fieldBoolText(false) } == "f")
        #expect(Self.text { buffer in withRaw([]) { buffer.fieldByteaText($0) } } == "\\x")
        #expect(Self.text { buffer in withRaw([0, 0x7F, 0xAB, 0xFF]) { buffer.fieldByteaText($0) } } == "\\x007fabff")
    }
}
