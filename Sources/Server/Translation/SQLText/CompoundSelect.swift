/// Whether a statement may have several SELECTs in one: then `sqlite3_column_decltype` tells of the first only.
enum CompoundSelect {
    static func mayBe(_ sql: UnsafeRawBufferPointer) -> Bool { mentions(sql) && hasWord(sql) }

    /// As a word, and not in a name or a text.
    private static func hasWord(_ sql: UnsafeRawBufferPointer) -> Bool {
        TokenTable(sql).tokens.contains(where: \.isCompoundOperator)
    }

    /// UNION, INTERSECT or EXCEPT stands somewhere, as a word or in a text; in one pass, since every new text is asked.
    static func mentions(_ sql: UnsafeRawBufferPointer) -> Bool {
        guard sql.count > 6 else { return false }
        for start in 0..<(sql.count - 5) {
            switch sql[start] | 0x20 {
            case UInt8(ascii: "u"): if stands("union", sql, start) { return true }
            case UInt8(ascii: "i"): if stands("intersect", sql, start) { return true }
            case UInt8(ascii: "e"): if stands("except", sql, start) { return true }
            default: break
            }
        }
        return false
    }

    private static func stands(_ word: StaticString, _ sql: UnsafeRawBufferPointer, _ start: Int) -> Bool {
        guard start + word.utf8CodeUnitCount <= sql.count else { return false }
        for index in 0..<word.utf8CodeUnitCount where lowerASCII(sql[start + index]) != word.utf8Start[index] { return false }
        return true
    }
}
