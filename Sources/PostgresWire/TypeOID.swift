/// The object ID of a data type. Only built-in ones are used, because drivers know those without asking `pg_type`.
/// The numbers are those of PostgreSQL's `pg_type.dat`.
public struct TypeOID: RawRepresentable, Hashable, Sendable {
    /// `pg_type.oid`.
    public let rawValue: UInt32

    /// Any number, whether or not there is a type of it.
    @inlinable public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    @inlinable init(_ rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Zero, by which a client leaves a parameter's type to the server.
    public static let unspecified = TypeOID(0)
    /// boolean; in binary one byte.
    public static let bool = TypeOID(16)
    /// Bytes; in binary as they are.
    public static let bytea = TypeOID(17)
    /// "char", in quotes: one byte, as the catalogs have it. SQL's char without a length is `bpchar`.
    public static let char = TypeOID(18)
    /// A name of the catalogs: 63 bytes at most.
    public static let name = TypeOID(19)
    /// bigint: eight bytes.
    public static let int8 = TypeOID(20)
    /// smallint: two bytes.
    public static let int2 = TypeOID(21)
    /// A list of int2 in the catalogs, as pg_index.indkey; an array in binary, and numbers between blanks as text.
    public static let int2vector = TypeOID(22)
    /// integer: four bytes.
    public static let int4 = TypeOID(23)
    /// The OID of a function, which is its name as text.
    public static let regproc = TypeOID(24)
    /// Text of any length; in binary its bytes.
    public static let text = TypeOID(25)
    /// An object ID: four bytes, unsigned.
    public static let oid = TypeOID(26)
    /// The place of a row, as a block and a number in it: six bytes.
    public static let tid = TypeOID(27)
    /// A transaction's number: four bytes, unsigned.
    public static let xid = TypeOID(28)
    /// A command's number in its transaction: four bytes, unsigned.
    public static let cid = TypeOID(29)
    /// A list of oid in the catalogs, as pg_proc.proargtypes; written like `int2vector`.
    public static let oidvector = TypeOID(30)
    /// JSON as the text that it came as; in binary the same.
    public static let json = TypeOID(114)
    /// XML as text.
    public static let xml = TypeOID(142)
    /// An IP network.
    public static let cidr = TypeOID(650)
    /// real: four bytes.
    public static let float4 = TypeOID(700)
    /// double precision: eight bytes.
    public static let float8 = TypeOID(701)
    /// Of a literal whose type nothing has decided yet.
    public static let unknown = TypeOID(705)
    /// How many of the currency's smallest unit: eight bytes.
    public static let money = TypeOID(790)
    /// An address of IPv4 or IPv6, perhaps with a netmask.
    public static let inet = TypeOID(869)
    /// boolean[], named _bool in pg_type.
    public static let boolArray = TypeOID(1000)
    /// smallint[], named _int2 in pg_type.
    public static let int2Array = TypeOID(1005)
    /// integer[], named _int4 in pg_type.
    public static let int4Array = TypeOID(1007)
    /// text[], named _text in pg_type.
    public static let textArray = TypeOID(1009)
    /// character varying[], named _varchar in pg_type.
    public static let varcharArray = TypeOID(1015)
    /// bigint[], named _int8 in pg_type.
    public static let int8Array = TypeOID(1016)
    /// double precision[], named _float8 in pg_type.
    public static let float8Array = TypeOID(1022)
    /// json[], named _json in pg_type.
    public static let jsonArray = TypeOID(199)
    /// bytea[], named _bytea in pg_type.
    public static let byteaArray = TypeOID(1001)
    /// "char"[], named _char in pg_type.
    public static let charArray = TypeOID(1002)
    /// name[], named _name in pg_type.
    public static let nameArray = TypeOID(1003)
    /// character[], named _bpchar in pg_type.
    public static let bpcharArray = TypeOID(1014)
    /// real[], named _float4 in pg_type.
    public static let float4Array = TypeOID(1021)
    /// oid[], named _oid in pg_type.
    public static let oidArray = TypeOID(1028)
    /// timestamp without time zone[], named _timestamp in pg_type.
    public static let timestampArray = TypeOID(1115)
    /// date[], named _date in pg_type.
    public static let dateArray = TypeOID(1182)
    /// time without time zone[], named _time in pg_type.
    public static let timeArray = TypeOID(1183)
    /// timestamp with time zone[], named _timestamptz in pg_type.
    public static let timestamptzArray = TypeOID(1185)
    /// interval[], named _interval in pg_type.
    public static let intervalArray = TypeOID(1187)
    /// numeric[], named _numeric in pg_type.
    public static let numericArray = TypeOID(1231)
    /// uuid[], named _uuid in pg_type.
    public static let uuidArray = TypeOID(2951)
    /// jsonb[], named _jsonb in pg_type.
    public static let jsonbArray = TypeOID(3807)
    /// character(n), padded with blanks.
    public static let bpchar = TypeOID(1042)
    /// character varying(n).
    public static let varchar = TypeOID(1043)
    /// In binary the days since 2000-01-01, as an int4.
    public static let date = TypeOID(1082)
    /// time without time zone: in binary the microseconds since midnight, as an int8.
    public static let time = TypeOID(1083)
    /// timestamp without time zone: in binary the microseconds since 2000-01-01 00:00, as an int8.
    public static let timestamp = TypeOID(1114)
    /// timestamp with time zone: in binary the microseconds since 2000-01-01 00:00 UTC, as an int8.
    public static let timestamptz = TypeOID(1184)
    /// In binary microseconds (int8), days (int4) and months (int4).
    public static let interval = TypeOID(1186)
    /// time with time zone: in binary a `time`, and the seconds that its zone is west of UTC (int4).
    public static let timetz = TypeOID(1266)
    /// A decimal number of any precision: in binary its digits to the base of 10,000.
    public static let numeric = TypeOID(1700)
    /// The OID of a table, index or view, which is its name as text.
    public static let regclass = TypeOID(2205)
    /// The OID of a type, which is its name as text.
    public static let regtype = TypeOID(2206)
    /// A row of columns that no type names.
    public static let record = TypeOID(2249)
    /// A text that ends with a NUL: what input functions of types take, and no column has.
    public static let cstring = TypeOID(2275)
    /// What a function returns that returns nothing; as text it is empty.
    public static let void = TypeOID(2278)
    /// In binary its 16 bytes.
    public static let uuid = TypeOID(2950)
    /// JSON taken apart; in binary a version byte, 1, and then its text.
    public static let jsonb = TypeOID(3802)

    /// `pg_type.typlen`: "For a fixed-size type, typlen is the number of bytes in the internal representation of
    /// the type. But for a variable-length type, typlen is negative. -1 indicates a varlena type, -2 indicates a
    /// null-terminated C string", https://www.postgresql.org/docs/current/catalog-pg-type.html
    public var size: Int16 {
        switch self {
        case .bool, .char: 1
        case .int2: 2
        case .int4, .oid, .xid, .cid, .float4, .date, .regproc, .regclass, .regtype, .void: 4
        case .tid: 6
        case .int8, .float8, .time, .timestamp, .timestamptz, .money: 8
        case .timetz: 12
        case .interval, .uuid: 16
        case .name: 64
        case .unknown, .cstring: -2
        default: -1
        }
    }

    /// Of an array type, by the OIDs of the array and of its element in `pg_type.dat`.
    public var element: TypeOID? { Self.elements[self] }

    /// The array type whose elements are of this one.
    public var array: TypeOID? { Self.elements.first { $0.value == self }?.key }

    static let elements: [TypeOID: TypeOID] = [
        .boolArray: .bool, .byteaArray: .bytea, .charArray: .char, .nameArray: .name, .int2Array: .int2, .int4Array: .int4,
        .textArray: .text, .bpcharArray: .bpchar, .varcharArray: .varchar, .int8Array: .int8,
        .float4Array: .float4, .float8Array: .float8, .oidArray: .oid, .timestampArray: .timestamp,
        .dateArray: .date, .timeArray: .time, .timestamptzArray: .timestamptz, .intervalArray: .interval,
        .numericArray: .numeric, .uuidArray: .uuid, .jsonArray: .json, .jsonbArray: .jsonb,
    ]
}
