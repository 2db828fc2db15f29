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

    /// `CAST($1 AS boolean)`: SQLite would make a number of what is sent, 0 of 'true'. In PostgreSQL the parameter is a boolean.
    mutating func boolean(_ cast: SQLToken) {
        var ahead = lexer
        guard ahead.next()?.kind == .leftParenthesis, let operand = ahead.next(), NumericCoercion.isNumbered(operand),
            ahead.next()?.matches("as") == true, let type = ahead.next(), NumericCoercion.isBoolean(type),
            let close = ahead.next(), close.kind == .rightParenthesis
        else { return }
        replace(cast.start..<close.end, by: Array("\(operand.text)::boolean".utf8))
        lexer = ahead
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
