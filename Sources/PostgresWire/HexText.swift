/// Bytes as hexadecimal digits, two for each: "2 hexadecimal digits per byte, most significant nibble first",
/// https://www.postgresql.org/docs/current/datatype-binary.html
enum HexText {
    @inline(__always)
    static func write(_ bytes: UnsafeRawBufferPointer, to output: UnsafeMutableRawPointer) {
        let digits: StaticString = "0123456789abcdef"
        let digit = digits.utf8Start
        var output = output.assumingMemoryBound(to: UInt8.self)
        for byte in bytes {
            output[0] = digit[Int(byte >> 4)]
            output[1] = digit[Int(byte & 15)]
            output += 2
        }
    }
}
