import PostgresWire

/// Casts of what stands in parentheses: `("book"."id")::varchar`, as Django's Cast() writes it, `(CASE WHEN id = 1 THEN 2.5 WHEN id = 2 THEN
/// NULL END)::numeric(10, 2)`, as its `bulk_update` does for each of its columns, and `("at" AT TIME ZONE 'UTC')::date`, its `at__date`.
///
/// A cast of a CASE is one of each of its values. Where these are literals, parameters and columns, `PostgresSpelling` knows what they
/// are with a type: the type goes behind each of them.
enum GroupedCasts {
    /// nil: there is none, as in nearly all statements, or it is of something else. Then the `::` stays for SQLite to complain of.
    static func spread(_ sql: UnsafeRawBufferPointer) -> [UInt8]? {
        guard mayHaveSome(sql) else { return nil }
        let table = TokenTable(sql)
        let edits = table.tokens.indices.flatMap { close -> [Edit] in
            guard let group = group(endingWith: close, table), let type = type(behind: table.tokens[close], sql) else { return [] }
            let behind = table.tokens[close].end..<type.end
            guard let edits = dateEdits(of: group, type.type, table) ?? valueEdits(of: group, type.type, sql[behind], table, sql) else {
                return []
            }
            return edits + [Edit(range: behind)]
        }
        return edits.isEmpty ? nil : edited(sql, edits)
    }

    /// What stands in the range becomes another text, or nothing.
    private struct Edit {
        let range: Range<Int>
        var text: [UInt8] = []
    }

