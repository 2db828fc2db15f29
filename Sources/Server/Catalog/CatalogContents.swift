import SQLite

/// What the catalogs hold for one state of the served schema.
///
/// Names that SQLite has none for (a rowid's key, a UNIQUE that was not named) are made as PostgreSQL makes them.
struct CatalogContents: Sendable {
    static let schema = 2200, catalogSchema = 11, informationSchema = 13_000, owner = 10, btree = 403, heap = 2
    /// What PostgreSQL was built with, which no session can set.
    static let presets = ["max_index_keys": "32", "max_identifier_length": "63", "max_function_args": "100", "block_size": "8192"]
    /// pg_opclass: one stands for all.
    static let operatorClass = 1978

    private(set) var rows: [(table: String, row: CatalogRow)] = []
    var relations: [UInt32: String] = [:]
    private(set) var relationOIDs: [ExactName: UInt32] = [:]
    /// By their tables.
    var sequences: [UInt32: IdentitySequence] = [:]
    var indexDefinitions: [UInt32: (whole: String, columns: [String], descending: [Bool])] = [:]
    var constraintDefinitions: [UInt32: String] = [:]
    /// By foreign key: the place, from 1, that each of its columns has in the key it refers to.
    var referredPositions: [UInt32: [Int?]] = [:]
    var viewDefinitions: [UInt32: String] = [:]
    var triggerDefinitions: [UInt32: String] = [:]

    var tablesByName: [FoldedName: ServedSchema.Table] = [:]
    var tablesWithTriggers: Set<FoldedName> = []
    /// By table and column, from 1: keys may name thousands of columns thousands of times.
    var columnPlaces: [FoldedName: [FoldedName: Int]] = [:]
    /// By their tables' names, and by their columns': a foreign key may name them in any order.
    var keysByColumns: [FoldedName: [Set<FoldedName>: CatalogKey]] = [:]

    /// By what was declared.
    var attributeTypes: [String: AttributeType] = [:]

    /// What fills a rowid's column, which to clients is an identity column.
    struct IdentitySequence: Sendable {
        var name: String
        var oid: UInt32
        var column: String
    }

    /// `mustStop` said so: it is not whole.
    private(set) var isStopped = false

    /// - Parameter mustStop: asked for each table, which may have two thousand columns.
    init(_ schema: ServedSchema, mustStop: () -> Bool = { false }) {
        var names = UniqueNames(schema.tables.map(\.name))
        for table in schema.tables { names.formUnion(table.indexes.filter { $0.origin == "c" }.map(\.name)) }
        let keys = Self.keys(of: schema, &names)
        fillLookups(schema, keys)
        relationOIDs = CatalogOID.assign(names.all)
        for (name, oid) in relationOIDs { relations[oid] = name.text }
        addFixed()
        for table in schema.tables {
            isStopped = mustStop()
            if isStopped { return }
            add(table, keys[table.name.foldedName] ?? [], schema)
        }
        for trigger in schema.triggers { add(trigger) }
    }

    /// By table. A primary or unique key has an index, whose name is nobody else's; SQLite lets many tables name their keys alike.
    private static func keys(of schema: ServedSchema, _ names: inout UniqueNames) -> [FoldedName: [CatalogKey]] {
        var keys: [FoldedName: [CatalogKey]] = [:]
        for table in schema.tables where !table.isView {
            keys[table.name.foldedName] = CatalogKey.keys(of: table).map { key in
                guard key.hasIndex else { return key }
                var key = key
                if names.all.contains(ExactName(key.name)) { key.name = table.name + "_" + key.name }
                key.name = names.take(key.name)
                return key
            }
        }
        return keys
    }

    /// What is asked for while rows are made: of names that only differ in case the first counts, as to SQLite there can be no second.
    private mutating func fillLookups(_ schema: ServedSchema, _ keys: [FoldedName: [CatalogKey]]) {
        tablesByName = Dictionary(
            schema.tables.map { ($0.name.foldedName, $0) }, uniquingKeysWith: { first, _ in first })
        for (name, found) in keys {
            keysByColumns[name] = Dictionary(
                found.lazy.filter(\.hasIndex).map { (Set($0.columns.map { $0.foldedName }), $0) }, uniquingKeysWith: { first, _ in first })
        }
        for table in schema.tables {
            columnPlaces[table.name.foldedName] = Dictionary(
                table.columns.enumerated().map { ($1.name.foldedName, $0 + 1) }, uniquingKeysWith: { first, _ in first })
        }
        tablesWithTriggers = Set(schema.triggers.map { $0.table.foldedName })
    }

    /// The OID of a table, view or index by a name as a client writes it, perhaps with a schema and quotes. There is one schema.
    func oid(ofRelation name: String) -> UInt32? {
        let parts = name.withBytes { SQLLexer($0).filter(\.isIdentifierLike).map(\.name) }
        guard parts.count == 1 || parts.count > 1 && parts[parts.count - 2] == "main", let last = parts.last.map(ExactName.init)
        else { return nil }
        if let oid = relationOIDs[last] { return oid }
        return relationOIDs.first { ExactName($0.key.text.foldedName.text) == last }?.value
            ?? sequences.values.first { ExactName($0.name) == last }?.oid
    }

    /// The OID that is meant by an OID, by its digits, or by a name, which may be a catalog's.
    func oid(ofRelation call: FunctionCall) -> Int64? {
        guard call.storageClass(0) == .text else { return call.integer(0) }
        let text = call.text(0)
        if let number = Int64(text) { return number }
        if text == "-" { return 0 }
        return oid(ofRelation: text).map { Int64($0) } ?? CatalogTableOIDs.oid(of: text)
    }

    mutating func add(_ table: String, _ row: CatalogRow) { rows.append((table, row)) }

    /// What goes into the tables. The functions need the rest for as long as the connection is there; of a hundred thousand columns these
    /// are 75 MB.
    mutating func takeRows() -> [(table: String, row: CatalogRow)] {
        defer { rows = [] }
        return rows
    }
}
