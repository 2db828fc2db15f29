import Glibc
import PostgresWire

/// What PostgreSQL's drivers write by themselves into a statement's text, in SQLite's words.
///
/// psycopg2 puts values into the text (`'2024-01-02'::date`, `'\x00ff'::bytea`, `ARRAY[1,2]`), so do psycopg's ClientCursor
/// and pgjdbc in simple mode (`('5'::int4)`, `E'a\\b'`); asyncpg's users write `= ANY($1::int8[])`. Only this is
/// rewritten: literals with their type, parameters with a type SQLite's lexer would not keep together, arrays, `= ANY`
/// and `<> ALL`. None of it is SQLite's SQL, except `$1::int8[]`, which SQLite takes for `$1` and the name `[]` of a column.
/// Everything else stays, so that SQLite is the one to complain.
struct PostgresSpelling {
    private let sql: UnsafeRawBufferPointer
    private var lexer: SQLLexer
    private var result: [UInt8] = []
    /// What is before this has been taken over.
    private var taken = 0
    private var hasChanged = false
    /// The token before the one that is read.
    private var last: SQLToken?
    /// For each open parenthesis: the token before it.
    private var openers: [SQLToken?] = []
    /// For each open parenthesis: what closes it, where that is more than stands there.
    private var closings: [String?] = []

    /// Arrays in arrays.
    private static let depthLimit = 6

    /// nil when nothing is PostgreSQL's, as in nearly all statements.
    static func rewritten(_ sql: UnsafeRawBufferPointer) -> [UInt8]? {
        guard mayHaveSome(sql) else { return nil }
        var spelling = PostgresSpelling(sql: sql, lexer: SQLLexer(sql))
        spelling.result.reserveCapacity(sql.count)
        guard spelling.read(depth: 0), spelling.hasChanged else { return nil }
        spelling.take(upTo: sql.count)
        return spelling.result
    }

    private init(sql: UnsafeRawBufferPointer, lexer: SQLLexer) { (self.sql, self.lexer) = (sql, lexer) }

    /// Quicker than reading tokens: `::`, `E'`, `[` and ANY or ALL with a parenthesis. A statement without any of these
    /// characters costs four calls of memchr.
    private static func mayHaveSome(_ sql: UnsafeRawBufferPointer) -> Bool {
        if next("[", in: sql, 0) != nil { return true }
        var start = 0
        while let colon = next(":", in: sql, start) {
            if colon + 1 < sql.count, sql[colon + 1] == sql[colon] { return true }
            start = colon + 1
        }
        start = 1
        while let quote = next("'", in: sql, start) {
            if lowerASCII(sql[quote - 1]) == UInt8(ascii: "e") { return true }
            start = quote + 1
        }
        start = 3
        while let open = next("(", in: sql, start) {
            var end = open
            while end > 3, sql[end - 1] == 0x20 { end -= 1 }
            let (a, b, c) = (lowerASCII(sql[end - 3]), lowerASCII(sql[end - 2]), lowerASCII(sql[end - 1]))
            if a == UInt8(ascii: "a"), (b, c) == (UInt8(ascii: "n"), UInt8(ascii: "y")) || (b, c) == (UInt8(ascii: "l"), UInt8(ascii: "l")) {
                return true
            }
            start = open + 1
        }
        return false
    }

    private static func next(_ byte: UnicodeScalar, in sql: UnsafeRawBufferPointer, _ start: Int) -> Int? {
        guard let base = sql.baseAddress, start < sql.count,
            let found = memchr(base + start, Int32(byte.value), sql.count - start)
        else { return nil }
        return base.distance(to: found)
    }

    private func byte(_ index: Int) -> UInt8 { index < sql.count ? sql[index] : 0 }

    private mutating func take(upTo end: Int) {
        guard taken < end else { return }
        result += sql[taken..<end]
        taken = end
    }

    private mutating func replace(_ range: Range<Int>, by text: some Sequence<UInt8>) {
        take(upTo: range.lowerBound)
        result += text
        taken = range.upperBound
        hasChanged = true
    }

    /// Until the end, or inside an array until its `]`. False when something is not understood.
    private mutating func read(depth: Int) -> Bool {
        last = nil
        while let token = lexer.next() {
            switch token.kind {
            case .string: string(token, content: Array(token.name.utf8), from: token.start)
            case .number: number(token)
            case .parameter: parameter(token)
            case .leftParenthesis:
                closings.append(nil)
                openers.append(last)
            case .rightParenthesis:
                _ = openers.popLast()
                if let closing = closings.popLast() ?? nil { replace(token.range, by: closing.utf8) }
            case .identifier where token.matches("null"):
                if let type = typeName(token.end) { replace(token.end..<type.end, by: []) }
            case .identifier where token.matches("e") && byte(token.end) == UInt8(ascii: "'"):
                guard let text = lexer.next(), text.kind == .string, let content = Self.unescaped(text) else { return false }
                string(text, content: content, from: token.start, isEscaped: true)
            case .identifier where token.matches("array") && byte(token.end) == UInt8(ascii: "["):
                guard depth < Self.depthLimit, array(token, depth) else { return false }
            case .identifier where token.matches("any") || token.matches("all"):
                if let last { quantified(last, token) }
            case .illegal where depth > 0 && token.firstByte == UInt8(ascii: "]"):
                replace(token.range, by: ")".utf8)
                if let type = typeName(token.end) { replace(token.end..<type.end, by: []) }
                return true
            default: break
            }
            last = token
        }
        return depth == 0
    }

