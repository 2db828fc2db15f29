import PostgresWire

/// The first look at all of a Query message, a statement at a time.
///
/// "Initial lexical and syntactic analysis is done on the entire query string before any of it is executed. Thus simple errors
/// (such as a misspelled keyword) in later statements can prevent execution of any of the statements."
/// https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-MULTI-STATEMENT
/// Of this only the first words: SQLite's parser cannot be asked before the tables are there that a statement names.
///
/// A message may have 80 MiB, whose reading takes seconds and needs no connection, so others have their turns in between. A step reads
/// no more than one statement may have: of a text that is longer it is known before it is read.
struct QueryReading {
    private(set) var statements: [Range<Int>] = []
    /// What is before this has been read.
    private var position = 0
    /// In here no bracket is closed before a quote: each would be read up to it again, in each step.
    private var openBrackets = 0..<0
    private let limitBytes: Int
    /// The longest statement, with the space and the comments before it.
    private let longestBytes: Int
    private let hasVerbs: Bool

    /// - Parameters:
    ///   - limitBytes: of a statement.
    ///   - bytesBefore: space and comments before one.
    ///   - hasVerbs: the statements are SQL, and not the console's.
    init(limitBytes: Int, bytesBefore: Int = SessionLimits.bytesBeforeStatement, hasVerbs: Bool) {
        (self.limitBytes, self.hasVerbs) = (limitBytes, hasVerbs)
        longestBytes = limitBytes + bytesBefore
    }

    /// Reads the next statement, if there is one.
    ///
    /// - Parameter sql: the same text each time.
    /// - Returns: how many bytes it has read; nil: nothing was left.
    mutating func step(_ sql: UnsafeRawBufferPointer) throws(WireError) -> Int? {
        guard position < sql.count else { return nil }
        let isRest = sql.count - position <= longestBytes
        let window = UnsafeRawBufferPointer(rebasing: sql[position..<(isRest ? sql.count : position + longestBytes)])
        if !isRest, case let space = window.firstIndex(where: { !isSpace($0) }) ?? window.count, space > longestBytes - limitBytes {
            position += space
            return space
        }
        var splitter = StatementSplitter(
            window, isWhole: window.count == sql.count,
            openBrackets: max(0, openBrackets.lowerBound - position)..<max(0, openBrackets.upperBound - position))
        let found = splitter.next()
        openBrackets = splitter.openBrackets.lowerBound + position..<splitter.openBrackets.upperBound + position
        // What reaches the window's end goes on behind it.
        let bytes = isRest && splitter.isAtEnd ? window.count : splitter.lastEnd
        guard bytes > 0 else { throw Session.statementTooLong("more than \(limitBytes)", limitBytes) }
        let read = UnsafeRawBufferPointer(rebasing: window[..<bytes])
        try ParameterBinder.requireText(read, "the query")
        try ForeignQuotes.checkComments(read)
        if let found, found.upperBound <= bytes { try add(found.lowerBound + position..<found.upperBound + position, in: sql) }
        position += bytes
        return bytes
    }

    private mutating func add(_ statement: Range<Int>, in sql: UnsafeRawBufferPointer) throws(WireError) {
        guard statements.count < SessionLimits.statementsInQuery else {
            throw WireError(
                state: .programLimitExceeded, message: "too many statements in one query",
                detail: "There may be \(SessionLimits.statementsInQuery).", hint: "Send them in several.")
        }
        statements.append(statement)
        guard hasVerbs, statements.count > 1 else { return }
        if statements.count == 2 { try Self.requireVerb(of: statements[0], in: sql) }
        try Self.requireVerb(of: statement, in: sql)
    }

    private static func requireVerb(of range: Range<Int>, in sql: UnsafeRawBufferPointer) throws(WireError) {
        let statement = UnsafeRawBufferPointer(rebasing: sql[range])
        var lexer = SQLLexer(statement)
        // What begins with a parenthesis may be a compound SELECT.
        guard let token = lexer.next(), Verb(token) == .other, StatementHead(statement).verb == .other else { return }
        throw WireError(
            state: .syntaxError, message: "syntax error at or near \"\(token.text)\"",
            position: ErrorTranslation.characterPosition(ofByte: range.lowerBound, in: sql))
    }
}
