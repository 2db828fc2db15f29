/// Tables, views and indexes with their columns.
extension CatalogContents {
    mutating func add(_ table: ServedSchema.Table, _ keys: [CatalogKey], _ schema: ServedSchema) {
        let oid = Int(relationOIDs[ExactName(table.name)]!)
        let rowType = Int(CatalogOID.hash("row type of " + table.name))
        let checks = keys.filter { $0.kind == .check }.count
        add(
            "pg_class",
            relation(
                oid, table.name, kind: table.isView ? "v" : "r", columns: table.columns.count,
                with: [
                    "reltype": .int(rowType), "relam": .int(table.isView ? 0 : Self.heap), "relchecks": .int(checks),
                    "relhasindex": .int(keys.contains { $0.index != nil || $0.kind == .primaryKey } || !table.indexes.isEmpty ? 1 : 0),
                    "relhastriggers": .int(
                        tablesWithTriggers.contains(table.name.foldedName) || keys.contains { $0.foreign != nil } ? 1 : 0),
                    "relhasrules": .int(table.isView ? 1 : 0),
                ]))
        let type: CatalogRow = [
            "oid": .int(rowType), "typname": .text(table.name), "typnamespace": .int(Self.schema), "typowner": 10, "typlen": -1,
            "typtype": "c", "typcategory": "C", "typisdefined": 1, "typdelim": ",", "typrelid": .int(oid), "typtypmod": -1,
        ]
        add("pg_type", type.merging(CatalogTypeFunctions.values(of: "record")))
        if table.isView { viewDefinitions[UInt32(oid)] = Self.query(ofView: table.sql) }
        let identity = addSequence(of: table, oid)
        let generated = table.columns.contains(where: \.isGenerated) ? TableDefinition(table.sql).generated : [:]
        for (index, column) in table.columns.enumerated() {
            let isIdentity = column.name.foldedName == identity?.foldedName
            add(
                column, number: index + 1, of: oid, isKey: isIdentity || (column.keyPosition > 0 && !table.hasRowid),
                isIdentity: isIdentity,
                generatedAs: column.isGenerated ? generated[column.name.foldedName] : nil)
        }
        for index in table.indexes where index.origin == "c" { add(index, named: index.name, of: table, isPrimary: false) }
        for key in keys { add(key, of: table) }
    }

    /// Clients that have reflected a table leave the column to it and ask for what it got (`RETURNING`).
    private mutating func addSequence(of table: ServedSchema.Table, _ relation: Int) -> String? {
        guard let column = Self.rowidColumn(of: table)?.name else { return nil }
        let oid = CatalogOID.hash("sequence of " + table.name)
        let name = sequenceName(table.name, column)
        sequences[UInt32(relation)] = IdentitySequence(name: name, oid: oid, column: column)
        if relations[oid] == nil { relations[oid] = name }
        add(
            "pg_sequence",
            [
                "seqrelid": .int(Int(oid)), "seqtypid": 20, "seqstart": 1, "seqincrement": 1, "seqmax": .int(Int.max), "seqmin": 1,
                "seqcache": 1,
                "seqcycle": 0,
            ])
        return column
    }

    private func relation(
        _ oid: Int, _ name: String, kind: String, columns: Int, with others: CatalogRow
    ) -> CatalogRow {
        let row: CatalogRow = [
            "oid": .int(oid), "relname": .text(name), "relnamespace": .int(Self.schema), "relowner": .int(Self.owner),
            "relkind": .text(kind), "relnatts": .int(columns), "relpersistence": "p", "relreplident": "d",
            "reltuples": -1, "relispopulated": 1,
        ]
        return row.merging(others)
    }