    // MARK: Types

    /// The type behind `::`, and where it ends; the lexer is moved there. Of several (`'…'::uuid::UUID`: psycopg2 writes one and
    /// SQLAlchemy another) a text is no type of its own before another, and the same one twice is one.
    private mutating func typeName(_ start: Int) -> (type: TypeOID, end: Int)? {
        guard var found = oneTypeName(start) else { return nil }
        while let next = oneTypeName(found.end) {
            // A number or a truth as text is another text than it was written as.
            guard next.type == found.type || Self.isText(found.type) || (Self.isText(next.type) && found.type.isStoredAsText)
            else { return nil }
            found = (Self.isText(next.type) ? found.type : next.type, next.end)
        }
        return found
    }

    private static func isText(_ type: TypeOID) -> Bool { type == .text || type == .varchar || type == .bpchar }

    private mutating func oneTypeName(_ start: Int) -> (type: TypeOID, end: Int)? {
        guard byte(start) == UInt8(ascii: ":"), byte(start + 1) == UInt8(ascii: ":") else { return nil }
        // Behind the first colon SQLite's lexer sees a parameter `:name`, with what stands in parentheses after it.
        var ahead = SQLLexer(sql, from: start + 1)
        guard let name = ahead.next(), name.kind == .parameter, name.end > start + 2 else { return nil }
        let word = name.bytes.dropFirst().prefix { $0 != UInt8(ascii: "(") && $0 != UInt8(ascii: ":") }
        // Another type behind it is part of the same token, too.
        let nameEnd = name.bytes.dropFirst(1 + word.count).first == UInt8(ascii: ":") ? start + 2 + word.count : name.end
        guard let type = extended(String(decoding: word.map(lowerASCII), as: UTF8.self), nameEnd) else { return nil }
        lexer = SQLLexer(sql, from: type.end)
        return type
    }

