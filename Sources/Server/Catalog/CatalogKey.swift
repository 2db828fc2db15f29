/// A constraint of a table as pg_constraint has it.
struct CatalogKey {
    var kind: TableDefinition.Constraint.Kind
    var name: String
    var columns: [String]
    var index: ServedSchema.Index?
    var definition = ""
    var foreign: ServedSchema.ForeignKey?
    var isDeferrable = false
    var isDeferred = false

    var hasIndex: Bool { kind == .primaryKey || kind == .unique }

    static func keys(of table: ServedSchema.Table) -> [CatalogKey] {
        let declared = TableDefinition(table.sql).constraints
        var keys: [CatalogKey] = []
        let primary = table.primaryKey
        if !primary.isEmpty {
            let name = declared.first { $0.kind == .primaryKey }?.name ?? table.name + "_pkey"
            let index =
                table.indexes.first { $0.origin == "pk" }
                ?? ServedSchema.Index(
                    name: name, isUnique: true, origin: "pk",
                    columns: primary.map { .init(name: $0, isDescending: false) }, sql: nil)
            keys.append(CatalogKey(kind: .primaryKey, name: name, columns: primary, index: index))
        }
        // A table may have thousands of them.
        let names = Dictionary(
            declared.lazy.filter { $0.kind == .unique }.map { (folded($0.columns), $0.name) }, uniquingKeysWith: { first, _ in first })
        for index in table.indexes where index.origin == "u" {
            let columns = index.columns.compactMap(\.name)
            let name = names[folded(columns)] ?? nil
            keys.append(
                CatalogKey(
                    kind: .unique, name: name ?? ([table.name] + columns + ["key"]).joined(separator: "_"), columns: columns, index: index))
        }
        let foreign = declared.filter { $0.kind == .foreignKey }
        for (position, key) in table.foreignKeys.enumerated() {
            let text =
                position < foreign.count && folded(foreign[position].columns) == folded(key.from) ? foreign[position] : nil
            var entry = CatalogKey(
                kind: .foreignKey, name: text?.name ?? ([table.name] + key.from + ["fkey"]).joined(separator: "_"),
                columns: key.from, foreign: key)
            (entry.isDeferrable, entry.isDeferred) = (text?.isDeferrable ?? false, text?.isDeferred ?? false)
            keys.append(entry)
        }
        for check in declared where check.kind == .check {
            let name = check.name ?? ([table.name] + check.columns + ["check"]).joined(separator: "_")
            keys.append(CatalogKey(kind: .check, name: name, columns: check.columns, definition: check.text))
        }
        var taken = UniqueNames([])
        return keys.map { key in
            var key = key
            key.name = taken.take(key.name)
            return key
        }
    }

    private static func folded(_ names: [String]) -> [FoldedName] { names.map(\.foldedName) }
}

extension ServedSchema.Table {
    /// Its columns, in the key's order.
    var primaryKey: [String] {
        columns.filter { $0.keyPosition > 0 }.sorted { $0.keyPosition < $1.keyPosition }.map(\.name)
    }
}

/// A name used twice gets a number, as in PostgreSQL.
struct UniqueNames {
    private(set) var all: Set<ExactName>
    /// Where to go on: thousands of CHECKs without a name would else each be compared with all before them.
    private var numbers: [ExactName: Int] = [:]

    init(_ names: some Sequence<String>) { all = Set(names.map { ExactName($0) }) }

    mutating func formUnion(_ names: some Sequence<String>) { all.formUnion(names.map { ExactName($0) }) }

    mutating func take(_ name: String) -> String {
        let wanted = ExactName(name)
        var unique = wanted
        while !all.insert(unique).inserted {
            numbers[wanted, default: 0] += 1
            unique = ExactName(name + String(numbers[wanted]!))
        }
        return unique.text
    }
}
