// https://www.postgresql.org/docs/current/datatype-binary.html
extension TextCodec {
    /// Bytes in the hex format, which begins with `\x`, or in the older escape format.
    public static func parseBytea(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        if text.count >= 2, text[0] == UInt8(ascii: "\\"), text[1] == UInt8(ascii: "x") {
            return parseHex(UnsafeRawBufferPointer(rebasing: text[2...]))
        }
        return parseEscaped(text)
    }

    /// "The hexadecimal digits can be either upper or lower case, and whitespace is permitted between digit pairs (but
    /// not within a digit pair nor in the starting \x sequence)."
    private static func parseHex(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 2)
        var index = 0
        while index < text.count {
            if isSpace(text[index]) {
                index += 1
                continue
            }
            guard index + 1 < text.count, let high = hexValue(text[index]), let low = hexValue(text[index + 1])
            else { return nil }
            bytes.append(high << 4 | low)
            index += 2
        }
        return bytes
    }

    /// A backslash is followed by another one, or by the byte's value as three octal digits.
    private static func parseEscaped(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var index = 0
        while index < text.count {
            guard text[index] == UInt8(ascii: "\\") else {
                bytes.append(text[index])
                index += 1
                continue
            }
            let left = text.count - index
            if left >= 2, text[index + 1] == UInt8(ascii: "\\") {
                bytes.append(UInt8(ascii: "\\"))
                index += 2
            } else if left >= 4, let high = octalValue(text[index + 1]), high <= 3,
                let middle = octalValue(text[index + 2]), let low = octalValue(text[index + 3])
            {
                bytes.append(high << 6 | middle << 3 | low)
                index += 4
            } else {
                return nil
            }
        }
        return bytes
    }

    private static func octalValue(_ digit: UInt8) -> UInt8? {
        (UInt8(ascii: "0")...UInt8(ascii: "7")).contains(digit) ? digit - UInt8(ascii: "0") : nil
    }

    private static func hexValue(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