    /// `double precision`, `timestamp(3) with time zone`, `text[]`.
    private func extended(_ word: String, _ start: Int) -> (type: TypeOID, end: Int)? {
        var (name, end) = (word, start)
        var ahead = SQLLexer(sql, from: start)
        func words(_ expected: [StaticString]) -> Bool {
            var probe = ahead
            for word in expected { guard let token = probe.next(), token.matches(word) else { return false } }
            (ahead, end) = (probe, probe.position)
            return true
        }
        switch word {
        case "double" where words(["precision"]): name = "float8"
        case "character" where words(["varying"]), "char" where words(["varying"]): name = "varchar"
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

    // MARK: Literals

    private mutating func string(_ token: SQLToken, content: [UInt8], from start: Int, isEscaped: Bool = false) {
        if let type = typeName(token.end) {
            // What the type's input function refuses stays as it is, and SQLite refuses it. So does what SQLite would calculate with:
            // to it a date is a number up to its first dash.
            if Self.isMoment(type.type), isOperand(type.end) { return }
            guard let literal = Self.literal(content, type.type) else { return }
            replace(start..<type.end, by: literal.utf8)
        } else if isEscaped {
            replace(start..<token.end, by: Self.quoted(content))
        }
    }

    static func isMoment(_ type: TypeOID) -> Bool { type == .interval || MomentText.types.contains(type) }

    /// Whether what is read, up to `end`, perhaps in parentheses that are no call's, stands beside an arithmetic operator.
    private func isOperand(_ end: Int) -> Bool {
        var ahead = SQLLexer(sql, from: end)
        var (left, right) = (last, ahead.next())
        for opener in openers.reversed() {
            if left?.isArithmetic == true || right?.isArithmetic == true { return true }
            let isAlone = left?.kind == .leftParenthesis || left?.matches("select") == true
            guard isAlone, right?.kind == .rightParenthesis else { return false }
            if let opener, opener.isIdentifierLike, !opener.isReservedWord { return false }
            (left, right) = (opener, ahead.next())
        }
        return left?.isArithmetic == true || right?.isArithmetic == true
    }

    private static func literal(_ content: [UInt8], _ type: TypeOID) -> String? {
        content.withUnsafeBytes { bytes -> String? in
            switch type {
            case .int2, .int4, .int8, .oid: return TextCodec.parseInt(bytes).map { $0 < 0 ? "(\($0))" : "\($0)" }
            case .float4, .float8:
                guard let value = TextCodec.parseDouble(bytes), !value.isNaN else { return nil }
                let digits = value.isInfinite ? "9e999" : "\(value.magnitude)"
                return value.sign == .minus ? "(-\(digits))" : digits
            case .numeric:
                guard let decimal = DecimalNumber(String(decoding: TextCodec.trimmed(bytes), as: UTF8.self)) else { return nil }
                return decimal.text.hasPrefix("-") ? "(\(decimal.text))" : decimal.text
            case .bool: return TextCodec.parseBool(bytes).map { $0 ? "1" : "0" }
            case .bytea:
                guard let value = TextCodec.parseBytea(bytes) else { return nil }
                let digits = Array("0123456789abcdef".utf8)
                return "x'" + String(decoding: value.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self) + "'"
            default:
                let refused = WireError(state: .invalidTextRepresentation, message: "")
                guard let canonical = try? ValueText.canonical(bytes, type, malformed: { refused }) else {
                    let takesAny = type.element == nil && !MomentText.types.contains(type) && type != .uuid && type != .interval
                    return takesAny ? String(decoding: quoted(content), as: UTF8.self) : nil
                }
                return String(decoding: quoted(Array(canonical.utf8)), as: UTF8.self)
            }
        }
    }

    private static func quoted(_ content: [UInt8]) -> [UInt8] {
        let quote = UInt8(ascii: "'")
        return [quote] + content.flatMap { $0 == quote ? [quote, quote] : [$0] } + [quote]
    }

    private mutating func number(_ token: SQLToken) {
        guard let type = typeName(token.end) else { return }
        let isInteger = token.bytes.allSatisfy(isDigit)
        switch type.type {
        case .int2 where isInteger, .int4 where isInteger, .int8 where isInteger, .numeric: replace(token.end..<type.end, by: [])
        case .float4, .float8: replace(token.start..<type.end, by: Array("CAST(\(token.text) AS REAL)".utf8))
        default: break
        }
    }

    /// "C-style escapes": https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-STRINGS-ESCAPE.
    /// nil for those with digits, which drivers do not write, and for `\'`, behind which SQLite's lexer goes on elsewhere.
    private static func unescaped(_ token: SQLToken) -> [UInt8]? {
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

    // MARK: Parameters and arrays

    /// `$1::int8` is one token of SQLite's; `[]`, `precision` and `with time zone` behind it are not part of it, and with a space in it
    /// (`numeric(10, 2)`) there is none.
    private mutating func parameter(_ token: SQLToken) {
        guard case .numbered(let number, let range?) = ParameterName(token.bytes) else { return }
        let word = String(decoding: token.bytes[range].map(lowerASCII), as: UTF8.self)
        guard let type = extended(word, token.end), type.end > token.end || token.bytes.contains(where: isSpace),
            let name = Self.plainName(type.type)
        else { return }
        replace(token.start..<type.end, by: Array("$\(number)::\(name)".utf8))
        lexer = SQLLexer(sql, from: type.end)
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

    private mutating func array(_ token: SQLToken, _ depth: Int) -> Bool {
        replace(token.start..<(token.end + 1), by: "json_array(".utf8)
        lexer = SQLLexer(sql, from: token.end + 1)
        return read(depth: depth + 1)
    }

    /// `x = ANY (array)` is `x IN (SELECT value FROM json_each(array))`, and `x <> ALL` is NOT IN; a query's rows they take
    /// as they are.
    private mutating func quantified(_ comparison: SQLToken, _ word: SQLToken) {
        let isAny = word.matches("any")
        guard isAny ? comparison.isSymbol("=") : comparison.isSymbol("<>") || comparison.isSymbol("!=") else { return }
        var ahead = lexer
        guard let open = ahead.next(), open.kind == .leftParenthesis, let first = ahead.next() else { return }
        let isIn = isAny ? " IN (" : " NOT IN ("
        if first.matches("select") || first.matches("values") || first.matches("with") {
            replace(comparison.start..<open.end, by: isIn.utf8)
            closings.append(nil)
            openers.append(comparison)
            return lexer = SQLLexer(sql, from: open.end)
        }
        // NOT IN nothing is true, but compared with an array that is NULL nothing is. What a parameter is taken for is told by where it
        // stands, so it stays right inside json_each(). All else is made before: in there `id` and `key` are columns of json_each's.
        let call: String
        let closing: String
        if first.kind != .parameter {
            call = "SELECT value FROM (SELECT " + (isAny ? "" : "coalesce(")
            closing = (isAny ? "" : ", '[null]')") + " AS walpool_array), json_each(walpool_array))"
        } else if !isAny, case .numbered(let number, _) = ParameterName(first.bytes) {
            call = "SELECT value FROM json_each("
            // By the last SELECT goes the affinity of the comparison, and json_each's values have none.
            closing = ") UNION ALL SELECT CAST(NULL AS BLOB) WHERE $\(number) IS NULL)"
        } else {
            (call, closing) = ("SELECT value FROM json_each(", "))")
        }
        replace(comparison.start..<open.end, by: (isIn + call).utf8)
        closings.append(closing)
        openers.append(comparison)
        lexer = SQLLexer(sql, from: open.end)
    }
}
