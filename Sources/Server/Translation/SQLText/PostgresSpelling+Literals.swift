import PostgresWire
import SQLite

/// What a literal with a type is as SQLite's.
extension PostgresSpelling {
    static func literal(_ content: [UInt8], _ type: TypeOID) -> String? {
        content.withUnsafeBytes { bytes -> String? in
            switch type {
            case .int2, .int4, .int8, .oid: return (try? TypedNumber.integer(bytes, type)).map { $0 < 0 ? "(\($0))" : "\($0)" }
            case .float4, .float8:
                guard let value = try? TypedNumber.real(bytes, type), !value.isNaN else { return nil }
                let digits = value.isInfinite ? "9e999" : "\(value.magnitude)"
                return value.sign == .minus ? "(-\(digits))" : digits
            case .numeric:
                guard let decimal = DecimalNumber(String(decoding: TextCodec.trimmed(bytes), as: UTF8.self)) else { return nil }
                return decimal.text.hasPrefix("-") ? "(\(decimal.text))" : decimal.text
            case .bool: return TextCodec.parseBool(bytes).map { $0 ? "TRUE" : "FALSE" }
            case .json, .jsonb: return JSONSyntax.isValid(bytes) ? String(decoding: quoted(content), as: UTF8.self) : nil
            case .bytea:
                guard let value = TextCodec.parseBytea(bytes) else { return nil }
                let digits = Array("0123456789abcdef".utf8)
                return "x'" + String(decoding: value.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self) + "'"
            default:
                let refused = WireError(state: .invalidTextRepresentation, message: "")
                guard let canonical = try? ValueText.canonical(bytes, type, malformed: { refused }) else {
                    let takesAny = type.element == nil && !isMoment(type) && type != .timetz && type != .uuid
                    return takesAny ? String(decoding: quoted(content), as: UTF8.self) : nil
                }
                return String(decoding: quoted(Array(canonical.utf8)), as: UTF8.self)
            }
        }
    }

    static func quoted(_ content: [UInt8]) -> [UInt8] {
        let quote = UInt8(ascii: "'")
        return [quote] + content.flatMap { $0 == quote ? [quote, quote] : [$0] } + [quote]
    }

    /// "C-style escapes": https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-STRINGS-ESCAPE.
    /// nil for those with digits, which drivers do not write, and for `\'`, behind which SQLite's lexer goes on elsewhere.
    static func unescaped(_ token: SQLToken) -> [UInt8]? {
        var content: [UInt8] = []
        var rest = Array(token.name.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                content.append(byte)
                continue
            }
            switch rest.popFirst() {
            case UInt8(ascii: "\\"): content.append(UInt8(ascii: "\\"))
            case UInt8(ascii: "n"): content.append(0x0A)
            case UInt8(ascii: "r"): content.append(0x0D)
            case UInt8(ascii: "t"): content.append(0x09)
            case UInt8(ascii: "b"): content.append(0x08)
            case UInt8(ascii: "f"): content.append(0x0C)
            default: return nil
            }
        }
        return content
    }
}
