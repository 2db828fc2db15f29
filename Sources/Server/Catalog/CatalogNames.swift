/// Whether a statement names PostgreSQL's system catalogs.
enum CatalogNames {
    static func appear(in sql: UnsafeRawBufferPointer) -> Bool {
        for token in SQLLexer(sql) where token.isIdentifierLike {
            let name = token.name
            if name.hasPrefix("pg_") || name.lowercased() == "information_schema" { return true }
        }
        return false
    }
}
