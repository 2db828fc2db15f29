/// PostgreSQL's SQL, token by token: `::`, `E'...'`, subscripts and operators are not SQLite's. `$$...$$` is not read.
/// https://www.postgresql.org/docs/current/sql-syntax-lexical.html
///
/// Catalog statements are read once per text, so tokens are strings.
struct PostgresLexer {
    enum Kind: Equatable { case word, quoted, string, number, parameter, symbol, op }

    struct Token: Equatable {
        var kind: Kind
        /// A word in lower case, a quoted name or string without its quotes; everything else as written.
        var text: String

        func isSymbol(_ symbol: String) -> Bool { kind == .symbol && text == symbol }
        func isWord(_ word: String) -> Bool { kind == .word && text == word }
        var isName: Bool { kind == .word || kind == .quoted }
    }

    private let bytes: [UInt8]
    private var position = 0

    /// All tokens of a statement, without a semicolon at its end; nil when something in it cannot be read.
    static func tokens(_ sql: UnsafeRawBufferPointer) -> [Token]? {
        var lexer = PostgresLexer(bytes: Array(sql))
        var tokens: [Token] = []
        while lexer.skipSpace() {
            guard let token = lexer.next() else { return nil }
            tokens.append(token)
        }
        while tokens.last?.isSymbol(";") == true { tokens.removeLast() }
        return tokens
    }

    private func byte(_ index: Int) -> UInt8 { index < bytes.count ? bytes[index] : 0 }

    /// False at the end.
    private mutating func skipSpace() -> Bool {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09...0x0D: position += 1
            case UInt8(ascii: "-") where byte(position + 1) == UInt8(ascii: "-"):
                while position < bytes.count, bytes[position] != 0x0A { position += 1 }
            case UInt8(ascii: "/") where byte(position + 1) == UInt8(ascii: "*"): skipComment()
            default: return true
            }
        }
        return false
    }

    private mutating func skipComment() {
        var depth = 0
        repeat {
            if byte(position) == UInt8(ascii: "/"), byte(position + 1) == UInt8(ascii: "*") {
                depth += 1
                position += 2
            } else if byte(position) == UInt8(ascii: "*"), byte(position + 1) == UInt8(ascii: "/") {
                depth -= 1
                position += 2
            } else {
                position += 1
            }
        } while depth > 0 && position < bytes.count
    }

    private mutating func next() -> Token? {
        let start = position
        switch bytes[position] {
        case UInt8(ascii: "'"): return string(escapes: false)
        case UInt8(ascii: "E"), UInt8(ascii: "e"):
            guard byte(position + 1) == UInt8(ascii: "'") else { return word() }
            position += 1
            return string(escapes: true)
        case UInt8(ascii: "\""):
            guard let name = delimited(by: UInt8(ascii: "\""), escapes: false) else { return nil }
            return Token(kind: .quoted, text: name)
        case UInt8(ascii: "$"):
            position += 1
            while isDigit(byte(position)) { position += 1 }
            return position > start + 1 ? Token(kind: .parameter, text: text(start)) : nil
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return number()
        case UInt8(ascii: ".") where isDigit(byte(position + 1)): return number()
        case UInt8(ascii: ":") where byte(position + 1) == UInt8(ascii: ":"):
            position += 2
            return Token(kind: .symbol, text: "::")
        case let byte where Self.symbols.contains(byte):
            position += 1
            return Token(kind: .symbol, text: text(start))
        case let byte where Self.isOperator(byte): return operatorToken()
        case let byte where isIdentifierByte(byte): return word()
        default: return nil
        }
    }

    private static let symbols = Set("(),;[].:".utf8)
    private static func isOperator(_ byte: UInt8) -> Bool {
        switch UnicodeScalar(byte) {
        case "+", "-", "*", "/", "<", ">", "=": true
        default: keepsSign(byte)
        }
    }
    private static func keepsSign(_ byte: UInt8) -> Bool {
        switch UnicodeScalar(byte) {
        case "~", "!", "@", "#", "%", "^", "&", "|", "?": true
        default: false
        }
    }
    /// An operator's name has no more (NAMEDATALEN - 1, https://www.postgresql.org/docs/current/sql-syntax-lexical.html): a
    /// run of signs is not read to its end for each of them.
    private static let operatorBytes = 63

    /// "A multiple-character operator name cannot end in + or -, unless the name also contains" one of some others.
    private mutating func operatorToken() -> Token {
        let start = position
        while position < start + Self.operatorBytes, Self.isOperator(byte(position)) {
            let opensComment =
                byte(position) == UInt8(ascii: "-") && byte(position + 1) == UInt8(ascii: "-")
                || byte(position) == UInt8(ascii: "/") && byte(position + 1) == UInt8(ascii: "*")
            if opensComment { break }
            position += 1
        }
        let isSign = { (byte: UInt8) in byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") }
        let keepsSign = bytes[start..<position].contains(where: Self.keepsSign)
        while position > start + 1, isSign(bytes[position - 1]), !keepsSign { position -= 1 }
        return Token(kind: .op, text: text(start))
    }

    private mutating func word() -> Token {
        let start = position
        while isIdentifierByte(byte(position)) { position += 1 }
        return Token(kind: .word, text: String(decoding: bytes[start..<position].map(lowerASCII), as: UTF8.self))
    }

    private mutating func number() -> Token {
        let start = position
        while isDigit(byte(position)) || byte(position) == UInt8(ascii: ".") { position += 1 }
        if byte(position) | 0x20 == UInt8(ascii: "e"), isDigit(byte(position + 1)) {
            position += 1
            while isDigit(byte(position)) { position += 1 }
        }
        return Token(kind: .number, text: text(start))
    }

    private mutating func string(escapes: Bool) -> Token? {
        delimited(by: UInt8(ascii: "'"), escapes: escapes).map { Token(kind: .string, text: $0) }
    }

    private mutating func delimited(by quote: UInt8, escapes: Bool) -> String? {
        position += 1
        var content: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if byte == quote {
                guard self.byte(position) == quote else { return String(decoding: content, as: UTF8.self) }
                position += 1
                content.append(quote)
            } else if escapes, byte == UInt8(ascii: "\\") {
                guard let escaped = Self.escaped(self.byte(position)) else { return nil }
                content.append(escaped)
                position += 1
            } else {
                content.append(byte)
            }
        }
        return nil
    }

    /// The byte that a backslash and this one stand for. nil: the beginning of a code in octal or hexadecimal digits (`\167`, `\x77`,
    /// `\u0077`), or `\b` or `\f`. Read as letters they would look for another name, and an error is better than an empty result.
    /// https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-STRINGS-ESCAPE
    private static func escaped(_ byte: UInt8) -> UInt8? {
        switch UnicodeScalar(byte) {
        case "n": 0x0A
        case "t": 0x09
        case "r": 0x0D
        case "0"..."7", "x", "u", "U", "b", "f": nil
        default: byte
        }
    }

    private func text(_ start: Int) -> String { String(decoding: bytes[start..<position], as: UTF8.self) }
}
