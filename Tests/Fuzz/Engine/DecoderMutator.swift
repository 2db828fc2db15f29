import Glibc

@testable import Server

/// Mutates SQL as tokens and makes new expressions, because bytes that change at random are seldom SQL any more; every
/// other input of the decoder target is libFuzzer's own business.
@_cdecl("LLVMFuzzerCustomMutator")
public func customMutator(_ data: UnsafeMutablePointer<UInt8>, _ size: Int, _ limit: Int, _ seed: UInt32) -> Int {
    guard size > 1, [2, 3].contains(data[0] % 8), seed % 4 != 0 else { return LLVMFuzzerMutate(data, size, limit) }
    var generator = SeededGenerator(state: UInt64(seed))
    var tokens = SQLLexer(UnsafeRawBufferPointer(start: data + 1, count: size - 1)).map { Array($0.bytes) }
    for _ in 0...generator.below(3) { mutate(&tokens, &generator) }
    let text = Array(tokens.joined(separator: [0x20]).prefix(limit - 1))
    text.withUnsafeBufferPointer { if let base = $0.baseAddress { memcpy(data + 1, base, text.count) } }
    return text.count + 1
}

private func mutate(_ tokens: inout [[UInt8]], _ generator: inout SeededGenerator) {
    let place = generator.below(tokens.count + 1)
    let length = min(tokens.count - place, generator.below(4))
    switch generator.below(8) {
    case 0: tokens.removeSubrange(place..<place + length)
    case 1: tokens.insert(contentsOf: tokens[place..<place + length], at: generator.below(tokens.count + 1))
    case 2...3: tokens.insert(Array(Expressions.word(&generator).utf8), at: place)
    case 4...6:
        let expression = Array(Expressions.expression(&generator, depth: 3).utf8)
        tokens.replaceSubrange(place..<place + min(length, 1), with: [expression])
    default:
        let items = (0...generator.below(3)).map { _ in Expressions.expression(&generator, depth: 4) }.joined(separator: ", ")
        tokens = [Array("SELECT \(items) FROM t".utf8)]
    }
}

/// Expressions of SQLite's, of any type.
enum Expressions {
    static func expression(_ generator: inout SeededGenerator, depth: Int) -> String {
        guard depth > 0 else { return leaf(&generator) }
        func next() -> String { expression(&generator, depth: depth - 1 - generator.below(2)) }
        switch generator.below(14) {
        case 0...2: return leaf(&generator)
        case 3: return "(\(next()))"
        case 4: return pick(["-", "+", "~", "NOT "], &generator) + next()
        case 5...7: return "\(next()) \(pick(operators, &generator)) \(next())"
        case 8: return "CAST(\(next()) AS \(pick(types, &generator)))"
        case 9: return "CASE WHEN \(next()) THEN \(next()) ELSE \(next()) END"
        case 10:
            return pick(
                [
                    "\(next()) COLLATE NOCASE", "\(next()) IS NULL", "\(next()) IN (\(next()), \(next()))", "(SELECT \(next()))",
                    "\(next()) BETWEEN \(next()) AND \(next())", "EXISTS (SELECT \(next()))", "\(next()) AS c",
                ], &generator)
        default:
            let arguments = (0..<generator.below(4)).map { _ in next() }.joined(separator: ", ")
            return "\(pick(functions, &generator))(\(arguments))" + pick(["", "", "", "", " OVER ()", " FILTER (WHERE 1)"], &generator)
        }
    }

    static func word(_ generator: inout SeededGenerator) -> String {
        pick([pick(operators, &generator), pick(functions, &generator), pick(words, &generator), leaf(&generator)], &generator)
    }

    private static func leaf(_ generator: inout SeededGenerator) -> String { pick(leaves, &generator) }

    private static func pick(_ list: [String], _ generator: inout SeededGenerator) -> String { list[generator.below(list.count)] }

    private static let leaves = [
        "n", "r", "x", "b", "a", "id", "t.n", "\"x\"", "rowid", "1", "0", "-1", "2.5", "1e300", "9223372036854775807",
        "9223372036854775808",
        "0x10", "'a'", "''", "'1'", "'2.5x'", "x'01'", "x''", "NULL", "TRUE", "current_timestamp", "$1", "$2::int8", "$3::text", "?",
        "'{\"a\":[1,2.5,\"x\",null]}'", "'$.a[1]'", "'now'",
    ]
    private static let operators = [
        "+", "-", "*", "/", "%", "||", "->", "->>", "<<", ">>", "&", "|", "<", "<=", "=", "==", "<>", "IS", "IS NOT", "AND", "OR", "LIKE",
        "GLOB",
        "IS DISTINCT FROM", "NOT LIKE", "MATCH", "REGEXP",
    ]
    private static let types = [
        "TEXT", "INTEGER", "REAL", "BLOB", "NUMERIC", "VARCHAR(10)", "POINT", "FLOATING POINT", "DECIMAL(10, 2)", "BOOLEAN", "DATE",
        "CHARINT", "STRING",
        "x", "\"my int\"", "DOUBLE PRECISION", "NATIVE CHARACTER(70)",
    ]
    private static let functions = [
        "abs", "changes", "char", "coalesce", "concat", "count", "date", "datetime", "format", "glob", "group_concat", "hex", "ifnull",
        "iif",
        "instr", "json", "json_array", "json_array_length", "json_extract", "json_object", "json_quote", "json_type", "json_valid",
        "julianday",
        "last_insert_rowid", "length", "likelihood", "likely", "like", "lower", "ltrim", "max", "min", "nullif", "octet_length", "printf",
        "quote",
        "random", "randomblob", "replace", "round", "rtrim", "sign", "soundex", "sqlite_version", "strftime", "string_agg", "substr",
        "substring",
        "subtype", "sum", "time", "timediff", "total", "total_changes", "trim", "typeof", "unhex", "unicode", "unixepoch", "unlikely",
        "upper", "zeroblob",
        "avg", "row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead", "first_value", "last_value",
        "nth_value",
        "sqrt", "pow", "mod", "ceil", "floor", "ln", "log", "pi", "trunc", "json_group_array", "json_each", "fts5", "exp", "degrees",
        "acos",
    ]
    private static let words = [
        "SELECT", "FROM t", "WHERE", "GROUP BY", "HAVING", "ORDER BY", "LIMIT", "UNION ALL", "EXCEPT", "AS", "(", ")", ",", ";",
        "WITH c AS (", "DISTINCT",
        "ALL", "VALUES", "JOIN u", "ON", "CASE", "WHEN", "THEN", "ELSE", "END", "CAST(", "OVER (", "FILTER (WHERE", "PARTITION BY",
        "COLLATE", "BETWEEN",
        "IN", "NOT", "NULL", "ISNULL", "NOTNULL", "EXISTS", "INSERT INTO t(n) VALUES (", "UPDATE t SET n =", "DELETE FROM t WHERE",
        "RETURNING", "BEGIN",
        "CREATE TRIGGER g AFTER INSERT ON t BEGIN", "EXPLAIN", "--", "/*", "*/", "*", ".",
    ]
}
