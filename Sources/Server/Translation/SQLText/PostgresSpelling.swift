import PostgresWire

/// What PostgreSQL's drivers write by themselves into a statement's text, in SQLite's words.
///
/// psycopg2 puts values into the text (`'2024-01-02'::date`, `'\x00ff'::bytea`, `ARRAY[1,2]`), so do psycopg's ClientCursor
/// and pgjdbc in simple mode (`('5'::int4)`, `E'a\\b'`); asyncpg's users write `= ANY($1::int8[])`. Only this is rewritten:
/// literals with their type (also before them: `DATE '2024-01-02'`, JDBC's `{d …}`), parameters with a type SQLite's lexer
/// would not keep together, arrays, `= ANY`, `<> ALL` and unnest(), columns as texts, SQLAlchemy's `LIMIT ALL`. None of it is SQLite's
/// SQL, except `$1::int8[]`, which SQLite takes for `$1` and the name `[]` of a column. Everything else stays, so that SQLite is the
/// one to complain.
struct PostgresSpelling {
    let sql: UnsafeRawBufferPointer
    var lexer: SQLLexer
    private var result: [UInt8] = []
    /// What is before this has been taken over.
    private var taken = 0
    private var hasChanged = false
    /// The token before the one that is read.
    private(set) var last: SQLToken?
    /// And the one before that.
    private(set) var beforeLast: SQLToken?
    /// Where the name begins that is being read, with what stands before its dots.
    private(set) var nameStart: Int?
    /// The token before that.
    private(set) var beforeName: SQLToken?
    /// For each open parenthesis: the token before it.
    var openers: [SQLToken?] = []
    /// For each open parenthesis: what closes it, where that is more than stands there.
    var closings: [String?] = []
    /// For the statement and each open parenthesis or bracket: whether an expression may have a name behind it.
    var places = [Place()]
    /// Whether a FROM stands behind the first literal for which that was of interest.
    var hasFromAhead: Bool?
    /// Where in the result literals stand with a type that no cast makes a number.
    private var uncounted: [(start: Int, type: TypeOID)] = []
    /// And intervals and jsonb, whose texts have another order than their values.
    private var unordered: [(start: Int, type: TypeOID)] = []
    /// PostgreSQL would take it, and SQLite would make something else of it.
    var refusal: WireError?
    /// How many calls of unnest() it is an argument of.
    private(set) var nesting = 0
    /// So many bytes were read to find the ends of such calls. They may stand in each other, and most of them not be understood.
    var bytesAhead = 0

    /// Arrays in arrays.
    static let depthLimit = 6

    /// What an `ARRAY[…]` becomes.
    enum ArrayForm { case none, json, list }

    /// nil when nothing is PostgreSQL's, as in nearly all statements.
    static func rewritten(_ sql: UnsafeRawBufferPointer, nesting: Int = 0) throws(WireError) -> [UInt8]? {
        guard mayHaveSome(sql) else { return nil }
        if let spread = GroupedCasts.spread(sql) {
            return try spread.withUnsafeBufferPointer { bytes throws(WireError) in
                try rewritten(UnsafeRawBufferPointer(bytes), nesting: nesting) ?? spread
            }
        }
        var spelling = PostgresSpelling(sql: sql, lexer: SQLLexer(sql))
        spelling.nesting = nesting
        spelling.result.reserveCapacity(sql.count)
        let isRead = spelling.read(depth: 0)
        if let refusal = spelling.refusal { throw refusal }
        guard isRead, spelling.whole() != nil else { return nil }
        if let type = spelling.typeThatMeetsNumber() { throw NumericCoercion.refusal(ofArithmeticWith: type) }
        if let type = spelling.typeThatIsOrdered() {
            throw WireError(
                state: .featureNotSupported, message: "SQLite would order a value of type \(type.sqlName) as a text",
                hint: ParameterType.hintForOrder(of: type))
        }
        return spelling.result
    }

    /// All of it; nil: nothing was PostgreSQL's.
    mutating func whole() -> [UInt8]? {
        guard hasChanged else { return nil }
        take(upTo: sql.count)
        return result
    }

    /// Of a literal that is compared with what is calculated, or calculated with: as a parameter it would be refused, too.
    private func typeThatMeetsNumber() -> TypeOID? {
        guard !uncounted.isEmpty else { return nil }
        return result.withUnsafeBytes { text in
            zip(uncounted, NumericContext.contexts(of: uncounted.map(\.start), in: text)).first { _, context in
                context == .number || context == .truth
            }?.0.type
        }
    }

