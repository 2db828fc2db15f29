/// Pieces of JSON (https://www.rfc-editor.org/rfc/rfc8259).
enum JSONText {
    /// Appends `text` as a string of JSON's.
    static func appendString(_ text: some Sequence<UInt8>, to result: inout [UInt8]) {
        result.append(UInt8(ascii: "\""))
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): result += [UInt8(ascii: "\\"), byte]
            case 0..<0x20: result += "\\u00".utf8 + digits(byte)
            default: result.append(byte)
            }
        }
        result.append(UInt8(ascii: "\""))
    }

    private static func digits(_ byte: UInt8) -> [UInt8] {
        let digits = String(byte, radix: 16)
        return Array((digits.utf8.count == 1 ? "0" + digits : digits).utf8)
    }

    /// nil for what JSON has no number for: infinity and NaN.
    static func number(_ value: Double) -> String? {
        // Swift's shortest digits that read back as the same number are a number of JSON's as well.
        value.isFinite ? "\(value)" : nil
    }
}
