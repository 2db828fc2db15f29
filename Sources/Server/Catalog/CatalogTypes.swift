/// The data types that catalogs tell of, as pg_type has them.
enum CatalogTypes {
    /// oid, name, length, category, array type, element type, collation; types whose name begins with `_` are arrays.
    private static let text = """
        16 bool 1 B 1000 0 0
        17 bytea -1 U 1001 0 0
        18 char 1 Z 1002 0 0
        19 name 64 S 1003 18 950
        20 int8 8 N 1016 0 0
        21 int2 2 N 1005 0 0
        22 int2vector -1 A 1006 21 0
        23 int4 4 N 1007 0 0
        24 regproc 4 N 1008 0 0
        25 text -1 S 1009 0 100
        26 oid 4 N 1028 0 0
        27 tid 6 U 1010 0 0
        28 xid 4 U 1011 0 0
        29 cid 4 U 1012 0 0
        30 oidvector -1 A 1013 26 0
        114 json -1 U 199 0 0
        142 xml -1 U 143 0 0
        199 _json -1 A 0 114 0
        700 float4 4 N 1021 0 0
        701 float8 8 N 1022 0 0
        705 unknown -2 X 0 0 0
        790 money 8 N 791 0 0
        869 inet -1 I 1041 0 0
        1000 _bool -1 A 0 16 0
        1001 _bytea -1 A 0 17 0
        1002 _char -1 A 0 18 0
        1003 _name -1 A 0 19 950
        1005 _int2 -1 A 0 21 0
        1007 _int4 -1 A 0 23 0
        1009 _text -1 A 0 25 100
        1014 _bpchar -1 A 0 1042 100
        1015 _varchar -1 A 0 1043 100
        1016 _int8 -1 A 0 20 0
        1021 _float4 -1 A 0 700 0
        1022 _float8 -1 A 0 701 0
        1028 _oid -1 A 0 26 0
        1042 bpchar -1 S 1014 0 100
        1043 varchar -1 S 1015 0 100
        1082 date 4 D 1182 0 0
        1083 time 8 D 1183 0 0
        1114 timestamp 8 D 1115 0 0
        1115 _timestamp -1 A 0 1114 0
        1182 _date -1 A 0 1082 0
        1183 _time -1 A 0 1083 0
        1184 timestamptz 8 D 1185 0 0
        1185 _timestamptz -1 A 0 1184 0
        1186 interval 16 T 1187 0 0
        1187 _interval -1 A 0 1186 0
        1231 _numeric -1 A 0 1700 0
        1266 timetz 12 D 1270 0 0
        1700 numeric -1 N 1231 0 0
        2205 regclass 4 N 2210 0 0
        2206 regtype 4 N 2211 0 0
        2249 record -1 P 2287 0 0
        2275 cstring -2 P 1263 0 0
        2276 any 4 P 0 0 0
        2278 void 4 P 0 0 0
        2950 uuid 16 U 2951 0 0
        2951 _uuid -1 A 0 2950 0
        3802 jsonb -1 U 3807 0 0
        3807 _jsonb -1 A 0 3802 0
        """

    struct Entry: Sendable {
        var oid: Int
        var name: String
        var length: Int
        var category: String
        var array: Int
        var element: Int
        var collation: Int

        var isByValue: Bool { [1, 2, 4, 8].contains(length) }
    }

    static let entries: [Entry] = text.split(separator: "\n").map { line in
        let words = line.split(separator: " ").map(String.init)
        return Entry(
            oid: Int(words[0])!, name: words[1], length: Int(words[2])!, category: words[3], array: Int(words[4])!,
            element: Int(words[5])!, collation: Int(words[6])!)
    }

    static func entry(_ oid: Int) -> Entry? { byOID[oid] }

    private static let byOID = Dictionary(uniqueKeysWithValues: entries.map { ($0.oid, $0) })
    private static let byName = Dictionary(uniqueKeysWithValues: entries.map { ($0.name, $0.oid) })

    /// format_type(): the name SQL has for a type, with what the modifier says.
    static func formatted(_ oid: Int, modifier: Int) -> String? {
        guard let entry = byOID[oid] else { return oid == 0 ? "-" : "???" }
        if entry.name.hasPrefix("_") { return (formatted(entry.element, modifier: -1) ?? "???") + "[]" }
        switch entry.name {
        case "bool": return "boolean"
        case "char": return "\"char\""
        case "int2": return "smallint"
        case "int4": return "integer"
        case "int8": return "bigint"
        case "float4": return "real"
        case "float8": return "double precision"
        case "varchar": return "character varying" + (modifier > 4 ? "(\(modifier - 4))" : "")
        case "bpchar": return "character" + (modifier > 4 ? "(\(modifier - 4))" : "")
        case "numeric":
            return "numeric" + (modifier > 4 ? "(\((modifier - 4) >> 16),\((modifier - 4) & 0xFFFF))" : "")
        case "time", "timestamp": return entry.name + " without time zone"
        case "timetz", "timestamptz": return entry.name.dropLast(2) + " with time zone"
        default: return entry.name
        }
    }

    /// The OID of a type by any name SQL has for it.
    static func oid(named name: String) -> Int? {
        if let oid = Int(name) { return oid }
        let bare = name.lowercased().split(separator: "(").first.map { String($0) } ?? ""
        let element = bare.hasSuffix("[]") ? String(bare.dropLast(2)) : bare
        var short = Substring(element)
        for schema in ["pg_catalog.", "\"pg_catalog\"."] where short.hasPrefix(schema) { short = short.dropFirst(schema.count) }
        // In quotes char is the catalogs' own type; other names mean the same with and without.
        if short.count > 2, short.first == "\"", short.last == "\"", short != "\"char\"" { short = short.dropFirst().dropLast() }
        let aliases = [
            "boolean": "bool", "\"char\"": "char", "smallint": "int2", "integer": "int4", "int": "int4", "bigint": "int8",
            "real": "float4", "double precision": "float8", "float": "float8", "character varying": "varchar",
            "character": "bpchar", "char": "bpchar", "decimal": "numeric", "timestamp without time zone": "timestamp",
            "timestamp with time zone": "timestamptz", "time without time zone": "time",
            "time with time zone": "timetz",
        ]
        guard let oid = byName[aliases[String(short)] ?? String(short)] else { return nil }
        guard bare.hasSuffix("[]") else { return oid }
        return byOID[oid].flatMap { $0.array == 0 ? nil : $0.array }
    }
}
