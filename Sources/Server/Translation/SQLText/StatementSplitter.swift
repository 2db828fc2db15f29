import Glibc

/// Splits a query string into its statements at each `;` that ends one, skipping empty statements.
///
/// The `;` inside the body of a CREATE TRIGGER ends none. Which those are is decided by the rule of
/// `sqlite3_complete()`: a statement that starts with `[EXPLAIN] CREATE [TEMP|TEMPORARY] TRIGGER` ends at the first
/// `;` that follows `; END` (https://www.sqlite.org/c3ref/complete.html).
struct StatementSplitter: Sequence, IteratorProtocol {
    private var lexer: SQLLexer
    private var isFresh: Bool
    /// Behind the last `;` that has been read as the end of a statement.
    private(set) var lastEnd = 0
    /// Whether all of the text has been read.
    private(set) var isAtEnd = false

    /// - Parameters:
    ///   - isWhole: it is not only the next part of a longer one.
    ///   - openBrackets: what an earlier one knows of this text: see `SQLLexer.openBrackets`.
    init(_ bytes: UnsafeRawBufferPointer, isWhole: Bool = true, openBrackets: Range<Int> = 0..<0) {
        lexer = SQLLexer(bytes)
        lexer.openBrackets = openBrackets
        isFresh = isWhole
    }

    var openBrackets: Range<Int> { lexer.openBrackets }

    /// The bytes of the next statement, from its first token on, without the `;` that ends it.
    mutating func next() -> Range<Int>? {
        if isFresh {
            isFresh = false
            if let only = Self.single(lexer.bytes) {
                lexer = SQLLexer(lexer.bytes, from: lexer.end)
                isAtEnd = true
                return only
            }
        }
        return scan()
    }

    /// The range of the only statement, when that costs no more than a search for `;`: nearly always, because
    /// nearly every query string is one statement. nil means that it has to be read token by token.
    static func single(_ bytes: UnsafeRawBufferPointer) -> Range<Int>? {
        guard let base = bytes.baseAddress else { return nil }
        var end = Swift.min(bytes.count, Int(Int32.max))
        while end > 0, isSpace(bytes[end - 1]) || bytes[end - 1] == UInt8(ascii: ";") { end -= 1 }
        // In `6/*;` the `;` is what makes a comment of the rest: without a byte behind it `/*` begins none.
        if end < bytes.count, end > 1, bytes[end - 1] == UInt8(ascii: "*"), bytes[end - 2] == UInt8(ascii: "/") { return nil }
        guard end > 0, memchr(base, Int32(UInt8(ascii: ";")), end) == nil else { return nil }
        var lexer = SQLLexer(UnsafeRawBufferPointer(rebasing: bytes[..<end]))
        guard let first = lexer.next() else { return nil }
        return first.start..<end
    }

    /// The states of `sqlite3_complete()` that can follow each other within one statement.
    private enum State { case start, explain, create, normal, trigger, triggerSemicolon, triggerEnd }

    private mutating func scan() -> Range<Int>? {
        var state = State.start
        var range: Range<Int>?
        // SQLite's grammar has a `;` in parentheses in one place: the arguments of a virtual table's module are any
        // tokens (vtabargtoken in src/parse.y), and SQLite reads on. Elsewhere it is an error, in one statement or two.
        var depth = 0
        while let token = lexer.next() {
            if token.kind == .leftParenthesis { depth += 1 }
            if token.kind == .rightParenthesis, depth > 0 { depth -= 1 }
            if token.kind == .semicolon, depth == 0 {
                switch state {
                case .trigger, .triggerSemicolon: state = .triggerSemicolon
                default:
                    lastEnd = token.end
                    if let range { return range }
                    continue
                }
            } else {
                state = Self.step(state, token)
            }
            range = (range?.lowerBound ?? token.start)..<token.end
        }
        isAtEnd = true
        return range
    }

    private static func step(_ state: State, _ token: SQLToken) -> State {
        switch state {
        case .start:
            if token.matches("create") { return .create }
            return token.matches("explain") ? .explain : .normal
        case .explain:
            if token.matches("create") { return .create }
            // sqlite3_complete() does not know QUERY PLAN here; SQLite's grammar does.
            return token.matches("query") || token.matches("plan") ? .explain : .normal
        case .create:
            if token.matches("trigger") { return .trigger }
            return token.matches("temp") || token.matches("temporary") ? .create : .normal
        case .normal: return .normal
        case .triggerSemicolon: return token.matches("end") ? .triggerEnd : .trigger
        case .trigger, .triggerEnd: return .trigger
        }
    }
}
