/// The OIDs of the catalogs themselves. They only have to be no other's: comments and dependencies name them, and there are none.
enum CatalogTableOIDs {
    static let names = Dictionary(CatalogTables.names.sorted().map { (number($0), $0) }, uniquingKeysWith: { first, _ in first })

    static func oid(of name: String) -> Int64? {
        let bare = name.hasPrefix("pg_catalog.") ? String(name.dropFirst(11)) : name
        return CatalogTables.names.contains(bare) ? number(bare) : nil
    }

    private static func number(_ name: String) -> Int64 { Int64(CatalogOID.hash(name) % 16_384) }

    /// "tableoid: the OID of the table containing this row", which no column of SQLite's can be without standing in `*`, too.
    /// https://www.postgresql.org/docs/15/ddl-system-columns.html
    static func replaced(_ tokens: [PostgresLexer.Token]) throws(CatalogSyntaxError) -> [PostgresLexer.Token] {
        guard tokens.contains(where: { $0.isWord("tableoid") }) else { return tokens }
        let tables = tables(tokens)
        var result: [PostgresLexer.Token] = []
        for (index, token) in tokens.enumerated() {
            guard token.isWord("tableoid"), result.last?.isWord("as") != true else {
                result.append(token)
                continue
            }
            let isQualified = index > 1 && tokens[index - 1].isSymbol(".") && tokens[index - 2].isName
            let found = isQualified ? tables[tokens[index - 2].text] : tables.count == 1 ? tables.first?.value : nil
            guard let table = found ?? nil, let oid = oid(of: table) else {
                throw CatalogSyntaxError(message: "it does not say of which catalog tableoid is")
            }
            if isQualified { result.removeLast(2) }
            result.append(.init(kind: .number, text: String(oid)))
        }
        return result
    }

    /// The names that catalogs and the information schema's views have in FROM, but no subquery has.
    static func namesInFrom(_ tokens: [PostgresLexer.Token]) -> Set<String> {
        var names = Set(tables(tokens, withInformationSchema: true).keys)
        for (index, token) in tokens.enumerated() where token.isSymbol(")") {
            var next = index + 1
            if next < tokens.count, tokens[next].isWord("as") { next += 1 }
            if next < tokens.count, tokens[next].isName { names.remove(tokens[next].text) }
        }
        return names
    }

    /// The catalogs by the names they have in FROM; nil for a name that stands for several.
    private static func tables(_ tokens: [PostgresLexer.Token], withInformationSchema: Bool = false) -> [String: String?] {
        var tables: [String: String?] = [:]
        for index in tokens.indices.dropFirst() where tokens[index].isName {
            let isQualified = tokens[index - 1].isSymbol(".") && index > 2
            let isView = withInformationSchema && isQualified && tokens[index - 2].text == "information_schema"
            guard isView || CatalogTables.names.contains(tokens[index].text) else { continue }
            let before = tokens[index - (isQualified ? 3 : 1)]
            guard before.isWord("from") || before.isWord("join") || before.isSymbol(",") || before.isSymbol("(") else { continue }
            var next = index + 1
            if next < tokens.count, tokens[next].isWord("as") { next += 1 }
            let hasAlias = next < tokens.count && tokens[next].isName && !endsTable.contains(tokens[next].text)
            let (name, table) = (hasAlias ? tokens[next].text : tokens[index].text, tokens[index].text)
            tables[name] = .some(tables[name] == nil || tables[name] == table ? table : nil)
        }
        return tables
    }

    static let endsTable = CatalogRewriter.joinWords.union([
        "where", "order", "group", "limit", "offset", "fetch", "for", "window", "union", "except", "intersect", "having",
    ])
}
