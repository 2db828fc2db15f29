import PostgresWire

/// How SQLite writes numbers.
enum NumberSpelling {
    /// Significant digits of a real as a text: "%!.15g", which sqlite3VdbeMemStringify writes
    /// (https://www.sqlite.org/src/file?name=src/vdbemem.c).
    private static let digitsOfReal = 15
    /// So many zeros behind the point, and it is written with an exponent.
    private static let zerosOfExponent = 4

    /// Whether it is a number that SQLite makes the same text of. Of some that are this says no.
    static func isSQLites(_ text: [UInt8]) -> Bool {
        let number = text.withUnsafeBytes { TextCodec.parseInt($0) }
        if let number { return String(number).utf8.elementsEqual(text) }
        let digits = text.first == UInt8(ascii: "-") ? text.dropFirst() : text[...]
        guard let point = digits.firstIndex(of: UInt8(ascii: ".")) else { return false }
        let (whole, fraction) = (digits[..<point], digits[(point + 1)...])
        guard whole.allSatisfy(isDigit), fraction.allSatisfy(isDigit), digits.count <= digitsOfReal, let first = whole.first,
            first != UInt8(ascii: "0") || whole.count == 1, let last = fraction.last, last != UInt8(ascii: "0")
        else { return false }
        return first != UInt8(ascii: "0") || fraction.prefix { $0 == UInt8(ascii: "0") }.count < zerosOfExponent
    }
}
