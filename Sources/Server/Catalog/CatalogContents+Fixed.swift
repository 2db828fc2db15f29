/// What is the same for every database.
extension CatalogContents {
    mutating func addFixed() {
        for (oid, name) in [(Self.catalogSchema, "pg_catalog"), (Self.schema, "main"), (Self.informationSchema, "information_schema")] {
            add("pg_namespace", ["oid": .int(oid), "nspname": .text(name), "nspowner": .int(Self.owner)])
        }
        add("pg_am", ["oid": .int(Self.heap), "amname": "heap", "amtype": "t"])
        add("pg_am", ["oid": .int(Self.btree), "amname": "btree", "amtype": "i"])
        add("pg_language", ["oid": 14, "lanname": "sql", "lanowner": 10, "lanpltrusted": 1])
        add("pg_tablespace", ["oid": 1663, "spcname": "pg_default", "spcowner": 10])
        for (oid, name) in [(100, "default"), (950, "C")] {
            add(
                "pg_collation",
                [
                    "oid": .int(oid), "collname": .text(name), "collnamespace": .int(Self.catalogSchema),
                    "collencoding": -1, "collprovider": oid == 100 ? "d" : "c", "collisdeterministic": 1,
                ])
        }
        add(
            "pg_opclass",
            [
                "oid": .int(Self.operatorClass), "opcmethod": .int(Self.btree), "opcname": "any_ops", "opcdefault": 1,
                "opcnamespace": .int(Self.catalogSchema),
            ])
        // Those that no session can set; SHOW knows the others.
        for (name, value) in Self.presets.sorted(by: { $0.key < $1.key }) {
            let setting = CatalogValue.text(value)
            add(
                "pg_settings",
                [
                    "name": .text(name), "setting": setting, "boot_val": setting, "reset_val": setting, "category": "Preset Options",
                    "context": "internal", "vartype": "integer", "source": "default", "pending_restart": 0,
                ])
        }
        for type in CatalogTypes.entries {
            let row: CatalogRow = [
                "oid": .int(type.oid), "typname": .text(type.name), "typnamespace": .int(Self.catalogSchema),
                "typowner": 10, "typlen": .int(type.length), "typbyval": .int(type.isByValue ? 1 : 0),
                "typtype": type.category == "P" ? "p" : "b", "typcategory": .text(type.category), "typisdefined": 1,
                "typdelim": ",", "typelem": .int(type.element), "typarray": .int(type.array),
                "typcollation": .int(type.collation), "typtypmod": -1,
            ]
            add("pg_type", row.merging(CatalogTypeFunctions.values(of: type.name)))
        }
        for function in CatalogTypeFunctions.all {
            add(
                "pg_proc",
                [
                    "oid": .int(Int(CatalogTypeFunctions.oid(of: function.name))), "proname": .text(function.name),
                    "pronamespace": .int(Self.catalogSchema), "proowner": .int(Self.owner), "prolang": 12, "prokind": "f", "proisstrict": 1,
                    "provolatile": "s", "proparallel": "s", "pronargs": .int(function.arguments.count), "prorettype": .int(function.result),
                    "proargtypes": .text(function.arguments.map { String($0) }.joined(separator: " ")), "prosrc": .text(function.name),
                ])
        }
    }
}
