import PostgresWire
import SQLite

/// `unnest()` as Django's bulk_create, and bulk inserts by asyncpg, pgx and the like, write it: `SELECT * FROM unnest($1::int8[], $2::text[])`
/// and `SELECT unnest($1::int8[]), unnest($2::text[])`, which are the same.
///
/// SQLite has tables with arguments, and `Unnest` is some, one for each number of arrays. What it has not are names for their columns,
/// so those are given by a query around the call; and a column of a table to the left is no argument in there.
extension PostgresSpelling {
    /// A call, with what is known of it.
    struct Call {
        /// Its arguments as they are written, but for casts that make no difference.
        var arguments: [[UInt8]]
        /// Behind its parenthesis.
        var end: Int
    }

    /// True when such a call has been read, with all that belongs to it.
    mutating func unnested(_ word: SQLToken) -> Bool {
        guard nesting < Self.depthLimit, let last, word.matches("unnest") else { return false }
        if last.matches("select") || last.matches("distinct") { return unnestedColumns(word) }
        let isBehindFrom = last.matches("from") && beforeLast?.matches("distinct") != true
        let isTable = isBehindFrom || last.matches("join") || (last.kind == .comma && places.last?.clause == .tables)
        return isTable && unnestedTable(word)
    }

    // MARK: In FROM

    private mutating func unnestedTable(_ word: SQLToken) -> Bool {
        guard let call = call(word) else { return false }
        var ahead = lexer.moved(to: call.end)
        var end = call.end
        let isNumbered = accept(&ahead, "with", "ordinality")
        if isNumbered { end = ahead.position }
        guard let alias = Self.alias(&ahead) else { return false }
        let count = call.arguments.count
        guard alias.columns.count <= count + (isNumbered ? 1 : 0) else { return false }
        // Inside of a query a column of a table to the left would be another one's, or none.
        let hasNames = call.arguments.contains { $0.withUnsafeBytes { Self.hasNames($0) } }
        guard !hasNames || (alias.columns.isEmpty && !isNumbered) else { return false }
        var text = spelled(call.arguments)
        if !hasNames, isNumbered || !alias.name.isEmpty {
            if !alias.name.isEmpty { end = alias.end }
            var columns = (0..<count).map { index in
                // "If the function returns a base data type, the single result column gets a name matching the" alias.
                let own = count == 1 && alias.columns.isEmpty && !alias.name.isEmpty ? alias.name : Array(Unnest.column(index).utf8)
                return Self.named(Unnest.column(index), index < alias.columns.count ? alias.columns[index] : own)
            }
            let ordinality = alias.columns.count > count ? alias.columns[count] : Array("ordinality".utf8)
            if isNumbered { columns.append(Self.named(Unnest.ordinality, ordinality)) }
            text = Array("(SELECT ".utf8) + columns.joined(separator: ", ".utf8) + Array(" FROM ".utf8) + text + Array(")".utf8)
            if !alias.name.isEmpty { text += Array(" AS ".utf8) + alias.name }
        }
        // That of the function. Where something else follows it may be a name that is not known for one.
        var behind = lexer.moved(to: end)
        if alias.name.isEmpty, Self.endsTable(behind.next()) { text += Array(" AS unnest".utf8) }
        take(text, word, upTo: end)
        return true
    }

    /// Of literals, and of types of several words.
    private static let ofValues: [StaticString] = [
        "null", "array", "e", "double", "precision", "character", "varying", "with", "without", "time", "zone", "timestamp", "date",
        "true", "false", "current_date", "current_time", "current_timestamp",
    ]

    /// Whether something in it may be a column: a name that is no call's.
    private static func hasNames(_ argument: UnsafeRawBufferPointer) -> Bool {
        var lexer = SQLLexer(argument)
        while let token = lexer.next() {
            guard token.isIdentifierLike, !ofValues.contains(where: token.matches) else { continue }
            // Behind `::` it is a type's; SQLite's lexer has taken those of one word with the colons.
            var ahead = lexer
            if token.kind == .quotedIdentifier || ahead.next()?.kind != .leftParenthesis {
                if token.bytes.elementsEqual("[]".utf8) { continue }
                return true
            }
        }
        return false
    }

