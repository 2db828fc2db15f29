import Glibc

/// Whether a text may have anything of PostgreSQL's in it, told from its bytes.
extension PostgresSpelling {
    /// Quicker than reading tokens: `::`, `E'`, `DATE '`, `[`, LIMIT ALL, and some words with a parenthesis. A statement without any of
    /// these characters costs eight calls of memchr.
    static func mayHaveSome(_ sql: UnsafeRawBufferPointer) -> Bool {
        if sql.firstIndex(of: "[") != nil { return true }
        var start = 0
        while let colon = sql.firstIndex(of: ":", from: start) {
            if colon + 1 < sql.count, sql[colon + 1] == sql[colon] { return true }
            start = colon + 1
        }
        start = 1
        while let quote = sql.firstIndex(of: "'", from: start) {
            if lowerASCII(sql[quote - 1]) == UInt8(ascii: "e") || mayBeBehindType(quote, in: sql) { return true }
            start = quote + 1
        }
        start = 4
        while let open = sql.firstIndex(of: "(", from: start) {
            var end = open
            while end > 4, isSpace(sql[end - 1]) { end -= 1 }
            let (a, b, c) = (lowerASCII(sql[end - 3]), lowerASCII(sql[end - 2]), lowerASCII(sql[end - 1]))
            if a == UInt8(ascii: "a"), (b, c) == (UInt8(ascii: "n"), UInt8(ascii: "y")) || (b, c) == (UInt8(ascii: "l"), UInt8(ascii: "l"))
            {
                return true
            }
            // CAST(, EXTRACT(, DATE_TRUNC(
            switch lowerASCII(sql[end - 4]) {
            case UInt8(ascii: "c"): if (a, b, c) == (UInt8(ascii: "a"), UInt8(ascii: "s"), UInt8(ascii: "t")) { return true }
            case UInt8(ascii: "r"):
                if (a, b, c) == (UInt8(ascii: "a"), UInt8(ascii: "c"), UInt8(ascii: "t")) { return true }
                if (a, b, c) == (UInt8(ascii: "u"), UInt8(ascii: "n"), UInt8(ascii: "c")) { return true }
            default: break
            }
            start = open + 1
        }
        return mayHaveLimitAll(sql) || mayCallUnnest(sql)
    }

    private static func mayCallUnnest(_ sql: UnsafeRawBufferPointer) -> Bool {
        for letter: UnicodeScalar in ["U", "u"] {
            var start = 0
            while let found = sql.firstIndex(of: letter, from: start) {
                if found + 6 < sql.count, sql[found + 1..<found + 6].lazy.map(lowerASCII).elementsEqual("nnest".utf8) { return true }
                start = found + 1
            }
        }
        return false
    }

    private static func mayHaveLimitAll(_ sql: UnsafeRawBufferPointer) -> Bool {
        for letter: UnicodeScalar in ["M", "m"] {
            var start = 2
            while let found = sql.firstIndex(of: letter, from: start) {
                if lowerASCII(sql[found - 1]) == UInt8(ascii: "i"), lowerASCII(sql[found - 2]) == UInt8(ascii: "l"), found + 3 < sql.count,
                    sql[found + 1..<found + 3].lazy.map(lowerASCII).elementsEqual("it".utf8), isSpace(sql[found + 3]),
                    sql[(found + 3)...].drop(while: isSpace).prefix(3).lazy.map(lowerASCII).elementsEqual("all".utf8)
                {
                    return true
                }
                start = found + 1
            }
        }
        return false
    }
}
