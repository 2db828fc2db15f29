import Glibc
import Pool
import PostgresWire

/// A statement with very many parameters, whose `$n` have become `?n`.
///
/// SQLite looks each `$n` up by name among all before it, so that a statement with 30,000 took it 4 s; of `?n` it takes
/// the number (`sqlite3ExprAssignVarNumber`, https://www.sqlite.org/src/file?name=src/expr.c), which is four times as
/// fast. The types in the names (`$1::int8`) are kept here.
struct NumberedParameters: Sendable {
    let text: SQLText
    /// The same as SQLite gets it, with a `?` wherever that has the number anyway: for each parameter that has a name its code
    /// generator looks that up among all (`case TK_VARIABLE` of `sqlite3ExprCodeTarget`), 32,000 times 32,000 steps.
    let textForSQLite: [UInt8]
    let count: Int
    /// By number from 0: the type in the statement's own text, or `.unspecified`.
    let types: [TypeOID]
    /// By number: those that have it here, and there are without it.
    let mixed: Set<Int>

    /// Fewer are no trouble, and a statement that people wrote keeps its text.
    static let least = 128

    /// nil for fewer parameters, and where one is not `$n` or `?n`, or has a type that nobody knows: errors are found by name.
    init?(_ sql: UnsafeRawBufferPointer) {
        guard let base = sql.baseAddress, sql.count > 3 * Self.least,
            memchr(base, Int32(UInt8(ascii: "$")), sql.count) != nil || memchr(base, Int32(UInt8(ascii: "?")), sql.count) != nil
        else { return nil }
        var (text, textForSQLite): ([UInt8], [UInt8]) = ([], [])
        text.reserveCapacity(sql.count)
        textForSQLite.reserveCapacity(sql.count)
        var largest = 0
        var types: [TypeOID?] = []
        var mixed: Set<Int> = []
        var (taken, tokens, distinct) = (0, 0, 0)
        for token in SQLLexer(sql) where token.kind == .parameter {
            guard case .numbered(let number, let range) = ParameterName(token.bytes) else { return nil }
            var type = TypeOID.unspecified
            if let range {
                guard let known = TypeOID(sqlName: String(decoding: token.bytes[range], as: UTF8.self)) else { return nil }
                type = known
            }
            while types.count < number { types.append(nil) }
            if let other = types[number - 1], other != type {
                guard type == .unspecified || other == .unspecified else { return nil }
                mixed.insert(number)
            }
            if types[number - 1] == nil { distinct += 1 }
            if types[number - 1] ?? .unspecified == .unspecified { types[number - 1] = type }
            text += sql[taken..<token.start]
            textForSQLite += sql[taken..<token.start]
            text += "?\(number)".utf8
            textForSQLite += (number == largest + 1 ? "?" : "?\(number)").utf8
            largest = max(largest, number)
            taken = token.end
            tokens += 1
        }
        guard tokens >= Self.least, distinct == types.count else { return nil }
        text += sql[taken...]
        textForSQLite += sql[taken...]
        self.text = text.withUnsafeBytes { SQLText(copying: $0) }
        self.textForSQLite = textForSQLite
        count = types.count
        self.mixed = mixed.isEmpty ? [] : mixed.intersection(UncastParameters.numbers(sql))
        self.types = types.map { $0 ?? .unspecified }
    }
}
