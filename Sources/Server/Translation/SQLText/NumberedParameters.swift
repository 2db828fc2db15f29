import Glibc
import Pool
import PostgresWire

/// A statement with very many parameters, whose `$n` have become `?1`, `?2`, ... in the order in which they first stand there.
///
/// SQLite looks each `$n` up by name among all before it, so that a statement with 30,000 took it 4 s; of `?n` it takes
/// the number (`sqlite3ExprAssignVarNumber`, https://www.sqlite.org/src/file?name=src/expr.c), which is four times as
/// fast. The types in the names (`$1::int8`) are kept here.
struct NumberedParameters: Sendable {
    let text: SQLText
    /// The same as SQLite gets it, with a `?` where each first stands, which has the number anyway: for each parameter that has a name its
    /// code generator looks that up among all (`case TK_VARIABLE` of `sqlite3ExprCodeTarget`), 32,000 times 32,000 steps.
    let textForSQLite: [UInt8]
    /// By SQLite's index.
    let slots: [ParameterSlot]
    /// By PostgreSQL's number from 0: the type in the statement's own text, or `.unspecified`.
    let types: [TypeOID]
    /// Those that have that type in one place, and none or another elsewhere.
    let casts: [ParameterCast]

    /// Fewer are no trouble, and a statement that people wrote keeps its text.
    static let least = 128

    /// What they take beside the texts.
    var keptBytes: Int {
        types.count * MemoryLayout<TypeOID>.stride + casts.count * MemoryLayout<ParameterCast>.stride
    }

    /// nil for fewer parameters, and where one is not `$n` or `?n`, or has a type that nobody knows: errors are found by name.
    init?(_ sql: UnsafeRawBufferPointer) {
        guard sql.count > 3 * Self.least, sql.firstIndex(of: "$") != nil || sql.firstIndex(of: "?") != nil else { return nil }
        guard let tokens = Self.tokens(sql), tokens.count >= Self.least else { return nil }
        let known = ParameterCasts(tokens.lazy.map { ($0.number, $0.type) })
        guard !known.types.contains(nil) else { return nil }
        types = known.types.map { $0 ?? .unspecified }
        casts = known.mixed
        let numbers = types.count
        var (text, textForSQLite, slots): ([UInt8], [UInt8], [ParameterSlot]) = ([], [], [])
        text.reserveCapacity(sql.count)
        /// SQLite's, by number, and behind those by cast.
        var indexes = Array(repeating: 0, count: numbers + casts.count)
        var taken = 0
        for token in tokens {
            let cast = known.position(token.number, token.type)
            let place = cast.map { numbers + Int($0) } ?? token.number - 1
            text += sql[taken..<token.start]
            textForSQLite += sql[taken..<token.start]
            taken = token.end
            if indexes[place] == 0 {
                indexes[place] = slots.count + 1
                slots.append(ParameterSlot(index: indexes[place], number: token.number, cast: cast))
                textForSQLite.append(UInt8(ascii: "?"))
            } else {
                textForSQLite += "?\(indexes[place])".utf8
            }
            text += "?\(indexes[place])".utf8
        }
        text += sql[taken...]
        textForSQLite += sql[taken...]
        self.text = text.withUnsafeBytes { SQLText(copying: $0) }
        (self.textForSQLite, self.slots) = (textForSQLite, slots)
    }

    private struct Token {
        let start, end, number: Int
        let type: TypeOID
    }

    private static func tokens(_ sql: UnsafeRawBufferPointer) -> [Token]? {
        var result: [Token] = []
        for token in SQLLexer(sql) where token.kind == .parameter {
            guard case .numbered(let number, let range) = ParameterName(token.bytes) else { return nil }
            var type = TypeOID.unspecified
            if let range {
                guard let known = TypeOID(sqlName: String(decoding: token.bytes[range], as: UTF8.self)) else { return nil }
                type = known
            }
            result.append(Token(start: token.start, end: token.end, number: number, type: type))
        }
        return result
    }
}
