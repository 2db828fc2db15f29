import PostgresWire

/// CAST to types that SQLite does not know: they are NUMERIC to it, or INTEGER as soon as INT is in their name
/// (https://www.sqlite.org/lang_expr.html#castexpr).
extension NumericCoercion {
    static func refusedCast(_ type: String) -> WireError {
        let hint =
            switch type.lowercased() {
            case "boolean", "bool":
                "'true'::boolean and $1::boolean are read as PostgreSQL reads them. Of a number x <> 0 is the boolean, of a text "
                    + "x IN ('t', 'true')."
            case "json", "jsonb": "json(x) checks a text and leaves out its spaces, and $1::\(type) gives a parameter its type."
            case "bytea": "CAST(x AS BLOB) takes a text's bytes, and '\\x6162'::bytea is read as PostgreSQL reads it."
            case "regclass": "'name'::regclass is understood in questions to the catalogs."
            case _ where isMoment(type):
                "date(x), time(x) and datetime(x) make a date or time of SQLite's text, and $1::\(type) gives a parameter its type."
            default: "CAST(x AS TEXT) keeps a text as it is, and $1::\(type) gives a parameter its type, where Walpool knows that type."
            }
        return WireError(
            state: .featureNotSupported, message: "SQLite's CAST to \(type) makes a number, as of a text's first digits", hint: hint)
    }

    private static func isMoment(_ name: String) -> Bool {
        guard let type = TypeOID(sqlName: name) else { return false }
        return type == .timetz || PostgresSpelling.isMoment(type)
    }

    /// Of the CAST there: the type, where it is one of PostgreSQL's that is no number to it. Of NULL a CAST makes NULL.
    ///
    /// - Parameter isOneOfMany: it is not followed deeply whether a boolean is made of a number.
    static func castType(_ index: Int, _ table: TokenTable, isOneOfMany: Bool) -> String? {
        guard table[index + 1]?.kind == .leftParenthesis,
            let close = table.otherParenthesis(index + 1)
        else { return nil }
        var found: Int?
        var next = index + 2
        while next < close {
            if table.tokens[next].matches("as") { found = next + 1 }
            next = table.after(next)
        }
        guard let found, found < close, let type = refusedType(found, close, table) else { return nil }
        let operand = (index + 2)..<(found - 1)
        if operand.count == 1, table.tokens[operand.lowerBound].matches("null") { return nil }
        // An array's type is more than the word.
        guard type == table.tokens[found].name else { return type }
        return isBoolean(table.tokens[found]) && isBoolean(operand, table, isOneOfMany) ? nil : type
    }

    /// Of a number CAST makes itself, which is a boolean to SQLite. What only the schema tells may be the text 'true'.
    private static func isBoolean(_ operand: Range<Int>, _ table: TokenTable, _ isOneOfMany: Bool) -> Bool {
        let depth = isOneOfMany ? ExpressionClassifier.depthLimit - depthOfOthers : 0
        let found = ExpressionClassifier(table: table).classify(operand, depth: depth)
        return found == .null || found?.isNumber ?? false
    }

    /// The type, if it is one of those for which a parameter or a literal can be given a type in its place.
    static func valueType(_ name: SQLToken) -> TypeOID? {
        guard name.kind == .identifier, isRefusedType(name), let type = TypeOID(sqlName: name.name) else { return nil }
        return typesOfValues.contains(type) ? type : nil
    }

    private static let typesOfValues: Set<TypeOID> = [
        .bool, .bytea, .date, .interval, .json, .jsonb, .time, .timestamp, .timestamptz, .timetz, .uuid,
    ]

    // MARK: Types

    /// What begins at `first`, with its `[]`, where it is such a type: `timestamp(3) with time zone`, `int[]`; not `date text`, which is
    /// a text to SQLite.
    private static func refusedType(_ first: Int, _ close: Int, _ table: TokenTable) -> String? {
        let token = table.tokens[first]
        var next = first + 1
        // `double precision[]`, `character varying[]`.
        if next < close, table.tokens[next].matches("precision") || table.tokens[next].matches("varying") { next += 1 }
        if next < close, table.tokens[next].kind == .leftParenthesis { next = table.after(next) }
        if next < close, isBrackets(table.tokens[next]) || table.tokens[next].matches("array") {
            return isText(token) ? nil : token.name + "[]"
        }
        let isWhole = next >= close || table.tokens[next].matches("with") || table.tokens[next].matches("without")
        return isWhole && isRefusedType(token) ? token.name : nil
    }

    /// `[]` is the name of nothing to SQLite.
    static func isBrackets(_ token: SQLToken) -> Bool { token.kind == .quotedIdentifier && token.firstByte == UInt8(ascii: "[") }

    static func isRefusedType(_ token: SQLToken) -> Bool {
        // Longer than `regdictionary` in quotes is none of them, and no time is spent on a name that is.
        guard token.isIdentifierLike || token.kind == .string, token.bytes.count <= 18 else { return false }
        let name = token.name.lowercased()
        if others.contains(name) { return true }
        guard let type = TypeOID(sqlName: name) else { return false }
        if let element = type.element { return !texts.contains(element) }
        return !numbers.contains(type) && !texts.contains(type)
    }

    private static let numbers: Set<TypeOID> = [.int2, .int4, .int8, .float4, .float8, .numeric, .oid, .xid, .cid]
    private static let texts: Set<TypeOID> = [.text, .varchar, .bpchar, .char]
    /// Types of which nothing else here knows the names: https://www.postgresql.org/docs/current/datatype.html, and of the
    /// extensions that come with PostgreSQL.
    private static let others: Set<String> = [
        "bit", "box", "cidr", "circle", "cube", "datemultirange", "daterange", "geography", "geometry", "hstore", "int4multirange",
        "int4range", "int8multirange", "int8range", "jsonpath", "line", "lquery", "lseg", "ltree", "macaddr", "macaddr8", "nummultirange",
        "numrange", "path", "pg_lsn", "pg_snapshot", "point", "polygon", "regcollation", "regconfig", "regdictionary", "regnamespace",
        "regoper", "regoperator", "regprocedure", "regrole", "tsmultirange", "tsquery", "tsrange", "tstzmultirange", "tstzrange",
        "tsvector", "varbit",
    ]

    private static func isText(_ token: SQLToken) -> Bool {
        token.isIdentifierLike && (token.matches("character") || TypeOID(sqlName: token.name).map(texts.contains) ?? false)
    }

    static func isBoolean(_ token: SQLToken) -> Bool {
        token.isIdentifierLike && token.bytes.count <= 16 && TypeOID(sqlName: token.name) == .bool
    }
}