    /// No two overlap, but a group in the condition of another has its own among those of that.
    private static func edited(_ sql: UnsafeRawBufferPointer, _ edits: [Edit]) -> [UInt8] {
        var result: [UInt8] = []
        var taken = 0
        for edit in edits.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
            result += sql[taken..<edit.range.lowerBound]
            result += edit.text
            taken = edit.range.upperBound
        }
        return result + sql[taken...]
    }

    /// A moment with a time zone is stored in UTC, and of that SQLite's date() gives the date.
    private static func dateEdits(of group: Range<Int>, _ type: TypeOID, _ table: TokenTable) -> [Edit]? {
        guard type == .date, let first = table[group.lowerBound], first.isIdentifierLike, !first.isReservedWord else { return nil }
        let at = endOfName(at: group.lowerBound, table) + 1
        guard group.upperBound == at + 4, table.tokens[at].matches("at"), table.tokens[at + 1].matches("time"),
            table.tokens[at + 2].matches("zone"), case let zone = table.tokens[at + 3], zone.kind == .string,
            zone.name.uppercased() == "UTC"
        else { return nil }
        let start = table.tokens[group.lowerBound - 1].start
        return [Edit(range: start..<start, text: Array(" date".utf8)), Edit(range: table.tokens[at].start..<zone.end)]
    }

    private static func valueEdits(
        of group: Range<Int>, _ type: TypeOID, _ text: Slice<UnsafeRawBufferPointer>, _ table: TokenTable, _ sql: UnsafeRawBufferPointer
    ) -> [Edit]? {
        let cast = cast(group, type, table, sql)
        guard let places = placesOfTypes(in: cast?.operand ?? group, type, table, sql) else { return nil }
        let edits = places.map { Edit(range: $0..<$0, text: Array(text)) }
        return cast.map { edits + [Edit(range: $0.word), Edit(range: $0.type)] } ?? edits
    }

    private static func mayHaveSome(_ sql: UnsafeRawBufferPointer) -> Bool {
        var start = 1
        while let colon = sql.firstIndex(of: ":", from: start) {
            if sql[colon - 1] == UInt8(ascii: ")"), colon + 1 < sql.count, sql[colon + 1] == sql[colon] { return true }
            start = colon + 1
        }
        return false
    }

    /// What is in the parentheses, where they are not those of a function.
    private static func group(endingWith close: Int, _ table: TokenTable) -> Range<Int>? {
        guard table.tokens[close].kind == .rightParenthesis, let open = table.otherParenthesis(close), !table.isCall(open) else {
            return nil
        }
        return open + 1..<close
    }

    /// `CAST(… AS uuid)`, which Django writes around a CASE of UUIDs before it casts that as any other: its operand, and where the word and the
    /// type with its AS stand. nil: it is something else, or casts to another type than the one behind it.
    private static func cast(
        _ group: Range<Int>, _ type: TypeOID, _ table: TokenTable, _ sql: UnsafeRawBufferPointer
    ) -> (operand: Range<Int>, word: Range<Int>, type: Range<Int>)? {
        guard let word = table[group.lowerBound], word.matches("cast"), let close = table.otherParenthesis(group.lowerBound + 1),
            close == group.upperBound - 1, let end = table.endOfCase(group.lowerBound + 2), let sign = table[end + 1], sign.matches("as"),
            PostgresSpelling.type(named: String(decoding: sql[sign.end..<table.tokens[close].start].drop(while: isSpace), as: UTF8.self))
                == type
        else { return nil }
        return (group.lowerBound + 2..<end + 1, word.range, sign.start..<table.tokens[close].start)
    }

    /// The longest name of a type, with what may belong to it.
    private static let longestType = 128

    private static func type(behind token: SQLToken, _ sql: UnsafeRawBufferPointer) -> (type: TypeOID, end: Int)? {
        guard token.end + 1 < sql.count, sql[token.end] == UInt8(ascii: ":") else { return nil }
        // Nothing is looked for behind that: a bracket would be read up to the next quote, behind each of many values.
        let text = UnsafeRawBufferPointer(rebasing: sql[..<min(sql.count, token.end + longestType)])
        var spelling = PostgresSpelling(sql: text, lexer: SQLLexer(text))
        return spelling.typeName(token.end)
    }

    /// nil: the type can go nowhere.
    private static func placesOfTypes(
        in group: Range<Int>, _ type: TypeOID, _ table: TokenTable, _ sql: UnsafeRawBufferPointer
    ) -> [Int]? {
        if let end = table.endOfCase(group.lowerBound), end == group.upperBound - 1 {
            return placesOfTypes(inCase: group.lowerBound + 1..<end, type, table, sql)
        }
        guard let value = value(at: group.lowerBound, type, table, sql), value.end == group.upperBound else { return nil }
        return value.place.map { [$0] } ?? []
    }

    /// - Parameter cases: what is between CASE and END.
    private static func placesOfTypes(
        inCase cases: Range<Int>, _ type: TypeOID, _ table: TokenTable, _ sql: UnsafeRawBufferPointer
    ) -> [Int]? {
        var (places, index): ([Int], Int) = ([], cases.lowerBound)
        while index < cases.upperBound {
            let token = table.tokens[index]
            guard token.matches("then") || token.matches("else") else {
                index = (table.endOfCase(index) ?? table.after(index) - 1) + 1
                continue
            }
            guard let value = value(at: index + 1, type, table, sql), value.end <= cases.upperBound, endsValue(value.end, cases, table)
            else {
                return nil
            }
            if let place = value.place { places.append(place) }
            index = value.end
        }
        return places
    }

    private static func endsValue(_ index: Int, _ cases: Range<Int>, _ table: TokenTable) -> Bool {
        index == cases.upperBound || table.tokens[index].matches("when") || table.tokens[index].matches("else")
    }

    /// A literal, a parameter or a column.
    ///
    /// - Returns: where the type goes, or nil where one is there or none is needed; and the token behind the value.
    private static func value(
        at start: Int, _ type: TypeOID, _ table: TokenTable, _ sql: UnsafeRawBufferPointer
    ) -> (place: Int?, end: Int)? {
        guard let first = table[start] else { return nil }
        if first.matches("null") { return (nil, start + 1) }
        if first.matches("true") || first.matches("false") { return type == .bool ? (nil, start + 1) : nil }
        guard let last = endOfValue(at: start, table) else { return nil }
        guard let own = Self.type(behind: table.tokens[last], sql) else { return (table.tokens[last].end, last + 1) }
        guard own.type == type || (own.type.isCharacters && type.isCharacters) else { return nil }
        var end = last + 1
        while let next = table[end], next.start < own.end { end += 1 }
        return (nil, end)
    }

    /// The last token of a literal, of a parameter without a type or of a column's name; nil: it is something else.
    private static func endOfValue(at start: Int, _ table: TokenTable) -> Int? {
        let first = table.tokens[start]
        switch first.kind {
        case .string, .number: return start
        case .parameter:
            if case .numbered(_, nil) = ParameterName(first.bytes) { return start }
            return nil
        case .operatorOrPunctuation: return first.isSymbol("-") && table[start + 1]?.kind == .number ? start + 1 : nil
        case .quotedIdentifier: return endOfName(at: start, table)
        case .identifier:
            if first.matches("e"), table[start + 1]?.kind == .string, table[start + 1]?.start == first.end { return start + 1 }
            return first.isReservedWord ? nil : endOfName(at: start, table)
        default: return nil
        }
    }

    private static func endOfName(at start: Int, _ table: TokenTable) -> Int {
        var end = start
        while table[end + 1]?.isSymbol(".") == true, table[end + 2]?.isIdentifierLike == true { end += 2 }
        return end
    }
}