    mutating func add(
        _ column: ServedSchema.Column, number: Int, of relation: Int, isKey: Bool, isIdentity: Bool = false,
        generatedAs expression: String? = nil
    ) {
        let type = attributeType(column.declared)
        let entry = CatalogTypes.entry(type.oid)
        // "pg_attrdef stores column default expressions and generation expressions."
        // https://www.postgresql.org/docs/15/catalog-pg-attrdef.html
        let standard = expression ?? column.defaultText.flatMap { DefaultExpression.spelled($0, for: type) }
        add(
            "pg_attribute",
            [
                "attrelid": .int(relation), "attname": .text(column.name), "atttypid": .int(type.oid),
                "attnum": .int(number), "atttypmod": .int(type.modifier), "attnotnull": .int(column.isNotNull || isKey ? 1 : 0),
                "atthasdef": .int(standard == nil ? 0 : 1), "attidentity": isIdentity ? "d" : "",
                "attgenerated": .text(column.isGenerated ? "s" : ""), "attislocal": 1,
                "attcollation": .int(entry?.collation ?? 0), "attlen": .int(entry?.length ?? -1),
                "attbyval": .int(entry?.isByValue == true ? 1 : 0),
                "attstattarget": -1, "attstorage": "p", "attcompression": "", "attcacheoff": -1, "attalign": "i",
            ])
        if let text = standard {
            add(
                "pg_attrdef",
                [
                    "oid": .int(relation ^ number << 20), "adrelid": .int(relation), "adnum": .int(number), "adbin": .text(text),
                ])
        }
    }

    /// A schema has many columns, and few types.
    private mutating func attributeType(_ declared: String) -> AttributeType {
        if let known = attributeTypes[declared] { return known }
        let type = AttributeType(declared)
        attributeTypes[declared] = type
        return type
    }

    mutating func add(_ index: ServedSchema.Index, named name: String, of table: ServedSchema.Table, isPrimary: Bool) {
        let oid = Int(relationOIDs[ExactName(name)]!), relation = Int(relationOIDs[ExactName(table.name)]!)
        let numbers = index.columns.map { column in
            column.name.flatMap { columnPlaces[table.name.foldedName]?[$0.foldedName] } ?? 0
        }
        let texts = Self.expressions(of: index)
        let (condition, count) = (Self.condition(of: index), index.columns.count)
        func vector(_ values: [Int]) -> CatalogValue { .text(values.map(String.init).joined(separator: " ")) }
        add("pg_class", self.relation(oid, name, kind: "i", columns: count, with: ["relam": .int(Self.btree)]))
        for (position, number) in numbers.enumerated() {
            var column =
                number > 0
                ? table.columns[number - 1]
                : ServedSchema.Column(
                    name: position == 0 ? "expr" : "expr\(position)", declared: "", isNotNull: false, defaultText: nil,
                    keyPosition: 0, isGenerated: false)
            (column.isNotNull, column.defaultText) = (false, nil)
            add(column, number: position + 1, of: oid, isKey: false)
        }
        add(
            "pg_index",
            [
                "indexrelid": .int(oid), "indrelid": .int(relation), "indnatts": .int(count), "indnkeyatts": .int(count),
                "indisunique": .int(index.isUnique ? 1 : 0), "indisprimary": .int(isPrimary ? 1 : 0), "indimmediate": 1,
                "indisvalid": 1, "indisready": 1, "indislive": 1, "indkey": vector(numbers),
                "indcollation": vector(numbers.map { _ in 0 }), "indclass": vector(numbers.map { _ in Self.operatorClass }),
                // DESC and NULLS FIRST, or neither: PostgreSQL's defaults, which tools do not print. SQLite sorts NULLs the
                // other way round, but an index with NULLS FIRST printed would be none that its own definition makes.
                "indoption": vector(index.columns.map { $0.isDescending ? 3 : 0 }),
                "indexprs": numbers.contains(0) ? .text(texts.joined(separator: ", ")) : .null,
                "indpred": condition.map { .text($0) } ?? .null,
            ])
        let keys = zip(texts, index.columns).map { $1.isDescending ? "\($0) DESC" : $0 }.joined(separator: ", ")
        let unique = index.isUnique ? "UNIQUE " : ""
        let end = condition.map { " WHERE " + $0 } ?? ""
        indexDefinitions[UInt32(oid)] = (
            "CREATE \(unique)INDEX \(Self.quoted(name)) ON \(Self.quoted(table.name)) USING btree (\(keys))\(end)", texts,
            index.columns.map(\.isDescending)
        )
    }
}
