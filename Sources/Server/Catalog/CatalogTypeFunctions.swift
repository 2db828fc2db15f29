/// The functions that read and write values of a type, by whose names drivers choose how they do: "int8send", "array_recv".
///
/// A catalog column of type regproc holds the name, which is what is shown of it, and is compared by the OID. There are no functions
/// with an OID of PostgreSQL's here, so it follows from the name.
enum CatalogTypeFunctions {
    /// pg_type's columns for them. https://www.postgresql.org/docs/15/catalog-pg-type.html
    static func values(of type: String) -> CatalogRow {
        let name = type.hasPrefix("_") ? "array" : type == "money" ? "cash" : type
        let stem = name == "array" || name == "cash" || underscored.contains(name) ? name + "_" : name
        var row: CatalogRow = [:]
        for (column, suffix) in [("typinput", "in"), ("typoutput", "out"), ("typreceive", "recv"), ("typsend", "send")] {
            // "0 if none", which is shown as a dash.
            row[column] = .text(name == "any" && suffix.count == 4 ? "-" : stem + suffix)
        }
        return row
    }

    /// As in src/include/catalog/pg_type.dat: older types' functions have none.
    private static let underscored: Set = [
        "json", "xml", "inet", "date", "time", "timestamp", "timestamptz", "interval", "timetz", "numeric", "record", "cstring", "any",
        "void",
        "uuid", "jsonb",
    ]

    struct Function {
        let name: String
        let arguments: [Int]
        let result: Int
    }

    /// Each once, by name. By these Npgsql tells arrays from other types, and Ruby's pg which values it can convert.
    static let all: [Function] = {
        let (cstring, bytea, anyArray, buffer) = (2275, 17, 2277, 2281)
        var found: [String: Function] = [:]
        for type in CatalogTypes.entries {
            let isArray = type.name.hasPrefix("_")
            let own = isArray ? anyArray : type.oid
            // Which element, and which modifier of it.
            let others = isArray ? [26, 23] : []
            for (column, value) in values(of: type.name).fields {
                guard case .text(let name) = value, name != "-", found[name] == nil else { continue }
                let (arguments, result) =
                    switch column {
                    case "typinput": ([cstring] + others, own)
                    case "typoutput": ([own], cstring)
                    case "typreceive": ([buffer] + others, own)
                    default: ([own], bytea)
                    }
                found[name] = Function(name: name, arguments: arguments, result: result)
            }
        }
        return found.values.sorted { $0.name < $1.name }
    }()

    static let names = Set(all.map(\.name))

    /// Of any name: what a client compares with may be another function of PostgreSQL's.
    static func oid(of name: String) -> Int64 { name == "-" ? 0 : Int64(CatalogOID.hash("function " + name)) }

    private static let byOID = Dictionary(names.map { (oid(of: $0), $0) }, uniquingKeysWith: { first, _ in first })

    static func name(of oid: Int64) -> String { oid == 0 ? "-" : byOID[oid] ?? String(oid) }
}
