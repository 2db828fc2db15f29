import PostgresWire
import SQLite

/// A column's default as PostgreSQL's pg_get_expr() spells it.
///
/// What reads it goes by the spelling: ActiveRecord's `extract_value_from_default` takes for a text only `'…'::type`, and for a boolean
/// only `true` and `false`. SQLite keeps what stood behind DEFAULT.
enum DefaultExpression {
    /// nil: there is none. "If there is no default value for a column, then the default value is null", and PostgreSQL keeps no
    /// default for one that says so. https://www.postgresql.org/docs/current/ddl-default.html
    static func spelled(_ written: String, for type: AttributeType) -> String? {
        written.withBytes { bytes in
            var tokens: [SQLToken] = []
            // More are an expression, which stays as it is.
            for token in SQLLexer(bytes) where tokens.count < 3 { tokens.append(token) }
            let sign = tokens.first.flatMap { $0.isSymbol("-") ? "-" : $0.isSymbol("+") ? "" : nil }
            if let sign, tokens.count == 2, tokens[1].kind == .number { return number(text(tokens[1]), sign, type) }
            return tokens.count == 1 ? literal(tokens[0], type) : written
        }
    }

    private static let boolean = 16
    private static func text(_ token: SQLToken) -> String { String(decoding: token.bytes, as: UTF8.self) }

    private static func literal(_ token: SQLToken, _ type: AttributeType) -> String? {
        switch token.kind {
        case .string: return string(token, type)
        case .quotedIdentifier: return quoted(token.name, type)
        case .number: return number(text(token), "", type)
        case .blob: return "'\\x\(text(token).dropFirst(2).dropLast().lowercased())'::bytea"
        case .identifier: return word(text(token), type)
        default: return text(token)
        }
    }

    private static func word(_ word: String, _ type: AttributeType) -> String? {
        switch word.lowercased() {
        case "null": return nil
        case "true": return type.oid == boolean ? "true" : "1"
        case "false": return type.oid == boolean ? "false" : "0"
        case "current_timestamp", "current_date", "current_time": return word.uppercased()
        // "DEFAULT id" is a text: https://www.sqlite.org/src/file?name=src/parse.y, ccons ::= DEFAULT id.
        default: return quoted(word, type)
        }
    }

    private static func string(_ token: SQLToken, _ type: AttributeType) -> String {
        var content = ""
        var isSecond = false
        for character in text(token).unicodeScalars.dropFirst().dropLast() {
            isSecond = character == "'" && !isSecond
            if !isSecond { content.unicodeScalars.append(character) }
        }
        return quoted(content, type)
    }

    private static func quoted(_ text: String, _ type: AttributeType) -> String {
        if type.oid == boolean, let value = Array(text.utf8).withUnsafeBytes({ TextCodec.parseBool($0) }) {
            return value ? "true" : "false"
        }
        return SQLQuoting.literal(text) + "::" + (CatalogTypes.formatted(type.oid, modifier: -1) ?? "text")
    }

    /// A negative number gets a type, because PostgreSQL's parser would take the sign for an operator.
    private static func number(_ digits: String, _ sign: String, _ type: AttributeType) -> String {
        if type.oid == boolean, let value = Int(digits) { return value == 0 ? "false" : "true" }
        if sign.isEmpty { return digits }
        return "'-\(digits)'::" + (Int32("-" + digits) != nil ? "integer" : Int("-" + digits) != nil ? "bigint" : "numeric")
    }
}
