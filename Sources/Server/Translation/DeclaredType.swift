import PostgresWire

/// What a column's declared type says to a client of PostgreSQL; nil where it says nothing.
///
/// SQLite itself only takes an affinity from it
/// (https://www.sqlite.org/datatype3.html#determination_of_column_affinity).
struct DeclaredType: Equatable, Sendable {
    /// PostgreSQL's type of that name.
    let own: TypeOID
    /// The type that holds whatever SQLite stores in such a column. Integers are int8, since SQLite's have 64 bits
    /// whatever the column calls them. Dates, times and decimals are text: SQLite stores them as text, number or blob
    /// at will, and announcing a date would oblige to make one of it.
    let stored: TypeOID

    init?(_ declared: String?) {
        guard let declared, !declared.isEmpty else { return nil }
        let name = declared.uppercased()
        guard let own = Self.own(name) else { return nil }
        self.own = own
        stored = own.isStoredAsText || own == .numeric || own == .money ? .text : own
    }

    private static func own(_ name: String) -> TypeOID? {
        if name == "BOOL" || name == "BOOLEAN" { return .bool }
        // SQLite finds an INT in these, but who declares them stores text.
        if name.hasText("INTERVAL") || name.hasSuffix("]") { return .text }
        if name.hasText("POINT") { return name.hasText("FLOA") ? .float8 : .text }
        if name.hasText("INT") { return .int8 }
        if name.hasText("CHAR") || name.hasText("CLOB") || name.hasText("TEXT") { return .text }
        if name.hasText("BLOB") || name == "BYTEA" { return .bytea }
        if name.hasText("REAL") || name.hasText("FLOA") || name.hasText("DOUB") { return .float8 }
        if name == "UUID" { return .uuid }
        if name == "JSON" { return .json }
        if name == "JSONB" { return .jsonb }
        if name == "MONEY" { return .money }
        if name.hasPrefix("NUM") || name.hasPrefix("DEC") { return .numeric }
        return moment(name)
    }

    private static func moment(_ name: String) -> TypeOID? {
        if name.hasText("TIMESTAMP") || name.hasText("DATETIME") {
            return name.hasText("TIMESTAMPTZ") || name.hasText("WITH TIME ZONE") ? .timestamptz : .timestamp
        }
        if name.hasText("DATE") { return name == "DATE" ? .date : .text }
        if name.hasText("TIME") {
            let isTime = name == "TIME" || name.hasPrefix("TIME(") || name == "TIME WITHOUT TIME ZONE"
            return isTime ? .time : .text
        }
        return nil
    }
}
