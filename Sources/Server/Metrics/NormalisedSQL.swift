/// A statement's text without its literals, so that statements which differ in nothing else count as one, as in
/// pg_stat_statements (https://www.postgresql.org/docs/current/pgstatstatements.html).
enum NormalisedSQL {
    /// What is kept of a text. Texts that agree that far count as one.
    static let longestBytes = 1_000

    /// Literals become `?`, lists of them `?, ...`; comments go, and spaces are put where they help.
    static func text(of sql: UnsafeRawBufferPointer) -> String {
        var out: [UInt8] = []
        out.reserveCapacity(min(sql.count, longestBytes) + 16)
        var previous: SQLToken?
        var list = List.none
        for token in SQLLexer(sql) {
            if token.kind == .semicolon { continue }
            if out.count > longestBytes { break }
            switch list {
            case .literal where token.kind == .comma:
                list = .comma(token)
                continue
            case .comma(let comma), .dots(let comma?):
                if token.isLiteral {
                    if case .comma = list { append(", ...", to: &out) }
                    list = .dots(nil)
                    continue
                }
                append(comma, after: previous, to: &out)
                previous = comma
                list = .none
            case .dots(nil) where token.kind == .comma:
                list = .dots(token)
                continue
            default: list = .none
            }
            if token.isLiteral {
                if needsSpace(token, after: previous) { out.append(UInt8(ascii: " ")) }
                out.append(UInt8(ascii: "?"))
                list = .literal
            } else {
                append(token, after: previous, to: &out)
            }
            previous = token
        }
        return cut(out)
    }

    /// Where in a list of literals the last token stood; with the comma that has not been written yet.
    private enum List {
        case none, literal, comma(SQLToken), dots(SQLToken?)
    }

    private static func append(_ text: StaticString, to out: inout [UInt8]) { text.withUTF8Buffer { out.append(contentsOf: $0) } }

    private static func append(_ token: SQLToken, after previous: SQLToken?, to out: inout [UInt8]) {
        if needsSpace(token, after: previous) { out.append(UInt8(ascii: " ")) }
        out.append(contentsOf: token.bytes.prefix(longestBytes))
    }

    private static func needsSpace(_ token: SQLToken, after previous: SQLToken?) -> Bool {
        guard let previous else { return false }
        if token.kind == .comma || token.kind == .rightParenthesis || token.isSymbol(".") { return false }
        if previous.kind == .leftParenthesis || previous.isSymbol(".") { return false }
        // A function's name and its parenthesis, however they were written.
        if token.kind == .leftParenthesis, previous.isIdentifierLike, !previous.isReservedWord { return false }
        return true
    }

    private static func cut(_ bytes: [UInt8]) -> String {
        guard bytes.count > longestBytes else { return String(decoding: bytes, as: UTF8.self) }
        var end = longestBytes
        // Not in the middle of a character.
        while end > 0, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        return String(decoding: bytes[..<end], as: UTF8.self) + "…"
    }
}
