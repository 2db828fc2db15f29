/// "A UUID is written as a sequence of lower-case hexadecimal digits, in several groups separated by hyphens"
/// (https://www.postgresql.org/docs/current/datatype-uuid.html); in binary it is its 16 bytes.
enum UUIDCodec {
    /// nil when there are not 16 bytes.
    static func text(_ bytes: UnsafeRawBufferPointer) -> String? {
        guard bytes.count == 16 else { return nil }
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for (index, byte) in bytes.enumerated() {
            if index == 4 || index == 6 || index == 8 || index == 10 { text.append(UInt8(ascii: "-")) }
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// "PostgreSQL also accepts the following alternative forms for input: use of upper-case digits, the standard format
    /// surrounded by braces, omitting some or all hyphens, adding a hyphen after any group of four digits." nil when
    /// it is none.
    static func bytes(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        var rest = text[...]
        if rest.first == UInt8(ascii: "{") {
            guard rest.last == UInt8(ascii: "}"), rest.count > 2 else { return nil }
            rest = rest.dropFirst().dropLast()
        }
        var nibbles: [UInt8] = []
        var hyphenMayCome = false
        for byte in rest {
            if byte == UInt8(ascii: "-") {
                guard hyphenMayCome else { return nil }
                hyphenMayCome = false
                continue
            }
            guard let nibble = Character(UnicodeScalar(byte)).hexDigitValue, nibbles.count < 32 else { return nil }
            nibbles.append(UInt8(nibble))
            hyphenMayCome = nibbles.count % 4 == 0 && nibbles.count < 32
        }
        guard nibbles.count == 32, rest.last != UInt8(ascii: "-") else { return nil }
        return stride(from: 0, to: 32, by: 2).map { nibbles[$0] << 4 | nibbles[$0 + 1] }
    }

    static func canonical(_ input: UnsafeRawBufferPointer) -> String? {
        bytes(input).flatMap { $0.withUnsafeBytes { text($0) } }
    }
}