    /// `[AS] name [(column, …)]`; empty where there is none, nil where it is not understood.
    static func alias(_ ahead: inout SQLLexer) -> (name: [UInt8], columns: [[UInt8]], end: Int)? {
        var probe = ahead
        guard var name = probe.next() else { return ([], [], 0) }
        if name.matches("as") {
            guard let next = probe.next(), next.isIdentifierLike else { return nil }
            name = next
        } else if !name.isIdentifierLike || name.isReservedWord || behindTables.contains(where: name.matches) {
            return ([], [], 0)
        }
        var end = name.end
        var columns: [[UInt8]] = []
        var list = probe
        if list.next()?.kind == .leftParenthesis {
            while true {
                guard let column = list.next(), column.isIdentifierLike, let separator = list.next() else { return nil }
                columns.append(Array(column.bytes))
                if separator.kind == .rightParenthesis { break }
                guard separator.kind == .comma else { return nil }
            }
            (probe, end) = (list, list.position)
        }
        ahead = probe
        return (Array(name.bytes), columns, end)
    }

    /// What may stand behind a table and is no name for it.
    private static let behindTables: [StaticString] = [
        "cross", "full", "inner", "join", "left", "natural", "outer", "right", "using", "window", "returning", "offset", "union", "except",
        "intersect", "for", "with",
    ]

    private static func endsTable(_ next: SQLToken?) -> Bool {
        guard let next else { return true }
        return [.rightParenthesis, .comma, .semicolon].contains(next.kind) || behindCall.contains(where: next.matches)
    }

    private static let behindCall: [StaticString] = [
        "where", "group", "order", "limit", "on", "using", "join", "inner", "left", "cross", "natural", "union", "except", "intersect",
        "returning", "having", "right", "full", "window", "offset", "for",
    ]

    // MARK: Parts

    mutating func take(_ text: [UInt8], _ word: SQLToken, upTo end: Int) {
        var text = text
        var ahead = lexer.moved(to: end)
        // Behind a table ON is a join's to SQLite: "The workaround is for the SELECT statement to always include a WHERE clause, even if that
        // WHERE clause is just WHERE true" (https://www.sqlite.org/lang_upsert.html#parsing_ambiguity).
        if accept(&ahead, "on", "conflict"), let next = ahead.next(), next.kind == .leftParenthesis || next.matches("do") {
            text += Array(" WHERE true".utf8)
        }
        replace(word.start..<end, by: text)
        lexer = lexer.moved(to: end)
    }

    private func accept(_ ahead: inout SQLLexer, _ first: StaticString, _ second: StaticString) -> Bool {
        var probe = ahead
        guard probe.next()?.matches(first) == true, probe.next()?.matches(second) == true else { return false }
        ahead = probe
        return true
    }

    static func named(_ column: String, _ name: [UInt8]) -> [UInt8] {
        name.isEmpty ? Array(column.utf8) : Array("\(column) AS ".utf8) + name
    }

    /// More than any that is meant needs.
    private static let timesAhead = 2

    /// The call that begins with this word; nil: it is none, or what stands in it is not understood.
    mutating func call(_ word: SQLToken) -> Call? {
        var ahead = lexer.moved(to: word.end)
        guard bytesAhead <= Self.timesAhead * sql.count, let open = ahead.next(), open.kind == .leftParenthesis else { return nil }
        var (depth, start) = (0, open.end)
        defer { bytesAhead += ahead.position - open.end }
        var arguments: [[UInt8]] = []
        while let token = ahead.next() {
            let closes = token.kind == .rightParenthesis || (token.kind == .illegal && token.firstByte == UInt8(ascii: "]"))
            if closes, depth > 0 {
                depth -= 1
            } else if closes || (token.kind == .comma && depth == 0) {
                guard arguments.count < Unnest.most, let argument = uncast(Array(sql[start..<token.start]), 1),
                    !argument.allSatisfy(isSpace)
                else { return nil }
                arguments.append(argument)
                if closes { return Call(arguments: arguments, end: token.end) }
                start = token.end
            } else if token.kind == .leftParenthesis || (token.kind == .illegal && token.firstByte == UInt8(ascii: "[")) {
                depth += 1
            }
        }
        return nil
    }

    /// The table that is called, with its arguments as SQLite takes them.
    mutating func spelled(_ arguments: [[UInt8]]) -> [UInt8] {
        let limit = nesting + 1
        return Unnest.call(
            arguments.map { argument in
                do throws(WireError) {
                    return try argument.withUnsafeBufferPointer { bytes throws(WireError) in
                        try Self.rewritten(UnsafeRawBufferPointer(bytes), nesting: limit)
                    } ?? argument
                } catch {
                    refusal = refusal ?? error
                    return argument
                }
            })
    }
}
