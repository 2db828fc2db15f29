import PostgresWire

/// Casts around the arguments of unnest().
extension PostgresSpelling {
    /// `($1)::varchar[]` and `('{a,b}'::text[])::varchar[]`, as Django has it, without what makes no difference; nil: it is another type.
    func uncast(_ text: [UInt8], _ depth: Int) -> [UInt8]? {
        guard let parts = text.withUnsafeBytes({ Self.parenthesised($0) }) else { return text }
        guard depth <= Self.depthLimit, let inner = uncast(Array(text[parts.inner]), depth + 1) else { return nil }
        guard let outer = parts.type else { return inner }
        switch inner.withUnsafeBytes({ Self.ownType(of: $0) }) {
        case .notAlone: return nil
        case .untyped: return inner + text[parts.typeStart..<text.count]
        case .one(let own):
            // Moments that Django gives no zone stay without one, as where it inserts them one by one.
            let staysWithoutZone = own.element == .timestamp && outer.element == .timestamptz
            return own == outer || staysWithoutZone || Self.areAlike(own.element, outer.element) ? inner : nil
        }
    }

    /// What stands in parentheses, if nothing else but a type stands beside them; nil for a query, which needs its own.
    private static func parenthesised(_ text: UnsafeRawBufferPointer) -> (inner: Range<Int>, type: TypeOID?, typeStart: Int)? {
        var spelling = PostgresSpelling(sql: text, lexer: SQLLexer(text))
        guard let open = spelling.lexer.next(), open.kind == .leftParenthesis else { return nil }
        var (depth, first, end) = (1, -1, 0)
        while let token = spelling.lexer.next() {
            if first < 0, token.matches("select") || token.matches("values") || token.matches("with") { return nil }
            if first < 0 { first = token.start }
            // A row is no array.
            if depth == 1, token.kind == .comma { return nil }
            if token.kind == .leftParenthesis { depth += 1 }
            if token.kind == .rightParenthesis { depth -= 1 }
            guard depth == 0 else {
                end = token.end
                continue
            }
            let type = spelling.oneTypeName(token.end)
            return spelling.lexer.next() == nil && end > first ? (first..<end, type?.type, token.end) : nil
        }
        return nil
    }

    /// What type a value has beside the one of a cast around it.
    private enum OwnType {
        /// It is more than a parameter or a literal, or something else.
        case notAlone
        case untyped
        case one(TypeOID)
    }

    /// The type of a parameter or a literal that stands alone.
    private static func ownType(of value: UnsafeRawBufferPointer) -> OwnType {
        var spelling = PostgresSpelling(sql: value, lexer: SQLLexer(value))
        guard let token = spelling.lexer.next() else { return .notAlone }
        var type: TypeOID?
        if token.kind == .parameter, case .numbered(_, let name) = ParameterName(token.bytes) {
            if let name {
                guard let found = spelling.extended(String(decoding: token.bytes[name].map(lowerASCII), as: UTF8.self), token.end) else {
                    return .notAlone
                }
                type = found.type
                spelling.lexer = spelling.lexer.moved(to: found.end)
            }
        } else if token.kind == .string {
            type = spelling.oneTypeName(token.end)?.type
        } else {
            return .notAlone
        }
        guard spelling.lexer.next() == nil else { return .notAlone }
        return type.map(OwnType.one) ?? .untyped
    }

    /// Whether elements of one are written as those of the other.
    private static func areAlike(_ a: TypeOID?, _ b: TypeOID?) -> Bool {
        let kinds: [[TypeOID]] = [[.int2, .int4, .int8, .oid], [.text, .varchar, .bpchar, .name], [.float4, .float8]]
        guard let a, let b else { return false }
        return kinds.contains { $0.contains(a) && $0.contains(b) }
    }
}
