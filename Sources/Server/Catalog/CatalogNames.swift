/// Whether a statement that SQLite refuses names PostgreSQL's system catalogs.
enum CatalogNames {
    /// A function of theirs, such as `pg_backend_pid()`, does not count: the daemon has some, and what is wrong with a statement that
    /// calls one is mostly something else.
    static func appear(in sql: UnsafeRawBufferPointer) -> Bool {
        /// A name that begins as those of catalogs do, until what follows it is known.
        var isPending = false
        /// Where a table's name is to come, parentheses behind it are its columns'.
        var isTable = false
        for token in SQLLexer(sql) {
            if isPending, token.kind != .leftParenthesis, !token.isSymbol(".") { return true }
            guard token.isIdentifierLike else {
                isPending = false
                if !token.isSymbol(".") { isTable = false }
                continue
            }
            let name = token.name.lowercased()
            isPending = name.hasPrefix("pg_")
            if name == "information_schema" || (isPending && isTable) { return true }
            isTable = token.matches("into") || token.matches("table") || token.matches("update")
        }
        return isPending
    }
}
