/// A statement the daemon parses itself does not follow its grammar.
struct SQLSyntaxError: Error, Equatable, Sendable {
    /// The offending token; empty and at the end of the statement when something is missing there.
    let range: Range<Int>
    /// For the error's position field, which counts from where this statement starts.
    var offset: Int { range.lowerBound }
}

/// A lexer with one token of lookahead: what a recursive-descent parser needs and no more.
struct TokenCursor {
    private var lexer: SQLLexer
    /// The next token, not yet consumed.
    private(set) var token: SQLToken?
    /// Just past the last token that was consumed.
    private(set) var consumedEnd = 0

    init(_ statement: UnsafeRawBufferPointer) {
        lexer = SQLLexer(statement)
        token = lexer.next()
    }

    var end: Int { lexer.end }

    func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: lexer.bytes[range]) }

    /// Nothing is left but the statement's own `;`.
    var isAtEnd: Bool { token == nil || token?.kind == .semicolon }

    mutating func advance() {
        if let token { consumedEnd = token.end }
        token = lexer.next()
    }

    func sees(_ keyword: StaticString) -> Bool { token?.matches(keyword) ?? false }

    mutating func accept(_ keyword: StaticString) -> Bool {
        guard sees(keyword) else { return false }
        advance()
        return true
    }

    mutating func accept(symbol: StaticString) -> Bool {
        guard token?.isSymbol(symbol) ?? false else { return false }
        advance()
        return true
    }

    mutating func accept(_ kind: SQLToken.Kind) -> Bool {
        guard token?.kind == kind else { return false }
        advance()
        return true
    }

    /// The error at the next token.
    func failure() -> SQLSyntaxError {
        SQLSyntaxError(range: token?.range ?? end..<end)
    }

    mutating func expect(_ keyword: StaticString) throws(SQLSyntaxError) {
        guard accept(keyword) else { throw failure() }
    }

    mutating func expect(_ kind: SQLToken.Kind) throws(SQLSyntaxError) {
        guard accept(kind) else { throw failure() }
    }

    mutating func expectEnd() throws(SQLSyntaxError) {
        while accept(.semicolon) {}
        guard token == nil else { throw failure() }
    }

    mutating func identifier() throws(SQLSyntaxError) -> String {
        guard let token, token.isIdentifierLike else { throw failure() }
        advance()
        return token.name
    }

    mutating func string() throws(SQLSyntaxError) -> String {
        guard let token, token.kind == .string else { throw failure() }
        advance()
        return token.name
    }

    /// Everything up to the end of the statement, at least one token.
    mutating func remainder() throws(SQLSyntaxError) -> Range<Int> {
        guard !isAtEnd, let first = token else { throw failure() }
        while let token {
            // A `;` inside a trigger's body belongs to it; one that ends the statement is the last token.
            if token.kind == .semicolon {
                let before = consumedEnd
                while accept(.semicolon) {}
                if self.token == nil { return first.start..<before }
            } else {
                advance()
            }
        }
        return first.start..<consumedEnd
    }

    /// The texts between the commas of a parenthesised list whose `(` has been consumed; consumes its `)`.
    mutating func parenthesisedList() throws(SQLSyntaxError) -> [Range<Int>] {
        var items: [Range<Int>] = []
        if accept(.rightParenthesis) { return items }
        var start = token?.start ?? end
        var depth = 0
        while let token {
            let closes = depth == 0 && token.kind == .rightParenthesis
            if closes || (depth == 0 && token.kind == .comma) {
                guard start < token.start, consumedEnd > start else { throw failure() }
                items.append(start..<consumedEnd)
                advance()
                if closes { return items }
                start = self.token?.start ?? end
                continue
            }
            let illegal = token.kind == .illegal ? token.firstByte : nil
            if token.kind == .leftParenthesis || illegal == UInt8(ascii: "[") { depth += 1 }
            if token.kind == .rightParenthesis || illegal == UInt8(ascii: "]") { depth -= 1 }
            // Of `::` the first is none of SQLite's tokens, and the second begins a parameter; brackets are an array's.
            if token.kind == .semicolon || (illegal != nil && !":[]".utf8.contains(illegal!)) { throw failure() }
            advance()
        }
        throw failure()
    }
}
