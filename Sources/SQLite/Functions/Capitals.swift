/// initcap(): "Converts the first letter of each word to upper case and the rest to lower case. Words are sequences of alphanumeric
/// characters separated by non-alphanumeric characters." https://www.postgresql.org/docs/current/functions-string.html
struct Capitals {
    private var isInWord = false

    /// False: the call has failed.
    static func append(of text: UnsafeRawBufferPointer, to result: inout ResultText) -> Bool {
        var capitals = Capitals()
        var index = 0
        while index < text.count {
            if text[index] < 0x80 {
                guard result.append(capitals.cased(text[index])) else { return false }
                index += 1
            } else if let (scalar, width) = CodePoints.scalar(at: index, in: text) {
                guard capitals.append(scalar, to: &result) else { return false }
                index += width
            } else {
                // What is no UTF-8 stays as it is.
                guard result.append(text[index]) else { return false }
                index += 1
            }
        }
        return true
    }

    @inline(__always)
    private mutating func cased(_ byte: UInt8) -> UInt8 {
        let isLetter = (byte | 0x20) &- 0x61 < 26
        defer { isInWord = isLetter || byte &- 0x30 < 10 }
        guard isLetter else { return byte }
        return isInWord ? byte | 0x20 : byte & ~0x20
    }

    private mutating func append(_ scalar: Unicode.Scalar, to result: inout ResultText) -> Bool {
        let properties = scalar.properties
        switch properties.generalCategory {
        // It belongs to the character before it.
        case .nonspacingMark, .spacingMark, .enclosingMark: return Self.append(scalar, to: &result)
        default: break
        }
        defer { isInWord = properties.isAlphabetic || properties.numericType != nil }
        let mapped = (isInWord ? properties.lowercaseMapping : properties.uppercaseMapping).unicodeScalars
        // One for one, as towupper() has it: PostgreSQL makes no two letters of ß.
        return Self.append(mapped.count == 1 ? mapped.first ?? scalar : scalar, to: &result)
    }

    private static func append(_ scalar: Unicode.Scalar, to result: inout ResultText) -> Bool {
        for byte in scalar.utf8 { guard result.append(byte) else { return false } }
        return true
    }
}
