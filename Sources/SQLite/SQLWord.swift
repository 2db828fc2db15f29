import CSQLite

/// Whether a word stands in a text of SQL, whatever it means there.
public enum SQLWord {
    /// - Parameter word: in small letters.
    public static func stands(_ word: StaticString, in sql: UnsafeRawBufferPointer) -> Bool {
        let count = word.utf8CodeUnitCount
        guard sql.count >= count else { return false }
        return (0...(sql.count - count)).contains { start in
            for index in 0..<count where lower(sql[start + index]) != word.utf8Start[index] { return false }
            let isBegun = start > 0 && isOfWord(sql[start - 1])
            let goesOn = start + count < sql.count && isOfWord(sql[start + count])
            return !isBegun && !goesOn
        }
    }

    /// "determines whether or not the given string is a keyword": https://www.sqlite.org/c3ref/keyword_check.html
    public static func isKeyword(_ name: String) -> Bool {
        var name = name
        return name.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { sqlite3_keyword_check($0.baseAddress, Int32(clamping: $0.count)) != 0 }
        }
    }

    private static func lower(_ byte: UInt8) -> UInt8 { byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte }

    private static func isOfWord(_ byte: UInt8) -> Bool {
        byte >= 0x80 || byte == UInt8(ascii: "_") || (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") < 10
    }
}
