/// Pieces of JSON (https://www.rfc-editor.org/rfc/rfc8259).
enum JSONText {
    /// Appends `text` as a string of JSON's. False: that would make the whole longer than `limit`, and there is a part of it.
    static func appendString(_ text: some Sequence<UInt8>, to result: inout [UInt8], limit: Int) -> Bool {
        result.append(UInt8(ascii: "\""))
        for byte in text {
            guard result.count < limit else { return false }
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                result.append(UInt8(ascii: "\\"))
                result.append(byte)
            case 0..<0x20: appendEscape(of: byte, to: &result)
            default: result.append(byte)
            }
        }
        result.append(UInt8(ascii: "\""))
        return true
    }

    private static func appendEscape(of control: UInt8, to result: inout [UInt8]) {
        let digits: StaticString = "0123456789abcdef"
        for byte in "\\u00".utf8 { result.append(byte) }
        result.append(digits.utf8Start[Int(control >> 4)])
        result.append(digits.utf8Start[Int(control & 15)])
    }

    /// nil for what JSON has no number for: infinity and NaN.
    static func number(_ value: Double) -> String? {
        // Swift's shortest digits that read back as the same number are a number of JSON's as well.
        value.isFinite ? "\(value)" : nil
    }
}
