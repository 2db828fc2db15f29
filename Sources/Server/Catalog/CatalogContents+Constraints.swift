import SQLite

/// Keys and checks as pg_constraint has them, and triggers.
extension CatalogContents {
    mutating func add(_ key: CatalogKey, of table: ServedSchema.Table) {
        let relation = Int(relationOIDs[ExactName(table.name)]!)
        let oid = CatalogOID.hash("constraint \(key.name) of \(table.name)")
        var row: CatalogRow = [
            "oid": .int(Int(oid)), "conname": .text(key.name), "connamespace": .int(Self.schema), "conrelid": .int(relation),
            "convalidated": 1, "conislocal": 1, "connoinherit": 1, "conkey": columnNumbers(key.columns, table),
            "condeferrable": .int(key.isDeferrable ? 1 : 0), "condeferred": .int(key.isDeferred ? 1 : 0),
        ]
        switch key.kind {
        case .primaryKey, .unique:
            if let index = key.index { add(index, named: key.name, of: table, isPrimary: key.kind == .primaryKey) }
            row["contype"] = key.kind == .primaryKey ? "p" : "u"
            row["conindid"] = .int(Int(relationOIDs[ExactName(key.name)]!))
            constraintDefinitions[oid] = (key.kind == .primaryKey ? "PRIMARY KEY (" : "UNIQUE (") + Self.list(key.columns) + ")"
        case .check:
            row["contype"] = "c"
            row["conbin"] = .text(key.definition)
            constraintDefinitions[oid] = "CHECK (\(key.definition))"
        case .foreignKey:
            guard let foreign = key.foreign, let target = target(of: foreign, from: key) else { return }
            row = row.merging(columnsOfForeignKey(oid, foreign, target))
            constraintDefinitions[oid] = Self.definition(of: key, foreign, target)
        }
        add("pg_constraint", row)
    }

    private func columnNumbers(_ names: [String], _ table: ServedSchema.Table) -> CatalogValue {
        let found = names.compactMap { columnPlaces[table.name.foldedName]?[$0.foldedName] }
        return .text("[" + found.map { String($0) }.joined(separator: ",") + "]")
    }

    private static func list(_ columns: [String]) -> String { columns.map(quoted).joined(separator: ", ") }

    // MARK: Foreign keys

    private struct Target {
        let table: ServedSchema.Table
        let columns: [String]
    }

    /// What a foreign key refers to; nil where PostgreSQL could have no such key.
    private func target(of foreign: ServedSchema.ForeignKey, from key: CatalogKey) -> Target? {
        // SQLite lets a key refer to a table that is not there, which no row of PostgreSQL's can, and tools take for granted.
        guard let table = tablesByName[foreign.table.foldedName] else { return nil }
        let named = foreign.to.compactMap { $0 }
        let columns = named.count == foreign.to.count ? named : table.primaryKey
        // PostgreSQL has no key that refers to columns that are not there, or to another number of columns than its own.
        guard columns.count == key.columns.count,
            columns.allSatisfy({ columnPlaces[table.name.foldedName]?[$0.foldedName] != nil })
        else { return nil }
        return Target(table: table, columns: columns)
    }

    private mutating func columnsOfForeignKey(
        _ oid: UInt32, _ foreign: ServedSchema.ForeignKey, _ target: Target
    ) -> CatalogRow {
        // By its index pgjdbc and ODBC's driver find the key that is referred to.
        let referred = keysByColumns[foreign.table.foldedName]?[Set(target.columns.map { $0.foldedName })]
        let places = referred.map { key in
            Dictionary(key.columns.enumerated().map { ($1.foldedName, $0 + 1) }, uniquingKeysWith: { first, _ in first })
        }
        referredPositions[oid] = target.columns.map { places?[$0.foldedName] }
        return [
            "contype": "f", "confrelid": .int(relationOIDs[ExactName(target.table.name)].map { Int($0) } ?? 0),
            "conindid": .int(referred.flatMap { relationOIDs[ExactName($0.name)] }.map { Int($0) } ?? 0),
            "confkey": columnNumbers(target.columns, target.table), "confupdtype": .text(Self.action(foreign.onUpdate)),
            "confdeltype": .text(Self.action(foreign.onDelete)), "confmatchtype": "s",
        ]
    }

    private static func definition(of key: CatalogKey, _ foreign: ServedSchema.ForeignKey, _ target: Target) -> String {
        "FOREIGN KEY (\(list(key.columns))) REFERENCES \(quoted(target.table.name))(\(list(target.columns)))"
            + (foreign.onUpdate == "NO ACTION" ? "" : " ON UPDATE \(foreign.onUpdate)")
            + (foreign.onDelete == "NO ACTION" ? "" : " ON DELETE \(foreign.onDelete)")
            + (key.isDeferrable ? " DEFERRABLE" : "") + (key.isDeferred ? " INITIALLY DEFERRED" : "")
    }

    private static func action(_ name: String) -> String {
        ["RESTRICT": "r", "CASCADE": "c", "SET NULL": "n", "SET DEFAULT": "d"][name] ?? "a"
    }

    mutating func add(_ trigger: ServedSchema.Trigger) {
        guard let relation = oid(ofRelation: SQLQuoting.identifier(trigger.table)) else { return }
        let oid = CatalogOID.hash("trigger " + trigger.name)
        triggerDefinitions[oid] = trigger.sql.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        add(
            "pg_trigger",
            [
                "oid": .int(Int(oid)), "tgrelid": .int(Int(relation)), "tgname": .text(trigger.name), "tgenabled": "O",
            ])
    }
}
