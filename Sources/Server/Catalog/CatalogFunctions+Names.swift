import SQLite

/// Names of things and the OIDs they stand for: PostgreSQL's object identifier types.
/// https://www.postgresql.org/docs/15/datatype-oid.html
extension CatalogFunctions {
    static func registerNames(on connection: Connection, _ contents: CatalogContents) {
        connection.register("format_type", 2, .deterministic) { call in
            guard !call.isNull(0) else { return call.answerNull() }
            call.answer(CatalogTypes.formatted(Int(call.integer(0)), modifier: call.isNull(1) ? -1 : Int(call.integer(1))))
        }
        // A table's name is written as in SQL, its column's as it is.
        connection.register("pg_get_serial_sequence", 2, .deterministic) { call in
            guard !call.hasNull, let table = contents.oid(ofRelation: call.text(0)), let sequence = contents.sequences[table],
                ExactName(sequence.column) == ExactName(call.text(1))
            else { return call.answerNull() }
            call.answer("main." + CatalogContents.quoted(sequence.name))
        }
        // A function of the connection that owns the callbacks, which must not own them in turn.
        connection.register("pg_get_userbyid", 1, .volatile) { [unowned(unsafe) callbacks = connection.callbacks] call in
            let user = callbacks.sessionFacts?()?.userName
            call.answer(call.integer(0) == 10 ? user : "unknown (OID=\(call.integer(0)))")
        }
        connection.register("quote_ident", 1, .deterministic) {
            $0.isNull(0) ? $0.answerNull() : $0.answer(CatalogContents.quoted($0.text(0)))
        }
        connection.register("quote_literal", 1, .deterministic) {
            $0.isNull(0) ? $0.answerNull() : $0.answer(SQLQuoting.literal($0.text(0)))
        }
        registerRelations(on: connection, contents)
        registerTypes(on: connection)
        registerFunctions(on: connection)
        registerSchemas(on: connection)
    }

    private static func registerRelations(on connection: Connection, _ contents: CatalogContents) {
        connection.register("pg_regclass_name", 1, .deterministic) { call in
            guard !call.isNull(0) else { return call.answerNull() }
            guard let oid = contents.oid(ofRelation: call) else { return failNoRelation(call) }
            if oid == 0 { return call.answer("-") }
            let name = UInt32(exactly: oid).flatMap { contents.relations[$0].map(CatalogContents.quoted) } ?? CatalogTableOIDs.names[oid]
            call.answer(name ?? String(oid))
        }
        for (name, fails): (StaticString, Bool) in [
            ("pg_regclass_oid", true), ("pg_regclass_of", false), ("to_regclass", false), ("pg_oid", true),
        ] {
            connection.register(name, 1, .deterministic) { call in
                guard !call.isNull(0) else { return call.answerNull() }
                if let oid = contents.oid(ofRelation: call) { return call.answer(oid) }
                if fails { failNoRelation(call) } else { call.answerNull() }
            }
        }
    }

    private static func registerTypes(on connection: Connection) {
        for (name, fails): (StaticString, Bool) in [("pg_regtype_oid", true), ("to_regtype", false)] {
            connection.register(name, 1, .deterministic) { call in
                guard !call.isNull(0) else { return call.answerNull() }
                if let oid = CatalogTypes.oid(named: call.text(0)) { return call.answer(Int64(oid)) }
                if fails {
                    call.fail("type \"\(call.text(0).prefix(SessionLimits.quotedCharacters))\" does not exist")
                } else {
                    call.answerNull()
                }
            }
        }
    }

    private static func registerFunctions(on connection: Connection) {
        connection.register("pg_regproc_oid", 1, .deterministic) { call in
            guard !call.isNull(0) else { return call.answerNull() }
            if call.storageClass(0) != .text { return call.answer(call.integer(0)) }
            let name = call.text(0)
            call.answer(Int64(name) ?? CatalogTypeFunctions.oid(of: name.hasPrefix("pg_catalog.") ? String(name.dropFirst(11)) : name))
        }
        // `'abs'::regproc::oid`, by which psql's \sf begins.
        connection.register("pg_function_oid", 1, .deterministic) { call in
            guard call.storageClass(0) == .text else { return call.answer(argument: 0) }
            let name = call.text(0)
            if name == "-" || CatalogTypeFunctions.names.contains(name) { return call.answer(CatalogTypeFunctions.oid(of: name)) }
            call.fail("function \"\(name.prefix(SessionLimits.quotedCharacters))\" does not exist")
        }
        connection.register("pg_regproc_name", 1, .deterministic) { call in
            guard !call.isNull(0) else { return call.answerNull() }
            call.storageClass(0) == .text ? call.answer(argument: 0) : call.answer(CatalogTypeFunctions.name(of: call.integer(0)))
        }
    }

    private static func registerSchemas(on connection: Connection) {
        let schemas = [
            "main": CatalogContents.schema, "pg_catalog": CatalogContents.catalogSchema,
            "information_schema": CatalogContents.informationSchema,
        ]
        connection.register("pg_regnamespace_oid", 1, .deterministic) { call in
            guard call.storageClass(0) == .text else { return call.answer(argument: 0) }
            if let oid = schemas[call.text(0)] {
                call.answer(Int64(oid))
            } else {
                call.fail("schema \"\(call.text(0).prefix(SessionLimits.quotedCharacters))\" does not exist")
            }
        }
        connection.register("pg_regnamespace_name", 1, .deterministic) { call in
            guard !call.isNull(0) else { return call.answerNull() }
            if call.storageClass(0) == .text { return call.answer(argument: 0) }
            call.answer(schemas.first { $0.value == Int(call.integer(0)) }?.key ?? call.text(0))
        }
    }

    private static func failNoRelation(_ call: FunctionCall) {
        call.fail("relation \"\(call.text(0).prefix(SessionLimits.quotedCharacters))\" does not exist")
    }
}
