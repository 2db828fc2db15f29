/// The object ID of a data type. Only built-in ones are used, because drivers know those without asking `pg_type`.
/// The numbers are those of PostgreSQL's `pg_type.dat`.
public struct TypeOID: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt32

    @inlinable public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    @inlinable init(_ rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Zero, by which a client leaves a parameter's type to the server.
    public static let unspecified = TypeOID(0)
    public static let bool = TypeOID(16)
    public static let bytea = TypeOID(17)
    public static let char = TypeOID(18)
    public static let name = TypeOID(19)
    public static let int8 = TypeOID(20)
    public static let int2 = TypeOID(21)
    public static let int2vector = TypeOID(22)
    public static let int4 = TypeOID(23)
    public static let regproc = TypeOID(24)
    public static let text = TypeOID(25)
    public static let oid = TypeOID(26)
    public static let tid = TypeOID(27)
    public static let xid = TypeOID(28)
    public static let cid = TypeOID(29)
    public static let oidvector = TypeOID(30)
    public static let json = TypeOID(114)
    public static let xml = TypeOID(142)
    public static let float4 = TypeOID(700)
    public static let float8 = TypeOID(701)
    public static let unknown = TypeOID(705)
    public static let money = TypeOID(790)
    public static let inet = TypeOID(869)
    public static let boolArray = TypeOID(1000)
    public static let int2Array = TypeOID(1005)
    public static let int4Array = TypeOID(1007)
    public static let textArray = TypeOID(1009)
    public static let varcharArray = TypeOID(1015)
    public static let int8Array = TypeOID(1016)
    public static let float8Array = TypeOID(1022)
    public static let jsonArray = TypeOID(199)
    public static let byteaArray = TypeOID(1001)
    public static let charArray = TypeOID(1002)
    public static let nameArray = TypeOID(1003)
    public static let bpcharArray = TypeOID(1014)
    public static let float4Array = TypeOID(1021)
    public static let oidArray = TypeOID(1028)
    public static let timestampArray = TypeOID(1115)
    public static let dateArray = TypeOID(1182)
    public static let timeArray = TypeOID(1183)
    public static let timestamptzArray = TypeOID(1185)
    public static let intervalArray = TypeOID(1187)
    public static let numericArray = TypeOID(1231)
    public static let uuidArray = TypeOID(2951)
    public static let jsonbArray = TypeOID(3807)
    public static let bpchar = TypeOID(1042)
    public static let varchar = TypeOID(1043)
    public static let date = TypeOID(1082)
    public static let time = TypeOID(1083)
    public static let timestamp = TypeOID(1114)
    public static let timestamptz = TypeOID(1184)
    public static let interval = TypeOID(1186)
    public static let timetz = TypeOID(1266)
    public static let numeric = TypeOID(1700)
    public static let regclass = TypeOID(2205)
    public static let regtype = TypeOID(2206)
    public static let record = TypeOID(2249)
    public static let cstring = TypeOID(2275)
    public static let void = TypeOID(2278)
    public static let uuid = TypeOID(2950)
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
