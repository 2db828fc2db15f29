/// Names and texts as they stand in SQL.
///
/// Byte by byte, as SQLite reads them: to Swift a quote and the mark before or behind it may be one Character, which is no quote.
public enum SQLQuoting {
    /// A name in double quotes, those in it doubled.
    public static func identifier(_ name: String) -> String { quoted(name, UInt8(ascii: "\"")) }

    /// A text in single quotes, those in it doubled.
    public static func literal(_ text: String) -> String { quoted(text, UInt8(ascii: "'")) }

    private static func quoted(_ text: String, _ quote: UInt8) -> String {
        var bytes = [quote]
        bytes.reserveCapacity(text.utf8.count + 2)
        for byte in text.utf8 {
            if byte == quote { bytes.append(quote) }
            bytes.append(byte)
        }
        bytes.append(quote)
        return String(decoding: bytes, as: UTF8.self)
    }
}
