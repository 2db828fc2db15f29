import PostgresWire

/// Parameters with a type that SQLite's lexer would not keep together, and booleans.
extension PostgresSpelling {
    /// `$1::int8` is one token of SQLite's; `[]`, `precision` and `with time zone` behind it are not part of it, and with a space in it
    /// (`numeric(10, 2)`) there is none.
    mutating func parameter(_ token: SQLToken) {
        guard case .numbered(let number, let range?) = ParameterName(token.bytes) else { return }
        let word = String(decoding: token.bytes[range].map(lowerASCII), as: UTF8.self)
        guard let type = extended(word, token.end), type.end > token.end || token.bytes.contains(where: isSpace),
            let name = Self.plainName(type.type)
        else { return }
        replace(token.start..<type.end, by: Array("$\(number)::\(name)".utf8))
        lexer = lexer.moved(to: type.end)
    }

    /// `CAST($1 AS boolean)` and `CAST('2024-01-02' AS date)`: SQLite would make a number of them. To PostgreSQL they are `$1::boolean` and
    /// `'2024-01-02'::date`.
    ///
    /// Where they cannot be written so, they are refused.
    mutating func castOfValue(_ cast: SQLToken) {
        var ahead = lexer
        guard ahead.next()?.kind == .leftParenthesis, let operand = ahead.next(), let value = typed(operand) else { return }
        ahead = ahead.moved(to: value.end)
        guard ahead.next()?.matches("as") == true, let word = ahead.next(), NumericCoercion.valueType(word) != nil else { return }
        let type = extended(word.name, word.end)
        refusal = NumericCoercion.refusedCast(type?.type.element == nil ? word.name : word.name + "[]")
        guard let type, type.type.element == nil, value.type ?? type.type == type.type,
            let name = Self.plainName(type.type)
        else { return }
        ahead = ahead.moved(to: type.end)
        guard let close = ahead.next(), close.kind == .rightParenthesis, !isMadeANumber(type.type, ahead) else { return }
        let range = cast.start..<close.end
        if operand.kind == .string {
            let content = Array(operand.name.utf8)
            guard Self.literal(content, type.type) != nil else { return }
            refusal = nil
            literal(content, type.type, at: range)
        } else if case .numbered(let number, _) = ParameterName(operand.bytes) {
            refusal = nil
            replace(range, by: Array("$\(number)::\(name)".utf8))
        }
        lexer = ahead
    }

    /// Whether it is calculated with, or cast once more. What is true or false is a number.
    private func isMadeANumber(_ type: TypeOID, _ behind: SQLLexer) -> Bool {
        if type != .bool, isBesideArithmetic(behind.position) { return true }
        var ahead = behind
        guard let next = ahead.next() else { return false }
        // `::text` is a colon and a parameter.
        if next.firstByte == UInt8(ascii: ":") || next.kind == .leftParenthesis { return true }
        guard type != .bool, next.matches("as"), last?.kind == .leftParenthesis, let opener = openers.last, opener?.matches("cast") == true
        else { return false }
        guard let outer = ahead.next(), !NumericCoercion.isRefusedType(outer) else { return false }
        return ExpressionClass(castTo: outer.name.lowercased()).isNumber
    }

    /// A string or a `$n`, with the type that stands behind it; nil: it is something else.
    private func typed(_ value: SQLToken) -> (type: TypeOID?, end: Int)? {
        var copy = self
        if value.kind == .string { return copy.typeName(value.end).map { ($0.type, $0.end) } ?? (nil, value.end) }
        guard value.firstByte == UInt8(ascii: "$"), case .numbered(_, let name) = ParameterName(value.bytes) else { return nil }
        guard let name else { return (nil, value.end) }
        return extended(String(decoding: value.bytes[name].map(lowerASCII), as: UTF8.self), value.end).map { ($0.type, $0.end) }
    }

    /// A name of the type that is one word.
    private static func plainName(_ type: TypeOID) -> String? {
        if let element = type.element { return plainName(element).map { "_" + $0 } }
        switch type {
        case .float8: return "float8"
        case .varchar: return "varchar"
        case .bpchar: return "bpchar"
        case .timestamp: return "timestamp"
        case .timestamptz: return "timestamptz"
        case .time: return "time"
        case .timetz: return "timetz"
        default: return type.sqlName.contains(" ") ? nil : type.sqlName
        }
    }
}