    /// As a parameter it would be refused, too.
    private func typeThatIsOrdered() -> TypeOID? {
        guard !unordered.isEmpty else { return nil }
        return result.withUnsafeBytes { text in
            guard var operands = OrderedOperands(TokenTable(text)) else { return nil }
            var index = 0
            return unordered.first { literal in
                while let token = operands.table[index], token.start < literal.start { index += 1 }
                return operands.contains(index)
            }?.type
        }
    }

    init(sql: UnsafeRawBufferPointer, lexer: SQLLexer) { (self.sql, self.lexer) = (sql, lexer) }

    func byte(_ index: Int) -> UInt8 { index < sql.count ? sql[index] : 0 }

    private mutating func take(upTo end: Int) {
        guard taken < end else { return }
        result += sql[taken..<end]
        taken = end
    }

    /// `LIMIT'1'::int8` must not become the name LIMIT1.
    private mutating func take(upTo end: Int, before text: some Collection<UInt8>) {
        take(upTo: end)
        if let first = text.first, let last = result.last, growsTogether(last, first) { result.append(UInt8(ascii: " ")) }
    }

    mutating func replace(_ range: Range<Int>, by text: some Collection<UInt8>) {
        take(upTo: range.lowerBound, before: text)
        result += text
        taken = range.upperBound
        if !text.isEmpty, let end = result.last, growsTogether(end, byte(taken)) { result.append(UInt8(ascii: " ")) }
        hasChanged = true
    }

    /// Two tokens become one where nothing stands between them: words and numbers, and strings.
    private func growsTogether(_ a: UInt8, _ b: UInt8) -> Bool {
        (isIdentifierByte(a) && (isIdentifierByte(b) || b == UInt8(ascii: "'"))) || (a == UInt8(ascii: "'") && b == a)
    }

    /// Until the end, or inside an array until its `]`. False when something is not understood.
    mutating func read(depth: Int, form: ArrayForm = .none) -> Bool {
        last = nil
        let level = openers.count
        while let token = lexer.next() {
            if form == .json, openers.count == level, last?.kind ?? .comma == .comma, realElement(token) {
                last = token
                continue
            }
            if depth > 0, Self.closesArray(token) { return openers.count == level && endArray(token) }
            guard rewrite(token, depth, level), refusal == nil else { return false }
            follow(token)
        }
        return depth == 0
    }

    private mutating func endArray(_ bracket: SQLToken) -> Bool {
        replace(bracket.range, by: ")".utf8)
        dropType(behind: bracket)
        return true
    }

    private mutating func follow(_ token: SQLToken) {
        if token.isIdentifierLike {
            if last?.isSymbol(".") != true { (nameStart, beforeName) = (token.start, last) }
        } else if !token.isSymbol(".") {
            nameStart = nil
        }
        (beforeLast, last) = (last, token)
    }

    // MARK: Tokens

    /// Rewrites what begins with the token, where that is PostgreSQL's. False when it is not understood.
    ///
    /// - Parameter level: how many parentheses were open before the array that is read, if one is.
    private mutating func rewrite(_ token: SQLToken, _ depth: Int, _ level: Int) -> Bool {
        switch token.kind {
        case .string: string(token, content: Array(token.name.utf8), from: token.start)
        case .number: number(token)
        case .parameter: parameter(token)
        case .leftParenthesis: open()
        case .rightParenthesis: return close(token, level)
        case .identifier: return word(token, depth)
        case .quotedIdentifier: _ = castName(token)
        default: break
        }
        return true
    }

    /// - Parameter closing: what stands there for its other parenthesis.
    mutating func openCall(of word: SQLToken, closing: String?) {
        last = word
        open()
        closings[closings.count - 1] = closing
    }

    private mutating func open() {
        closings.append(nil)
        openers.append(last)
        places.append(Place())
    }

    /// False for one that closes what is open outside of the brackets, or nothing.
    private mutating func close(_ token: SQLToken, _ level: Int) -> Bool {
        guard openers.count > level else { return false }
        openers.removeLast()
        places.removeLast()
        if let closing = closings.removeLast() { replace(token.range, by: closing.utf8) }
        return true
    }

