/// One token of SQLite's SQL: what it is and which bytes it covers.
///
/// A token points into the buffer it was read from and is valid as long as that buffer is. It is kept small
/// (24 bytes) because a whole statement is sometimes tabulated.
struct SQLToken {
    enum Kind: UInt8 {
        /// A bare word: an identifier or a keyword. SQLite decides which of the two by position, and so must a reader.
        case identifier
        /// `"a"`, `` `a` `` or `[a]`.
        case quotedIdentifier
        case string
        case blob
        case number
        case parameter
        case operatorOrPunctuation
        case semicolon
        case leftParenthesis
        case rightParenthesis
        case comma
        /// What SQLite's tokenizer calls TK_ILLEGAL: an unterminated string, `1abc`, a lone `!`.
        case illegal
    }

    private let base: UnsafeRawPointer
    private let first: UInt32
    private let past: UInt32
    let kind: Kind

    init(_ kind: Kind, base: UnsafeRawPointer, start: Int, end: Int) {
        self.kind = kind
        self.base = base
        first = UInt32(truncatingIfNeeded: start)
        past = UInt32(truncatingIfNeeded: end)
    }

    var start: Int { Int(first) }
    var end: Int { Int(past) }
    /// Byte offsets in the buffer given to the lexer.
    var range: Range<Int> { start..<end }
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base + start, count: end - start) }
    var firstByte: UInt8 { (base + start).load(as: UInt8.self) }

    /// Whether this is the bare word `keyword`, which must be written in lower case. A quoted identifier never
    /// is a keyword.
    func matches(_ keyword: StaticString) -> Bool {
        guard kind == .identifier else { return false }
        return equalsIgnoringCase(keyword)
    }

    /// Whether this is the operator or punctuation `symbol`.
    func isSymbol(_ symbol: StaticString) -> Bool {
        guard kind == .operatorOrPunctuation else { return false }
        return equalsIgnoringCase(symbol)
    }

    private func equalsIgnoringCase(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard Int(past &- first) == count else { return false }
        let mine = (base + Int(first)).assumingMemoryBound(to: UInt8.self)
        let other = text.utf8Start
        // A loop over a range is a call for each of its steps in a debug build, which is what the tests run, and this is most of what
        // reading a text does.
        var index = 0
        while index < count {
            guard lowerASCII(mine[index]) == other[index] else { return false }
            index &+= 1
        }
        return true
    }

    var isIdentifierLike: Bool { kind == .identifier || kind == .quotedIdentifier }
    var isLiteral: Bool { kind == .string || kind == .number || kind == .blob }
}

extension SQLToken {
    /// The name an identifier stands for: a bare word folded to lower case, as PostgreSQL folds it
    /// (https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-IDENTIFIERS), a quoted one
    /// without its quotes. The same function gives the content of a string literal.
    var name: String {
        switch kind {
        case .quotedIdentifier, .string: unquoted
        case .identifier: String(decoding: bytes.lazy.map(lowerASCII), as: UTF8.self)
        default: text
        }
    }

    /// The token as it was written.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    private var unquoted: String {
        guard bytes.count >= 2 else { return "" }
        let quote = firstByte
        let inside = bytes[1..<(bytes.count - 1)]
        var result: [UInt8] = []
        result.reserveCapacity(inside.count)
        // Inside [..] nothing is doubled; elsewhere two quotes stand for one.
        var skipNext = false
        for byte in inside {
            if skipNext {
                skipNext = false
                continue
            }
            skipNext = byte == quote && quote != UInt8(ascii: "[")
            result.append(byte)
        }
        return String(decoding: result, as: UTF8.self)
    }
}
