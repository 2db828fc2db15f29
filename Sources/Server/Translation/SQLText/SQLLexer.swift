import Glibc

/// Reads SQLite's SQL token by token, by the rules of SQLite's own `sqlite3GetToken`
/// (https://www.sqlite.org/src/file?name=src/tokenize.c), skipping whitespace and comments.
///
/// Nothing is allocated, every byte is looked at a constant number of times, and no input is refused: what SQLite
/// cannot read comes out as an `illegal` token, so that SQLite is the one to complain. In one thing it is PostgreSQL's rules that
/// count: the bracket of `ARRAY['a]', 'b']` opens an array (see `bracket`).
struct SQLLexer: Sequence, IteratorProtocol {
    let bytes: UnsafeRawBufferPointer
    /// Where the next token is looked for.
    private(set) var position: Int
    /// The token before, for brackets: they are few, and tokens many.
    private var last = 0..<0
    /// In here no `[` is closed before a quote.
    var openBrackets = 0..<0
    /// SQLite takes at most 2 GiB of SQL; what lies beyond is not read, and a token's offsets fit 32 bits.
    let end: Int

    init(_ bytes: UnsafeRawBufferPointer, from start: Int = 0) {
        self.bytes = bytes
        end = Swift.min(bytes.count, Int(Int32.max))
        position = Swift.min(Swift.max(start, 0), end)
    }

    /// One that goes on elsewhere in the text and knows what this one does of it: a new one would look for the end of each bracket again.
    func moved(to start: Int) -> SQLLexer {
        var lexer = self
        lexer.position = Swift.min(Swift.max(start, 0), end)
        lexer.last = 0..<0
        return lexer
    }

    /// The byte at `index`, or NUL past the end: SQLite's input ends with one, and its rules look ahead to it.
    @inline(__always)
    func byte(_ index: Int) -> UInt8 { index < end ? bytes[index] : 0 }

    mutating func next() -> SQLToken? {
        skipSpaceAndComments()
        guard position < end, let base = bytes.baseAddress else { return nil }
        let start = position
        let (kind, past) = bytes[start] == UInt8(ascii: "[") ? bracket(at: start) : token(at: start)
        position = past
        last = start..<past
        return SQLToken(kind, base: base, start: start, end: past)
    }

    /// The token before is the word ARRAY, and not a column's name behind a dot.
    var isBehindArray: Bool {
        guard last.count == 5, zip(bytes[last], "array".utf8).allSatisfy({ lowerASCII($0) == $1 }) else { return false }
        return last.lowerBound == 0 || bytes[last.lowerBound - 1] != UInt8(ascii: ".")
    }

    private mutating func skipSpaceAndComments() {
        while position < end {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0C, 0x0D:
                position += 1
                // Vertical tab is space inside a run of space only; at its start SQLite calls it illegal.
                while byte(position) == 0x0B { position += 1 }
            case UInt8(ascii: "-") where byte(position + 1) == UInt8(ascii: "-"):
                skipLineComment()
            case UInt8(ascii: "/") where byte(position + 1) == UInt8(ascii: "*") && position + 2 < end:
                skipBlockComment()
            case 0xEF where byte(position + 1) == 0xBB && byte(position + 2) == 0xBF:
                position += 3
            default:
                return
            }
        }
    }

    private mutating func skipLineComment() {
        while position < end, bytes[position] != 0x0A { position += 1 }
    }

    /// "If there is no terminating delimiter, the comment ends at the end of input"
    /// (https://www.sqlite.org/lang_comment.html). Comments do not nest, and `/*/` does not close itself.
    private mutating func skipBlockComment() {
        guard let base = bytes.baseAddress else { return }
        position += 2
        while position < end, let found = memchr(base + position, Int32(UInt8(ascii: "*")), end - position) {
            position = UnsafeRawPointer(found) - base + 1
            guard byte(position) != UInt8(ascii: "/") else {
                position += 1
                return
            }
        }
        position = end
    }

    private func token(at start: Int) -> (SQLToken.Kind, Int) {
        switch bytes[start] {
        case UInt8(ascii: "("): (.leftParenthesis, start + 1)
        case UInt8(ascii: ")"): (.rightParenthesis, start + 1)
        case UInt8(ascii: ","): (.comma, start + 1)
        case UInt8(ascii: ";"): (.semicolon, start + 1)
        case UInt8(ascii: "'"): quoted(from: start, kind: .string)
        case UInt8(ascii: "\""), UInt8(ascii: "`"): quoted(from: start, kind: .quotedIdentifier)
        case UInt8(ascii: "?"): (.parameter, digits(from: start + 1))
        case UInt8(ascii: "$"), UInt8(ascii: "@"), UInt8(ascii: ":"), UInt8(ascii: "#"): variable(from: start)
        case UInt8(ascii: "0")...UInt8(ascii: "9"): number(from: start)
        case UInt8(ascii: ".") where isDigit(byte(start + 1)): number(from: start)
        case UInt8(ascii: "x"), UInt8(ascii: "X"):
            byte(start + 1) == UInt8(ascii: "'") ? blob(from: start) : (.identifier, word(from: start))
        case let byte where isIdentifierByte(byte): (.identifier, word(from: start))
        default: symbol(from: start)
        }
    }

    private func symbol(from start: Int) -> (SQLToken.Kind, Int) {
        let length: Int
        switch (bytes[start], byte(start + 1)) {
        case (UInt8(ascii: "-"), UInt8(ascii: ">")):
            length = byte(start + 2) == UInt8(ascii: ">") ? 3 : 2
        case (UInt8(ascii: "="), UInt8(ascii: "=")), (UInt8(ascii: "!"), UInt8(ascii: "=")),
            (UInt8(ascii: "|"), UInt8(ascii: "|")),
            (UInt8(ascii: "<"), UInt8(ascii: "=")), (UInt8(ascii: "<"), UInt8(ascii: ">")),
            (UInt8(ascii: "<"), UInt8(ascii: "<")),
            (UInt8(ascii: ">"), UInt8(ascii: "=")), (UInt8(ascii: ">"), UInt8(ascii: ">")):
            length = 2
        case (UInt8(ascii: "+"), _), (UInt8(ascii: "-"), _), (UInt8(ascii: "*"), _), (UInt8(ascii: "/"), _),
            (UInt8(ascii: "%"), _), (UInt8(ascii: "="), _), (UInt8(ascii: "<"), _), (UInt8(ascii: ">"), _),
            (UInt8(ascii: "|"), _), (UInt8(ascii: "&"), _), (UInt8(ascii: "~"), _), (UInt8(ascii: "."), _):
            length = 1
        default:
            return (.illegal, start + 1)
        }
        return (.operatorOrPunctuation, start + length)
    }
}
