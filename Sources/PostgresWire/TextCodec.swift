import Glibc

/// Reads values in the text format, by the rules of PostgreSQL's input functions. Nil means that the text is not a
/// value of the type: 22P02, or 22003 when it is a number too large.
public enum TextCodec {
    /// A decimal integer, with white space around it and a sign; nil when it does not fit 64 bits.
    public static func parseInt(_ text: UnsafeRawBufferPointer) -> Int64? {
        var digits = trimmed(text)[...]
        let isNegative = digits.first == UInt8(ascii: "-")
        if isNegative || digits.first == UInt8(ascii: "+") { digits = digits.dropFirst() }
        guard !digits.isEmpty else { return nil }
        var magnitude: UInt64 = 0
        for byte in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            let (tens, tooLarge) = magnitude.multipliedReportingOverflow(by: 10)
            let (sum, tooLargeStill) = tens.addingReportingOverflow(UInt64(byte - UInt8(ascii: "0")))
            guard !tooLarge, !tooLargeStill else { return nil }
            magnitude = sum
        }
        // The smallest Int64 has one more than the largest; negating in 64 bits without a trap gives it too.
        guard magnitude <= Int64.max.magnitude + (isNegative ? 1 : 0) else { return nil }
        return Int64(truncatingIfNeeded: isNegative ? 0 &- magnitude : magnitude)
    }

    /// A double as `strtod` reads it, which knows "Infinity", "inf" and "NaN" in any case; nil when it is out of
    /// range. The program never calls `setlocale`, so the decimal point is a point.
    public static func parseDouble(_ text: UnsafeRawBufferPointer) -> Double? {
        let text = trimmed(text)
        guard !text.isEmpty else { return nil }
        // strtod wants a NUL behind the text, which a Bind parameter does not have.
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: text.count + 1) { copy in
            UnsafeMutableRawBufferPointer(copy).copyMemory(from: text)
            copy[text.count] = 0
            guard let begin = copy.baseAddress else { return nil }
            var end: UnsafeMutablePointer<CChar>?
            errno = 0
            let value = strtod(begin, &end)
            guard end == begin + text.count else { return nil }
            // A subnormal result is reported as out of range as well, but is a number all the same.
            if errno == ERANGE, value == 0 || value.isInfinite { return nil }
            return value
        }
    }

    /// "true", "yes", "on", "1" and their opposites. "Unique prefixes of these strings are also accepted, for example
    /// t or n. Leading or trailing whitespace is ignored, and case does not matter",
    /// https://www.postgresql.org/docs/current/datatype-boolean.html
    public static func parseBool(_ text: UnsafeRawBufferPointer) -> Bool? {
        let text = trimmed(text)
        func isPrefix(of word: StaticString, atLeast minimum: Int = 1) -> Bool {
            guard text.count >= minimum, text.count <= word.utf8CodeUnitCount else { return false }
            // Setting 0x20 makes a capital letter small; digits have it set already.
            return zip(text, UnsafeBufferPointer(start: word.utf8Start, count: text.count))
                .allSatisfy { ($0 >= 0x30 ? $0 | 0x20 : $0) == $1 }
        }
        if isPrefix(of: "true") || isPrefix(of: "yes") || isPrefix(of: "on", atLeast: 2) || isPrefix(of: "1") {
            return true
        }
        if isPrefix(of: "false") || isPrefix(of: "no") || isPrefix(of: "off", atLeast: 2) || isPrefix(of: "0") {
            return false
        }
        return nil
    }

    /// Without white space around it.
    public static func trimmed(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var range = text[...]
        while let first = range.first, isSpace(first) { range = range.dropFirst() }
        while let last = range.last, isSpace(last) { range = range.dropLast() }
        return UnsafeRawBufferPointer(rebasing: range)
    }

    /// C's `isspace` in the C locale.
    static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }
}
