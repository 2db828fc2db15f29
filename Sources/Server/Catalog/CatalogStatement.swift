import Pool
import PostgresWire
import SQLite

/// A statement about the catalogs, as the private connection understands it.
final class CatalogStatement: Sendable {
    let text: SQLText
    private let columnTypes: [String?]
    private let inference: CatalogTypeInference
    let parameterTypes: [TypeOID]
    let parameterCount: Int

    /// What it takes, roughly, beside the client's text: functions in FROM make a megabyte of a few KB, and `$65535` has as many types.
    var keptBytes: Int {
        text.bytes.count + parameterTypes.count * MemoryLayout<TypeOID>.stride
            + (columnTypes.count + inference.count) * 2 * MemoryLayout<String?>.stride
    }

    /// What is told of a statement that cannot be translated: an error is better than an empty result.
    struct Refusal: Error {
        var message: String
        var isTooLong = false
    }

    /// nil for a statement that is not about catalogs, which nearly all are.
    static func parse(_ sql: UnsafeRawBufferPointer) -> Result<CatalogStatement, Refusal>? {
        guard isAboutCatalogs(sql) else { return nil }
        guard sql.count <= CatalogLimits.statementBytes else { return .failure(Refusal(message: "it is too long", isTooLong: true)) }
        do throws(CatalogSyntaxError) {
            return .success(CatalogStatement(try CatalogRewriter.rewrite(sql)))
        } catch {
            return .failure(Refusal(message: error.message))
        }
    }

    private init(_ result: CatalogRewriter.Result) {
        text = result.sql.withBytes { SQLText(copying: $0) }
        columnTypes = result.columnTypes
        inference = result.inference
        parameterCount = min(result.parameterCount, 65_535)
        parameterTypes = (0..<parameterCount).map { index in
            result.parameterTypes[index + 1].flatMap { CatalogStatement.oid(ofType: $0) } ?? .unspecified
        }
    }

    /// By column of the result: what stands for several columns is known by the others' places, and these by their names.
    func types(ofColumns names: [String]) -> [String?] {
        guard let star = columnTypes.firstIndex(of: CatalogTypeInference.star) else { return columnTypes }
        let (before, behind) = (columnTypes[..<star], columnTypes[(star + 1)...])
        let isOnly = names.count >= before.count + behind.count && !behind.contains(CatalogTypeInference.star)
        let end = isOnly ? names.count - behind.count : names.count
        guard before.count <= end else { return Array(before) }
        return Array(before) + names[before.count..<end].map { inference.type(ofColumn: $0) } + (isOnly ? Array(behind) : [])
    }

    /// The type that values are sent as.
    static func oid(ofType name: String) -> TypeOID? {
        if name.hasPrefix("reg") { return name.hasSuffix("[]") ? .textArray : .text }
        // The catalogs' own char is the one that SQL writes in quotes.
        let written = name == "char" ? "\"char\"" : name == "char[]" ? "\"char\"[]" : name
        return CatalogTypes.oid(named: written).map { TypeOID(rawValue: UInt32($0)) }
    }

    // MARK: Recognising

    /// Names a schema of PostgreSQL's, or one of its catalogs behind FROM or JOIN, or asks for nothing but a function that
    /// only catalogs have.
    private static func isAboutCatalogs(_ sql: UnsafeRawBufferPointer) -> Bool {
        var isTablePlace = false
        var previousIsDot = false
        var previousIsFunction = false
        var previousIsColon = false
        for token in SQLLexer(sql) {
            if previousIsFunction, token.kind == .leftParenthesis { return true }
            previousIsFunction = false
            // SQLite's rules take `::regclass` for a lone colon and a parameter of that name.
            if previousIsColon, token.kind == .parameter, casts.contains(where: token.bytes.starts(with:)) { return true }
            previousIsColon = token.kind == .illegal && token.firstByte == UInt8(ascii: ":")
            if token.isIdentifierLike, !previousIsDot, maybeCatalog(token) {
                let name = token.name
                if name == "pg_catalog" || name == "information_schema" { return true }
                if isTablePlace, CatalogTables.names.contains(name) { return true }
                previousIsFunction = functions.contains(name)
            }
            isTablePlace = token.matches("from") || token.matches("join") || token.kind == .comma
            previousIsDot = token.isSymbol(".")
        }
        return false
    }

    private static let casts = [":pg_catalog", ":reg"].map { Array($0.utf8) }
    private static let functions: Set = [
        "to_regtype", "to_regclass", "pg_get_userbyid", "pg_table_is_visible", "format_type", "quote_ident",
        "pg_get_viewdef", "pg_get_constraintdef", "pg_get_indexdef", "current_schemas", "pg_encoding_to_char",
        "pg_get_serial_sequence", "obj_description", "col_description", "has_table_privilege", "has_schema_privilege",
    ]

    /// By the first letters, so that most words are not made strings of.
    private static func maybeCatalog(_ token: SQLToken) -> Bool {
        let quote = token.kind == .quotedIdentifier ? 1 : 0
        let bytes = token.bytes[quote..<(token.bytes.count - quote)]
        guard bytes.count >= 5 else { return false }
        switch lowerASCII(bytes[quote]) {
        case UInt8(ascii: "p"): return bytes[quote + 2] == UInt8(ascii: "_")
        case UInt8(ascii: "i"): return bytes.count == 18
        case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "q"): return bytes.count == 10 || bytes.count == 11
        case UInt8(ascii: "c"), UInt8(ascii: "o"): return bytes.count == 15
        case UInt8(ascii: "h"): return bytes[quote + 3] == UInt8(ascii: "_")
        default: return false
        }
    }
}
