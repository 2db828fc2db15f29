/// What stands behind a backslash in a string of JSON's: https://www.rfc-editor.org/rfc/rfc8259#section-7
public enum JSONEscape {
    /// - Parameter index: of what is behind the backslash; then of what is behind the escape.
    public static func read(_ bytes: [UInt8], _ index: inout Int) -> String {
        bytes.withUnsafeBytes { read($0, &index) }
    }

    static func read(_ bytes: UnsafeRawBufferPointer, _ index: inout Int) -> String {
        guard index < bytes.count else { return "" }
        let letter = bytes[index]
        index += 1
        switch letter {
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return scalar(bytes, &index)
        default: return String(decoding: [letter], as: UTF8.self)
        }
    }

    /// A character outside of the first 65,536 is written as the two halves that UTF-16 has of it; half of one is no character.
    private static func scalar(_ bytes: UnsafeRawBufferPointer, _ index: inout Int) -> String {
        guard let first = unit(bytes, &index) else { return "\u{FFFD}" }
        guard UTF16.isLeadSurrogate(first) else { return String(decoding: [first], as: UTF16.self) }
        var next = index
        guard next + 1 < bytes.count, bytes[next] == UInt8(ascii: "\\"), bytes[next + 1] == UInt8(ascii: "u") else { return "\u{FFFD}" }
        next += 2
        guard let second = unit(bytes, &next), UTF16.isTrailSurrogate(second) else { return "\u{FFFD}" }
        index = next
        return String(decoding: [first, second], as: UTF16.self)
    }

    /// Four digits; nil, and the index where it was, when there are not as many.
    private static func unit(_ bytes: UnsafeRawBufferPointer, _ index: inout Int) -> UInt16? {
        guard index + 4 <= bytes.count else { return nil }
        guard let unit = UInt16(String(decoding: bytes[index..<(index + 4)], as: UTF8.self), radix: 16) else { return nil }
        index += 4
        return unit
    }
}
