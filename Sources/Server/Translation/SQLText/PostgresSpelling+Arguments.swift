import PostgresWire

/// A literal that stands alone, as an argument of EXECUTE's, where its type tells what the parameter is.
extension PostgresSpelling {
    struct Argument: Equatable {
        /// nil is NULL.
        var text: String?
        var type: TypeOID
    }

    /// `5`, `-5`, `'a'`, `true` and NULL, with a type behind (`'2024-01-02'::date`), and strings behind one (`TIMESTAMP WITH TIME ZONE
    /// '…'`: what Qt's driver writes). nil: it is something else.
    static func argument(_ sql: UnsafeRawBufferPointer) throws(WireError) -> Argument? {
        var spelling = PostgresSpelling(sql: sql, lexer: SQLLexer(sql))
        return try spelling.argument()
    }

    private mutating func argument() throws(WireError) -> Argument? {
        guard let first = lexer.next() else { return nil }
        if first.isSymbol("-") || first.isSymbol("+") {
            guard let number = lexer.next(), number.kind == .number else { return nil }
            return try typed(Self.constant(first.text + number.text), number.end)
        }
        switch first.kind {
        case .number: return try typed(Self.constant(first.text), first.end)
        case .string: return try typed(Argument(text: first.name, type: .text), first.end)
        case .identifier: break
        default: return nil
        }
        if first.matches("null") { return try typed(Argument(text: nil, type: .unspecified), first.end) }
        if first.matches("true") { return try typed(Argument(text: "1", type: .bool), first.end) }
        if first.matches("false") { return try typed(Argument(text: "0", type: .bool), first.end) }
        if first.matches("e"), byte(first.end) == UInt8(ascii: "'") {
            guard let text = lexer.next(), text.kind == .string, let content = Self.unescaped(text) else { return nil }
            return try typed(Argument(text: String(decoding: content, as: UTF8.self), type: .text), text.end)
        }
        guard let type = extended(first.name, first.end), type.type.element == nil else { return nil }
        lexer = lexer.moved(to: type.end)
        guard let text = lexer.next(), text.kind == .string, lexer.next() == nil else { return nil }
        return try canonical(Argument(text: text.name, type: type.type))
    }

    /// "A numeric constant that contains neither a decimal point nor an exponent is initially presumed to be type integer if its value
    /// fits in type integer (32 bits); otherwise it is presumed to be type bigint if its value fits in type bigint (64 bits); otherwise
    /// it is taken to be type numeric." https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-CONSTANTS-NUMERIC
    private static func constant(_ text: String) -> Argument {
        let isInteger = Array(text.utf8).withUnsafeBytes { TextCodec.parseInt($0) } != nil
        return Argument(text: text, type: isInteger ? .int8 : .numeric)
    }

    /// With the type behind it, if there is one, and nothing else.
    private mutating func typed(_ literal: Argument, _ end: Int) throws(WireError) -> Argument? {
        guard let type = typeName(end) else { return lexer.next() == nil ? literal : nil }
        guard lexer.next() == nil else { return nil }
        // A boolean is no date, and PostgreSQL has no such cast.
        if literal.type == .bool, type.type != .bool { return nil }
        return try canonical(Argument(text: literal.text, type: type.type))
    }

    /// One moment is one text, and in UTC: a parameter that is a timestamp without a time zone drops what is left of it. Of an array its
    /// parameter makes JSON.
    private func canonical(_ literal: Argument) throws(WireError) -> Argument {
        guard let text = literal.text, literal.type.element == nil else { return literal }
        let malformed = WireError(
            state: .invalidTextRepresentation,
            message: "invalid input syntax for type \(literal.type.sqlName): \"\(text.prefix(SessionLimits.quotedCharacters))\"")
        let found = try Array(text.utf8).withUnsafeBufferPointer { bytes throws(WireError) -> String? in
            try ValueText.canonical(UnsafeRawBufferPointer(bytes), literal.type) { malformed }
        }
        return Argument(text: found ?? text, type: literal.type)
    }
}
