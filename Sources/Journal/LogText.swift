/// Text as it may stand in a line of the log.
///
/// Values come from clients: they must not end a line, look like other fields, or move a terminal's cursor.
package enum LogText {
    /// The longest value in a line or a field; what is longer is cut, and says so.
    package static let longestValueBytes = 4096
    /// Stands where something was cut off.
    static let ellipsis = "…"

    /// The value as it is where nothing in it could be mistaken, else between quotation marks.
    package static func quoted(_ value: String) -> String {
        let isPlain =
            !value.isEmpty
            && value.utf8.allSatisfy {
                $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: "\\")
            }
        if isPlain && value.utf8.count <= longestValueBytes { return value }
        var result = "\""
        for scalar in cut(value).unicodeScalars {
            if isUnsafe(scalar) {
                result += " "
            } else {
                if scalar == "\"" || scalar == "\\" { result += "\\" }
                result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// Text of our own, in which a name from outside may stand.
    package static func plain(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
        var result = ""
        for scalar in text.unicodeScalars { result.unicodeScalars.append(isUnsafe(scalar) ? " " : scalar) }
        return result
    }

    /// The start of a long value, cut between two characters.
    package static func cut(_ value: String, toBytes limit: Int = longestValueBytes) -> String {
        guard value.utf8.count > limit else { return value }
        var end = value.utf8.index(value.utf8.startIndex, offsetBy: limit)
        // Not every byte begins a character: going back at most three finds one that does.
        while end > value.utf8.startIndex, value.utf8[end] & 0xC0 == 0x80 { end = value.utf8.index(before: end) }
        return String(value[..<end]) + ellipsis
    }

    /// Control characters, C1 ones included, which some terminals obey; line and paragraph separators; and what turns the
    /// direction of text, so that a line shows something else than it says.
    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: true
        default: false
        }
    }
}
