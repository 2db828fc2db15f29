import PostgresWire

/// A column that COPY FROM fills.
struct CopyColumn: Equatable {
    /// What its values are made of: as a parameter of the column's declared type would be.
    enum Kind: Equatable {
        case integer, real, boolean, bytes, text
        /// Text that INSERT would store in one spelling, however it is sent.
        case uuid
        case moment(TypeOID)
        /// Text, to which SQLite's affinity applies, but for what PostgreSQL calls Infinity.
        case decimal
        /// Text, whose binary format is that of the type it was announced as with `result_typing = declared`.
        case declared(TypeOID)
    }

    var name: String
    var kind: Kind
    /// CSV: the NULL string is a text here unless that is what FORCE NULL is for.
    var forcesNotNull = false
    /// CSV: the NULL string is NULL even in quotes.
    var forcesNull = false

    init(name: String, declared: String?, typing: Typing = Typing()) {
        self.name = name
        if typing.results == .declared, let own = DeclaredType(declared)?.own, DeclaredValue.isKnown(own) {
            kind = .declared(own)
            return
        }
        kind =
            switch ColumnType(declared: declared) {
            case .fixed(.int8): .integer
            case .fixed(.float8): .real
            case .fixed(.bool): .boolean
            case .fixed(.bytea): .bytes
            case .fixed(.text): Self.kind(ofText: DeclaredType(declared)?.own)
            default: .text
            }
    }

    /// Text keeps what was sent; SQLite's affinity for the column then treats it as it would any literal.
    private static func kind(ofText own: TypeOID?) -> Kind {
        switch own {
        case .uuid?: .uuid
        case .numeric?: .decimal
        case let type? where MomentText.types.contains(type): .moment(type)
        default: .text
        }
    }

    var sqlName: String {
        switch kind {
        case .integer: TypeOID.int8.sqlName
        case .real: TypeOID.float8.sqlName
        case .boolean: TypeOID.bool.sqlName
        case .bytes: TypeOID.bytea.sqlName
        case .text, .uuid, .moment, .decimal: TypeOID.text.sqlName
        case .declared(let type): type.sqlName
        }
    }
}
