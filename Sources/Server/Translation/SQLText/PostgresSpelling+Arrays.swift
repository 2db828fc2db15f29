import PostgresWire

/// Arrays, and what is compared with them.
extension PostgresSpelling {
    mutating func array(_ token: SQLToken, _ depth: Int) -> Bool {
        guard let start = bracketEnd(behind: token) else { return false }
        replace(token.start..<start, by: "json_array(".utf8)
        lexer = lexer.moved(to: start)
        places.append(Place())
        defer { places.removeLast() }
        return read(depth: depth + 1, form: .json)
    }

    /// Behind the `[` that follows the word ARRAY.
    func bracketEnd(behind word: SQLToken) -> Int? {
        var ahead = lexer.moved(to: word.start)
        guard ahead.next() != nil, ahead.isBehindArray, let bracket = ahead.next(), bracket.firstByte == UInt8(ascii: "[")
        else { return nil }
        return bracket.end
    }

    // MARK: Elements of JSON

    /// An element that is a real: json_array() would write 15 of its digits (`%!.15g`), and 0.30000000000000004 is then another number.
    /// What is JSON it takes as it is.
    mutating func realElement(_ first: SQLToken) -> Bool {
        var ahead = lexer
        let isNegative = first.isSymbol("-")
        guard let token = isNegative ? ahead.next() : first, token.kind == .number || (token.kind == .string && !isNegative) else {
            return false
        }
        let before = lexer
        let type = typeName(token.end)
        lexer = before
        if let type, ![.float4, .float8, .numeric].contains(type.type) { return false }
        let isText = token.kind == .string
        guard isText ? type != nil && type?.type != .numeric : Self.isReal(token),
            let value = Array(token.name.utf8).withUnsafeBytes({ TextCodec.parseDouble($0) })
        else { return false }
        return takeElement(first.start..<(type?.end ?? token.end), isNegative ? -value : value)
    }

