/// Whether a statement that SQLite refuses names PostgreSQL's system catalogs.
enum CatalogNames {
    /// A function of theirs, such as `pg_backend_pid()`, does not count: the daemon has some, and what is wrong with a statement that
    /// calls one is mostly something else.
    static func appear(in sql: UnsafeRawBufferPointer) -> Bool {
        /// A name that begins as those of catalogs do, until what follows it is known.
        var isPending = false
        for token in SQLLexer(sql) {
            if isPending, token.kind != .leftParenthesis, !token.isSymbol(".") { return true }
            isPending = false
            guard token.isIdentifierLike else { continue }
            let name = token.name.lowercased()
            if name == "information_schema" { return true }
            isPending = name.hasPrefix("pg_")
        }
        return isPending
    }
}
