/// Integers as decimal digits, two at a time: half the divisions of the obvious loop.
enum DecimalText {
    /// "-9223372036854775808"
    static let maximumLength = 20

    /// Writes the digits and returns how many bytes they are.
    static func write(_ value: Int64, to output: UnsafeMutableRawPointer) -> Int {
        // `magnitude`, because the smallest Int64 has no positive counterpart.
        var rest = value.magnitude
        let length = digitCount(rest) + (value < 0 ? 1 : 0)
        let bytes = output.assumingMemoryBound(to: UInt8.self)
        var place = length
        while rest >= 100 {
            let (quotient, pair) = rest.quotientAndRemainder(dividingBy: 100)
            place -= 2
            store(Int(pair), to: bytes + place)
            rest = quotient
        }
        if rest >= 10 {
            store(Int(rest), to: bytes + (place - 2))
        } else {
            bytes[place - 1] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest)
        }
        if value < 0 { bytes[0] = UInt8(ascii: "-") }
        return length
    }

    @inline(__always)
    private static func store(_ pair: Int, to output: UnsafeMutablePointer<UInt8>) {
        let pairs: StaticString = """
            00010203040506070809101112131415161718192021222324252627282930313233343536373839\
            40414243444546474849505152535455565758596061626364656667686970717273747576777879\
            8081828384858687888990919293949596979899
            """
        output[0] = pairs.utf8Start[2 * pair]
        output[1] = pairs.utf8Start[2 * pair + 1]
    }

    @inline(__always)
    private static func digitCount(_ value: UInt64) -> Int {
        var count = 1
        var rest = value
        while rest >= 10_000 {
            rest /= 10_000
            count += 4
        }
        return rest >= 1000 ? count + 3 : rest >= 100 ? count + 2 : rest >= 10 ? count + 1 : count
    }
}

/// Doubles as the standard library prints them, without the String it would put them into.
///
/// `Double.write(to:)` hands its digits to the stream's `_writeASCII` directly from its own stack. Should that hook
/// ever go, `write(_:)` receives a String instead: slower, but the same bytes.
enum DoubleText {
    /// "-2.2250738585072014e-308" is 24; the rest is caution.
    static let maximumLength = 32

    static func write(_ value: Double, to output: UnsafeMutableRawPointer) -> Int {
        var sink = Sink(output: output)
        value.write(to: &sink)
        return sink.count
    }

    private struct Sink: TextOutputStream {
        let output: UnsafeMutableRawPointer
        var count = 0

        mutating func _writeASCII(_ buffer: UnsafeBufferPointer<UInt8>) {
            put(UnsafeRawBufferPointer(buffer))
        }

        mutating func write(_ string: String) {
            var string = string
            string.withUTF8 { put(UnsafeRawBufferPointer($0)) }
        }

        private mutating func put(_ bytes: UnsafeRawBufferPointer) {
            guard let source = bytes.baseAddress else { return }
            precondition(bytes.count <= DoubleText.maximumLength - count, "a double longer than any double is")
            (output + count).copyMemory(from: source, byteCount: bytes.count)
            count += bytes.count
        }
    }
}
