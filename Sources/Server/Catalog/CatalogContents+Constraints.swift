import SQLite

/// Keys and checks as pg_constraint has them, and triggers.
extension CatalogContents {
    mutating func add(_ key: CatalogKey, of table: ServedSchema.Table) {
        let relation = Int(relationOIDs[ExactName(table.name)]!)
        let oid = Int(CatalogOID.hash("constraint \(key.name) of \(table.name)"))
        func columnNumbers(_ names: [String], _ table: ServedSchema.Table) -> CatalogValue {
            let found = names.compactMap { columnPlaces[table.name.foldedName]?[$0.foldedName] }
            return .text("[" + found.map { String($0) }.joined(separator: ",") + "]")
        }
        var values: [String: CatalogValue] = [
            "oid": .int(oid), "conname": .text(key.name), "connamespace": .int(Self.schema), "conrelid": .int(relation),
            "convalidated": 1, "conislocal": 1, "connoinherit": 1, "conkey": columnNumbers(key.columns, table),
            "condeferrable": .int(key.isDeferrable ? 1 : 0), "condeferred": .int(key.isDeferred ? 1 : 0),
        ]
        let list = key.columns.map(Self.quoted).joined(separator: ", ")
        switch key.kind {
        case .primaryKey, .unique:
            if let index = key.index { add(index, named: key.name, of: table, isPrimary: key.kind == .primaryKey) }
            values["contype"] = key.kind == .primaryKey ? "p" : "u"
            values["conindid"] = .int(Int(relationOIDs[ExactName(key.name)]!))
            constraintDefinitions[UInt32(oid)] = (key.kind == .primaryKey ? "PRIMARY KEY (" : "UNIQUE (") + list + ")"
        case .check:
            values["contype"] = "c"
            values["conbin"] = .text(key.definition)
            constraintDefinitions[UInt32(oid)] = "CHECK (\(key.definition))"
        case .foreignKey:
            // SQLite lets a key refer to a table that is not there, which no row of PostgreSQL's can, and tools take for granted.
            guard let foreign = key.foreign, let target = tablesByName[foreign.table.foldedName] else { return }
            let named = foreign.to.compactMap { $0 }
            let to = named.count == foreign.to.count ? named : target.primaryKey
            // PostgreSQL has no key that refers to columns that are not there, or to another number of columns than its own.
            guard to.count == key.columns.count, to.allSatisfy({ columnPlaces[target.name.foldedName]?[$0.foldedName] != nil }) else {
                return
            }
            values["contype"] = "f"
            values["confrelid"] = .int(relationOIDs[ExactName(target.name)].map { Int($0) } ?? 0)
            // By this index pgjdbc and ODBC's driver find the key that is referred to.
            let referred = keysByColumns[foreign.table.foldedName]?[Set(to.map { $0.foldedName })]
            values["conindid"] = .int(referred.flatMap { relationOIDs[ExactName($0.name)] }.map { Int($0) } ?? 0)
            values["confkey"] = columnNumbers(to, target)
            let places = referred.map { key in
                Dictionary(key.columns.enumerated().map { ($1.foldedName, $0 + 1) }, uniquingKeysWith: { first, _ in first })
            }
            referredPositions[UInt32(oid)] = to.map { places?[$0.foldedName] }
            values["confupdtype"] = .text(Self.action(foreign.onUpdate))
            values["confdeltype"] = .text(Self.action(foreign.onDelete))
            values["confmatchtype"] = "s"
            constraintDefinitions[UInt32(oid)] =
                "FOREIGN KEY (\(list)) REFERENCES \(Self.quoted(target.name))"
                + "(\(to.map(Self.quoted).joined(separator: ", ")))"
                + (foreign.onUpdate == "NO ACTION" ? "" : " ON UPDATE \(foreign.onUpdate)")
                + (foreign.onDelete == "NO ACTION" ? "" : " ON DELETE \(foreign.onDelete)")
                + (key.isDeferrable ? " DEFERRABLE" : "") + (key.isDeferred ? " INITIALLY DEFERRED" : "")
        }
        add("pg_constraint", values)
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