    private static func isReal(_ number: SQLToken) -> Bool {
        !number.bytes.contains { $0 | 0x20 == UInt8(ascii: "x") }
            && number.bytes.contains { $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e") }
    }

    private mutating func takeElement(_ range: Range<Int>, _ value: Double) -> Bool {
        var ahead = lexer.moved(to: range.upperBound)
        guard let next = ahead.next(), next.kind == .comma || Self.closesArray(next), let digits = try? ArrayCodec.number(value) else {
            return false
        }
        replace(range, by: "json('\(digits)')".utf8)
        lexer = lexer.moved(to: range.upperBound)
        return true
    }

    static func closesArray(_ token: SQLToken) -> Bool { token.kind == .illegal && token.firstByte == UInt8(ascii: "]") }

    // MARK: ANY and ALL

    /// `x = ANY (array)` is `x IN (SELECT +value FROM json_each(array))`, and `x <> ALL` is NOT IN; a query's rows they take as they are,
    /// and an array that is written down is a list. False when something is not understood.
    ///
    /// With the plus, because the affinity of what stands on the left is to convert the elements as it would a single one, and it does so
    /// only where the other side has none. A column that is declared without a type, as `value` is, has BLOB's: 5 and '5' would never be
    /// equal then ("Affinity Of Comparison Operands", https://www.sqlite.org/datatype3.html#affinity_of_comparison_operands).
    mutating func quantified(_ comparison: SQLToken, _ word: SQLToken, _ depth: Int) -> Bool {
        let isAny = word.matches("any")
        guard isAny ? comparison.isSymbol("=") : comparison.isSymbol("<>") || comparison.isSymbol("!=") else { return true }
        var ahead = lexer
        guard let open = ahead.next(), open.kind == .leftParenthesis, let first = ahead.next() else { return true }
        let isIn = isAny ? " IN (" : " NOT IN ("
        let text: String
        let closing: String?
        var end = open.end
        if first.matches("select") || first.matches("values") || first.matches("with") {
            (text, closing) = (isIn, nil)
        } else if first.matches("array"), depth < Self.depthLimit, let start = bracketEnd(behind: first), isAllOfArgument(start) {
            enter(comparison, upTo: start, isIn, closing: "")
            return read(depth: depth + 1, form: .list)
        } else if let array = arrayLiteral(inside(first)) {
            (text, closing, end) = (isIn + "SELECT value FROM json_each(" + array.json, "))", array.end)
        } else if let bytes = listOfBytes(inside(first)) {
            (text, closing, end) = (isIn + bytes.list, nil, bytes.end)
        } else {
            (text, closing) = Self.elements(isIn, of: first)
        }
        enter(comparison, upTo: end, text, closing: closing)
        return true
    }

    private mutating func enter(_ comparison: SQLToken, upTo end: Int, _ text: String, closing: String?) {
        replace(comparison.start..<end, by: text.utf8)
        closings.append(closing)
        openers.append(comparison)
        places.append(Place())
        lexer = lexer.moved(to: end)
    }

    /// IN nothing is false, but compared with an array that is NULL nothing is true or false: NULL is among the elements then. What a
    /// parameter is taken for is told by where it stands, so it stays right inside json_each(). All else is made before: in there `id`
    /// and `key` are columns of json_each's.
    private static func elements(_ isIn: String, of first: SQLToken) -> (text: String, closing: String) {
        guard first.kind == .parameter else {
            return (
                isIn + "SELECT +value FROM (SELECT coalesce(", ", '[null]') AS walpool_array), json_each(walpool_array))"
            )
        }
        guard case .numbered(let number, _) = ParameterName(first.bytes) else {
            return (isIn + "SELECT +value FROM json_each(", "))")
        }
        return (isIn + "SELECT +value FROM json_each(", ") UNION ALL SELECT NULL WHERE $\(number) IS NULL)")
    }

    /// Whether the `ARRAY[…]` whose elements begin here, with its type, is all that stands in the parentheses.
    private mutating func isAllOfArgument(_ start: Int) -> Bool {
        guard let end = arrayEnd(start) else { return false }
        let before = lexer
        defer { lexer = before }
        return argumentEnd(typeName(end)?.end ?? end, 0) != nil
    }

    /// Behind the `]` of the array whose elements begin at `start`.
    private func arrayEnd(_ start: Int) -> Int? {
        var ahead = lexer.moved(to: start)
        var depth = 1
        while let token = ahead.next() {
            if token.matches("array"), let start = bracketEnd(behind: token) {
                depth += 1
                ahead = lexer.moved(to: start)
            } else if Self.closesArray(token) {
                depth -= 1
                if depth == 0 { return token.end }
            }
        }
        return nil
    }

    // MARK: Literals

    /// pgjdbc's simple mode puts every value in parentheses of its own: `ANY (('{"1"}'))`.
    private func inside(_ first: SQLToken) -> (token: SQLToken, depth: Int) {
        var (token, depth) = (first, 0)
        var ahead = lexer.moved(to: first.end)
        while token.kind == .leftParenthesis, depth < Self.depthLimit, let next = ahead.next() { (token, depth) = (next, depth + 1) }
        return (token, depth)
    }

    /// `'{x,z}'` without a type, as psycopg's ClientCursor writes a list of strings. JSON's arrays begin with another character. What looks
    /// like a number is there as a text and as a number: which of them is meant what stands on the left says, and its class may be known
    /// only when the statement runs. So there is no plus: a column of numbers converts the texts all the same, and one of texts must not
    /// make '2.5' of the number that 2.50 is.
    private func arrayLiteral(_ first: (token: SQLToken, depth: Int)) -> (json: String, end: Int)? {
        guard let (content, past) = contentAndEnd(first.token), content.first == UInt8(ascii: "{"), let end = argumentEnd(past, first.depth)
        else { return nil }
        let refused = WireError(state: .invalidTextRepresentation, message: "")
        let json = content.withUnsafeBytes { (try? ArrayCodec.json(ofTextAndNumbers: $0) { refused }) ?? nil }
        return json.map { (String(decoding: Self.quoted(Array($0.utf8)), as: UTF8.self), end) }
    }

    /// `'{"\\x61"}'::bytea[]` as a list: JSON has no bytes.
    private mutating func listOfBytes(_ first: (token: SQLToken, depth: Int)) -> (list: String, end: Int)? {
        guard let (content, past) = contentAndEnd(first.token) else { return nil }
        let before = lexer
        defer { lexer = before }
        guard let type = typeName(past), type.type.element == .bytea, let end = argumentEnd(type.end, first.depth) else { return nil }
        let items = content.withUnsafeBytes { bytes -> [String]? in
            guard var reader = ArrayLiteral(bytes) else { return nil }
            var items: [String] = []
            while let next = reader.next() {
                guard let item = next.isNull ? "NULL" : Self.literal(next.text, .bytea) else { return nil }
                items.append(item)
            }
            return reader.hasFailed ? nil : items
        }
        return items.map { ($0.joined(separator: ", "), end) }
    }

    /// Of a string, or one with escapes.
    private func contentAndEnd(_ first: SQLToken) -> (content: [UInt8], end: Int)? {
        if first.kind == .string { return (Array(first.name.utf8), first.end) }
        var ahead = lexer.moved(to: first.end)
        guard first.matches("e"), byte(first.end) == UInt8(ascii: "'"), let text = ahead.next(), text.kind == .string,
            let content = Self.unescaped(text)
        else { return nil }
        return (content, text.end)
    }

    /// Behind the parentheses of the argument's own; nil when something else is beside it.
    private func argumentEnd(_ end: Int, _ parentheses: Int) -> Int? {
        var ahead = lexer.moved(to: end)
        var past = end
        for _ in 0..<parentheses {
            guard let next = ahead.next(), next.kind == .rightParenthesis else { return nil }
            past = next.end
        }
        return ahead.next()?.kind == .rightParenthesis ? past : nil
    }
}
