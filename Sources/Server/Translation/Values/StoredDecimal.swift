import PostgresWire

/// What a decimal is given to SQLite as: the integer or the double that holds all its digits, and else its text, which SQLite's
/// affinity for the column then treats as it would any literal.
enum StoredDecimal: Equatable {
    case integer(Int64)
    /// Infinity, too, and NaN.
    case real(Double)
    case text(String)

    /// - Parameter bytes: as PostgreSQL's numeric is written, with blanks around it.
    init(_ bytes: UnsafeRawBufferPointer) throws(NumberError) {
        if let value = TextCodec.parseInt(bytes) {
            self = .integer(value)
            return
        }
        let text = TextCodec.trimmed(bytes)
        guard let syntax = DecimalSyntax(text) else {
            guard let value = Self.infinity(text) else { throw .malformed }
            self = .real(value)
            return
        }
        guard syntax.isPlain else {
            // An affinity would calculate the power of ten in doubles: '9.99999999999999E+17' is stored as 999999999999998976.
            guard let decimal = DecimalNumber(String(decoding: text, as: UTF8.self)) else { throw .outOfRange }
            self = try Array(decimal.text.utf8).withUnsafeBufferPointer { utf8 throws(NumberError) in
                try Self(UnsafeRawBufferPointer(utf8))
            }
            return
        }
        let value = TextCodec.parseDouble(text)
        if let value, syntax.digits <= Self.digitsOfDouble {
            self = .real(value)
        } else if syntax.isWhole, let whole = TextCodec.parseInt(UnsafeRawBufferPointer(rebasing: text[..<syntax.point])) {
            self = .integer(whole)
        } else {
            // One that is too small for a double is next to zero there, and in a column of texts it is what it is.
            guard value != nil || text[..<syntax.point].allSatisfy({ !isDigit($0) || $0 == UInt8(ascii: "0") }) else { throw .outOfRange }
            self = .text(Self.written(text, whole: syntax.point))
        }
    }

    /// As PostgreSQL writes a decimal, be it sent in text or in binary: without a plus, and without zeros that need not be there.
    private static func written(_ text: UnsafeRawBufferPointer, whole end: Int) -> String {
        let digits = text[..<end].drop { !isDigit($0) || $0 == UInt8(ascii: "0") }
        return (text.first == UInt8(ascii: "-") ? "-" : "") + (digits.isEmpty ? "0" : "")
            + String(decoding: text[digits.startIndex...], as: UTF8.self)
    }

    /// "For conversions between TEXT and REAL storage classes, only the first 15 significant decimal digits of the number are preserved":
    /// https://www.sqlite.org/datatype3.html#type_affinity
    private static let digitsOfDouble = 15

    /// Or NaN; nil: it is neither, or no number at all.
    static func infinity(_ bytes: UnsafeRawBufferPointer) -> Double? {
        let letter = bytes.first { !isSpace($0) && $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }.map { $0 | 0x20 }
        return letter == UInt8(ascii: "i") || letter == UInt8(ascii: "n") ? TextCodec.parseDouble(bytes) : nil
    }
}

/// A number's text as PostgreSQL's numeric_in reads it: a sign, digits with a point among them, an exponent. `0x1A` and `inf`, which C's
/// strtod takes as well, are none.
struct DecimalSyntax {
    /// In the whole part and behind the point, as PostgreSQL writes it: with a digit before the point, and no zeros before that.
    private(set) var digits = 0
    /// Where the whole part ends.
    private(set) var point = 0
    /// Nothing but zeros stands behind the point, if there is one.
    private(set) var isWhole = true
    /// As SQLite itself would write it: without an exponent, and with a digit behind the point.
    private(set) var isPlain = true

    /// nil when it is none.
    init?(_ text: UnsafeRawBufferPointer) {
        var index = 0
        func skip(_ accepted: (UInt8) -> Bool) -> Range<Int> {
            let start = index
            while index < text.count, accepted(text[index]) { index += 1 }
            return start..<index
        }
        func accept(_ accepted: StaticString) -> Bool {
            guard index < text.count,
                UnsafeBufferPointer(start: accepted.utf8Start, count: accepted.utf8CodeUnitCount).contains(text[index])
            else { return false }
            index += 1
            return true
        }
        _ = accept("+-")
        let whole = skip(isDigit)
        point = index
        var fraction = index..<index
        if accept(".") {
            fraction = skip(isDigit)
            isWhole = text[fraction].allSatisfy { $0 == UInt8(ascii: "0") }
            isPlain = !fraction.isEmpty
        }
        guard !whole.isEmpty || !fraction.isEmpty else { return nil }
        digits = max(1, text[whole].drop { $0 == UInt8(ascii: "0") }.count) + fraction.count
        if accept("eE") {
            isPlain = false
            _ = accept("+-")
            guard !skip(isDigit).isEmpty else { return nil }
        }
        guard index == text.count else { return nil }
    }

    /// With blanks around it.
    static func isMet(by bytes: UnsafeRawBufferPointer) -> Bool { DecimalSyntax(TextCodec.trimmed(bytes)) != nil }
}
