/// What stands in `E'…'`: "An escape string constant also allows C-like backslash escapes: \b \f \n \r \t, \o, \oo, \ooo, \xh, \xhh, \uxxxx,
/// \Uxxxxxxxx … Any other character following a backslash is taken literally."
/// https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-STRINGS-ESCAPE
enum EscapeString {
    /// nil: the bytes are no text, or one of them is zero.
    static func content(_ written: String) -> String? {
        var rest = Array(written.utf8)[...]
        var result: [UInt8] = []
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                result.append(byte)
                continue
            }
            guard let bytes = escape(&rest) else { return nil }
            result += bytes
        }
        return result.contains(0) ? nil : String(validating: result, as: UTF8.self)
    }

    /// The bytes of one, whose backslash has been read.
    private static func escape(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        if let value = number(&rest, upTo: 3, radix: 8) { return [UInt8(truncatingIfNeeded: value)] }
        guard let letter = rest.popFirst() else { return nil }
        switch letter {
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "x"): return number(&rest, upTo: 2, radix: 16).map { [UInt8($0)] } ?? [letter]
        case UInt8(ascii: "u"), UInt8(ascii: "U"):
            let digits = letter == UInt8(ascii: "u") ? 4 : 8
            let start = rest.startIndex
            let value = number(&rest, upTo: digits, radix: 16)
            guard let value, rest.startIndex - start == digits, let scalar = UnicodeScalar(value) else { return nil }
            return Array(String(scalar).utf8)
        default: return [letter]
        }
    }

    private static func number(_ rest: inout ArraySlice<UInt8>, upTo count: Int, radix: Int) -> UInt32? {
        let digits = rest.prefix(count).prefix { Character(UnicodeScalar($0)).hexDigitValue.map { $0 < radix } ?? false }
        rest = rest.dropFirst(digits.count)
        return UInt32(String(decoding: digits, as: UTF8.self), radix: radix)
    }
}
