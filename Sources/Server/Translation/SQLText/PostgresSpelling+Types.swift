import PostgresWire

/// Types behind `::`.
extension PostgresSpelling {
    /// The type behind `::`, and where it ends; the lexer is moved there. Of several (`'…'::uuid::UUID`: psycopg2 writes one and
    /// SQLAlchemy another) a text is no type of its own before another, and the same one twice is one.
    mutating func typeName(_ start: Int) -> (type: TypeOID, end: Int)? {
        let before = lexer
        guard var found = oneTypeName(start) else { return nil }
        while let next = oneTypeName(found.end) {
            // A number or a boolean as text is another text than it was written as.
            guard next.type == found.type || found.type.isCharacters || (next.type.isCharacters && found.type.isStoredAsText)
            else {
                lexer = before
                return nil
            }
            found = (next.type.isCharacters ? found.type : next.type, next.end)
        }
        return found
    }

    /// The type that this is the name of, with all that may belong to one: `numeric(10, 2)`.
    static func type(named name: String) -> TypeOID? {
        Array("::\(name)".utf8).withUnsafeBytes { bytes in
            var spelling = PostgresSpelling(sql: bytes, lexer: SQLLexer(bytes))
            return spelling.oneTypeName(0).flatMap { $0.end == bytes.count ? $0.type : nil }
        }
    }

    mutating func oneTypeName(_ start: Int) -> (type: TypeOID, end: Int)? {
        guard byte(start) == UInt8(ascii: ":"), byte(start + 1) == UInt8(ascii: ":") else { return nil }
        let nameStart = start + 2
        var nameEnd = nameStart
        while isIdentifierByte(byte(nameEnd)) { nameEnd += 1 }
        guard nameEnd > nameStart else { return nil }
        let word = sql[nameStart..<nameEnd]
        if byte(nameEnd) == UInt8(ascii: "(") {
            // Behind the first colon SQLite's lexer sees a parameter `:name`, with what stands in parentheses after it. It is asked
            // only for these: to it `:int::int::int` is one token, which would be read to its end again for each of its types.
            var ahead = lexer.moved(to: start + 1)
            guard let name = ahead.next(), name.kind == .parameter else { return nil }
            nameEnd = name.end
        }
        guard let type = extended(String(decoding: word.map(lowerASCII), as: UTF8.self), nameEnd) else { return nil }
        lexer = lexer.moved(to: type.end)
        return type
    }

    /// `double precision`, `timestamp(3) with time zone`, `text[]`.
    func extended(_ word: String, _ start: Int) -> (type: TypeOID, end: Int)? {
        var (name, end) = (word, start)
        var ahead = lexer.moved(to: start)
        func words(_ expected: [StaticString]) -> Bool {
            var probe = ahead
            for word in expected { guard let token = probe.next(), token.matches(word) else { return false } }
            (ahead, end) = (probe, probe.position)
            return true
        }
        switch word {
        case "double" where words(["precision"]): name = "float8"
        case "character" where words(["varying"]), "char" where words(["varying"]):
            name = "varchar"
            // The length, of one word SQLite's lexer keeps it together with that.
            var probe = ahead
            if probe.next()?.kind == .leftParenthesis, probe.next()?.kind == .number, probe.next()?.kind == .rightParenthesis {
                end = probe.position
            }
        case "timestamp" where words(["with", "time", "zone"]): name = "timestamptz"
        case "time" where words(["with", "time", "zone"]): name = "timetz"
        case "timestamp" where words(["without", "time", "zone"]), "time" where words(["without", "time", "zone"]): break
        default: break
        }
        while byte(end) == UInt8(ascii: "["), byte(end + 1) == UInt8(ascii: "]") {
            name = name.hasSuffix("[]") ? name : name + "[]"
            end += 2
        }
        return TypeOID(sqlName: name).map { ($0, end) }
    }
}
