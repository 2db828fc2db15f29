// How SQL spells the types: https://www.postgresql.org/docs/current/datatype.html
extension TypeOID {
    /// The type of a name or alias, whatever its case; nil when it is none of those known here.
    public init?(sqlName: String) {
        guard let type = Self.byName[sqlName.lowercased()] else { return nil }
        self = type
    }

    /// The name as PostgreSQL's `format_type` gives it; "???", like there, when the type is not known.
    public var sqlName: String {
        if let element, let name = Self.formatted[element] { return name + "[]" }
        return Self.formatted[self] ?? "???"
    }

    private static let formatted: [TypeOID: String] = [
        .bool: "boolean", .bytea: "bytea", .char: "\"char\"", .name: "name", .int8: "bigint", .int2: "smallint",
        .int2vector: "int2vector", .int4: "integer", .regproc: "regproc", .text: "text", .oid: "oid", .tid: "tid",
        .xid: "xid", .cid: "cid", .oidvector: "oidvector", .json: "json", .xml: "xml", .float4: "real",
        .float8: "double precision", .unknown: "unknown", .money: "money", .inet: "inet", .cidr: "cidr",
        .bpchar: "character", .varchar: "character varying", .date: "date", .time: "time without time zone",
        .timestamp: "timestamp without time zone", .timestamptz: "timestamp with time zone",
        .interval: "interval", .timetz: "time with time zone", .numeric: "numeric", .regclass: "regclass",
        .regtype: "regtype", .record: "record", .cstring: "cstring", .void: "void", .uuid: "uuid",
        .jsonb: "jsonb",
    ]

    private static let aliases: [String: TypeOID] = [
        "bool": .bool, "int8": .int8, "int2": .int2, "int": .int4, "int4": .int4, "float4": .float4,
        "float": .float8, "float8": .float8, "decimal": .numeric, "dec": .numeric, "varchar": .varchar,
        "char": .bpchar, "bpchar": .bpchar, "time": .time, "timetz": .timetz, "timestamp": .timestamp,
        "timestamptz": .timestamptz,
    ]

    private static let byName: [String: TypeOID] = {
        var names = aliases
        for (type, name) in formatted { names[name] = type }
        // Arrays as SQL spells them, and by their own names (_int8), which can stand in a parameter's ($1::_int8).
        for (name, type) in names {
            guard let array = TypeOID.elements.first(where: { $0.value == type })?.key else { continue }
            names[name + "[]"] = array
            if !name.contains(" ") { names["_" + name] = array }
        }
        return names
    }()
}