    /// A word that is in no quotes, with what belongs to it. The first that fits counts, so the special stands before the general.
    private mutating func word(_ token: SQLToken, _ depth: Int) -> Bool {
        if token.matches("null") {
            dropType(behind: token)
        } else if token.matches("e"), byte(token.end) == UInt8(ascii: "'") {
            return escapedString(token)
        } else if token.matches("array"), last?.isSymbol(".") != true, bracketEnd(behind: token) != nil {
            return depth < Self.depthLimit && array(token, depth)
        } else if token.matches("cast") {
            castOfValue(token)
        } else if token.matches("extract") ? extract(token) : token.matches("at") && utc(token) {
            return true
        } else if token.matches("all"), last?.matches("limit") == true {
            replace(token.range, by: "-1".utf8)
        } else if token.matches("any") || token.matches("all") {
            if let last { return quantified(last, token, depth) }
        } else if unnested(token) || castName(token) {
            return true
        } else if !isOfComparison(token), !literalBehindType(token) {
            places[places.count - 1].note(token)
        }
        return true
    }

    /// IS DISTINCT FROM begins no clause.
    private func isOfComparison(_ token: SQLToken) -> Bool { token.matches("from") && last?.matches("distinct") == true }

    mutating func dropType(behind token: SQLToken) {
        if let type = typeName(token.end) { replace(token.end..<type.end, by: []) }
    }

    // MARK: Literals

    mutating func string(_ token: SQLToken, content: [UInt8], from start: Int, isEscaped: Bool = false) {
        if let type = typeName(token.end) {
            literal(content, type.type, at: start..<type.end)
        } else if isEscaped {
            replace(start..<token.end, by: Self.quoted(content))
        }
    }

    /// `E'a\\b'`: the word E, and the string behind it.
    private mutating func escapedString(_ word: SQLToken) -> Bool {
        guard let text = lexer.next(), text.kind == .string, let content = Self.unescaped(text) else { return false }
        string(text, content: content, from: word.start, isEscaped: true)
        return true
    }

    mutating func literal(_ content: [UInt8], _ type: TypeOID, at range: Range<Int>) {
        let isUncounted = Self.isNeverCounted(type)
        if isUncounted, isBesideArithmetic(range.upperBound) { return refusal = NumericCoercion.refusal(ofArithmeticWith: type) }
        // What the type's input function refuses stays as it is, and SQLite refuses it.
        guard let literal = Self.literal(content, type) else { return refuseNaN(content, type) }
        take(upTo: range.lowerBound, before: literal.utf8)
        // Of JSON PostgreSQL's cast makes a number, too.
        if isUncounted, type != .json, type != .jsonb { uncounted.append((result.count, type)) }
        if ParameterType.hasOtherOrder(type) { unordered.append((result.count, type)) }
        replace(range, by: literal.utf8)
    }

    /// As a parameter is refused: a float may be NaN to the client, and the value is not of another type.
    private mutating func refuseNaN(_ content: [UInt8], _ type: TypeOID) {
        guard type == .float4 || type == .float8, content.withUnsafeBytes({ TextCodec.parseDouble($0)?.isNaN ?? false }) else { return }
        refusal = WireError(
            state: .numericValueOutOfRange, message: "NaN cannot be stored in SQLite", hint: "Write NULL instead.")
    }

    /// What PostgreSQL calculates with otherwise, or not at all, and SQLite as a number: a text is one as far as it begins with one.
    static func isNeverCounted(_ type: TypeOID) -> Bool {
        isMoment(type) || type == .uuid || type == .json || type == .jsonb
    }

    static func isMoment(_ type: TypeOID) -> Bool { type == .interval || MomentText.types.contains(type) }

    /// Whether what is read, up to `end`, perhaps in parentheses that are no call's, is calculated with.
    func isBesideArithmetic(_ end: Int) -> Bool {
        var ahead = lexer.moved(to: end)
        var (left, right) = (last, ahead.next())
        func isFound() -> Bool { left?.isArithmetic == true || left?.isSymbol("~") == true || right?.isArithmetic == true }
        for opener in openers.reversed() {
            if isFound() { return true }
            let isAlone = left?.kind == .leftParenthesis || left?.matches("select") == true
            guard isAlone, right?.kind == .rightParenthesis else { return false }
            if let opener, opener.isIdentifierLike, !opener.isReservedWord { return false }
            (left, right) = (opener, ahead.next())
        }
        return isFound()
    }

    mutating func number(_ token: SQLToken) {
        guard let type = typeName(token.end) else { return }
        let isInteger = token.bytes.allSatisfy(isDigit)
        switch type.type {
        case .int2 where isInteger, .int4 where isInteger, .int8 where isInteger, .numeric: replace(token.end..<type.end, by: [])
        case .float4, .float8: replace(token.start..<type.end, by: Array("CAST(\(token.text) AS REAL)".utf8))
        default: break
        }
    }
}
