import PostgresWire

/// The PostgreSQL type that stands in the catalogs for a column's declared type.
///
/// What values are sent as is `ColumnType`'s matter; the two agree where that is not text for want of anything better.
struct AttributeType: Equatable {
    var oid: Int
    /// As pg_attribute has it: -1, or what is in the parentheses behind the name, as PostgreSQL encodes it.
    var modifier: Int

    init(_ declared: String) {
        let name = declared.uppercased()
        let bare = String(name.prefix { $0 != "(" })
        let numbers = Self.numbers(in: name)
        func type(_ oid: Int, _ modifier: Int = -1) -> AttributeType { AttributeType(oid: oid, modifier: modifier) }
        if bare == "BOOL" || bare == "BOOLEAN" {
            self = type(16)
        } else if name.hasText("INTERVAL") || name.hasSuffix("]") || name.hasText("POINT") && !name.hasText("FLOA") {
            self = type(25)
        } else if bare.hasText("INT"), !bare.hasText("POINT") {
            self = type(20)
        } else if bare.hasText("CHAR") {
            self = numbers.count == 1 && Self.lengths.contains(numbers[0]) ? type(1043, numbers[0] + 4) : type(1043)
        } else if bare.hasText("CLOB") || bare.hasText("TEXT") {
            self = type(25)
        } else if bare.hasText("BLOB") || bare == "BYTEA" {
            self = type(17)
        } else if bare.hasText("REAL") || bare.hasText("FLOA") || bare.hasText("DOUB") {
            self = type(701)
        } else if bare.hasPrefix("NUM") || bare.hasPrefix("DEC") {
            let (precision, scale) = (numbers.first ?? 0, numbers.count > 1 ? numbers[1] : 0)
            let isKnown = Self.precisions.contains(precision) && (0...precision).contains(scale)
            self = isKnown ? type(1700, (precision << 16) + scale + 4) : type(1700)
        } else {
            self = type(Self.others[DeclaredType(declared)?.own ?? .text] ?? 25)
        }
    }

    private static let others: [TypeOID: Int] = [
        .timestamptz: 1184, .timestamp: 1114, .date: 1082, .time: 1083, .uuid: 2950, .json: 114, .jsonb: 3802,
    ]

    /// What PostgreSQL takes; to SQLite any number is a type's ornament.
    /// https://www.postgresql.org/docs/current/datatype-character.html,
    /// https://www.postgresql.org/docs/current/datatype-numeric.html#DATATYPE-NUMERIC-DECIMAL
    private static let lengths = 1...10_485_760
    private static let precisions = 1...1000

    private init(oid: Int, modifier: Int) { (self.oid, self.modifier) = (oid, modifier) }

    private static func numbers(in name: String) -> [Int] {
        guard let open = name.firstIndex(of: "(") else { return [] }
        let inside = name[name.index(after: open)...].prefix { $0 != ")" }
        return inside.split(separator: ",").compactMap { Int($0.filter { $0 != " " }) }
    }
}
