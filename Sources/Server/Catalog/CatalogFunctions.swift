import PostgresWire
import SQLite

/// PostgreSQL's catalog functions, on a catalog's private connection.
/// https://www.postgresql.org/docs/15/functions-info.html
enum CatalogFunctions {
    static func register(on connection: Connection, _ contents: CatalogContents) {
        registerDefinitions(on: connection, contents)
        registerNames(on: connection, contents)
        registerConstants(on: connection)
        registerConversions(on: connection)
        CatalogFormat.register(on: connection)
        registerCursors(on: connection)
        CatalogArrays.register(on: connection)
        registerPatterns(on: connection)
    }

    /// "The infix LIKE operator is implemented by calling the application-defined SQL functions like(Y,X) or like(Y,X,Z)", and REGEXP by
    /// regexp(Y,X): https://www.sqlite.org/lang_expr.html#the_like_glob_regexp_match_and_extract_operators
    private static func registerPatterns(on connection: Connection) {
        typealias Match = @Sendable (_ text: String, _ pattern: String) throws(CatalogPattern.Failure) -> Bool
        let operators: [(name: StaticString, matches: Match)] = [
            ("regexp", { text, pattern throws(CatalogPattern.Failure) in try CatalogPattern.matches(text, pattern: pattern) }),
            ("like", { text, pattern throws(CatalogPattern.Failure) in try CatalogPattern.isLike(text, pattern: pattern) }),
        ]
        for (name, matches) in operators {
            connection.register(name, 2, .deterministic) { call in
                guard !call.hasNull else { return call.answerNull() }
                do throws(CatalogPattern.Failure) {
                    call.answer(try matches(call.text(1), call.text(0)))
                } catch {
                    call.fail(error.message)
                }
            }
        }
    }

    private static func oid(_ call: FunctionCall, _ index: Int = 0) -> UInt32 {
        UInt32(truncatingIfNeeded: call.integer(index))
    }

    private static func registerDefinitions(on connection: Connection, _ contents: CatalogContents) {
        for count in [1, 2, 3] {
            connection.register("pg_get_indexdef", count, .deterministic) { call in
                guard let definition = contents.indexDefinitions[oid(call)] else { return call.answerNull() }
                let column = count > 1 ? Int(call.integer(1)) : 0
                if column == 0 { return call.answer(definition.whole) }
                call.answer(column <= definition.columns.count && column > 0 ? definition.columns[column - 1] : "")
            }
        }
        for count in [1, 2] {
            connection.register("pg_get_constraintdef", count, .deterministic) { call in
                guard !call.hasNull, let definition = contents.constraintDefinitions[oid(call)] else { return call.answerNull() }
                // Without the pretty form "CHECK ((k > 0))", and by both pairs of parentheses Rails 6 and 7.0 find the condition.
                let isPlainCheck = definition.hasPrefix("CHECK (") && !(count == 2 && call.integer(1) != 0)
                call.answer(isPlainCheck ? "CHECK (" + definition.dropFirst(6) + ")" : definition)
            }
            connection.register("pg_get_viewdef", count, .deterministic) { call in
                let relation = call.storageClass(0) == .text ? contents.oid(ofRelation: call.text(0)) ?? oid(call) : oid(call)
                call.answer(contents.viewDefinitions[relation])
            }
            connection.register("pg_get_triggerdef", count, .deterministic) {
                $0.answer(contents.triggerDefinitions[oid($0)])
            }
            connection.register("pg_get_ruledef", count, .deterministic) { $0.answerNull() }
        }
        // The properties of a B-tree's columns, https://www.postgresql.org/docs/15/functions-info.html#FUNCTIONS-INFO-INDEX-COLUMN-PROPS
        connection.register("pg_index_column_has_property", 3, .deterministic) { call in
            let column = Int(call.integer(1))
            guard let descending = contents.indexDefinitions[oid(call)]?.descending, column > 0, column <= descending.count else {
                return call.answerNull()
            }
            switch call.text(2) {
            case "asc", "nulls_last": call.answer(!descending[column - 1])
            case "desc", "nulls_first": call.answer(descending[column - 1])
            case "orderable", "returnable", "search_array", "search_nulls": call.answer(true)
            case "distance_orderable": call.answer(false)
            default: call.answerNull()
            }
        }
        connection.register("pg_column_is_updatable", 3, .deterministic) { call in
            call.hasNull
                ? call.answerNull() : call.answer(contents.viewDefinitions[oid(call)] == nil && contents.relations[oid(call)] != nil)
        }
        // Expressions are kept as text, so that is what they are.
        for count in [2, 3] { connection.register("pg_get_expr", count, .deterministic) { $0.answer(argument: 0) } }
        // For the information schema's key_column_usage; the second argument counts from 0.
        connection.register("pg_referred_position", 2, .deterministic) { call in
            guard let positions = contents.referredPositions[oid(call)], let index = Int(exactly: call.integer(1)),
                positions.indices.contains(index), let position = positions[index]
            else { return call.answerNull() }
            call.answer(Int64(position))
        }
        connection.register("pg_foreign_key_action", 1, .deterministic) { call in
            let names = ["r": "RESTRICT", "c": "CASCADE", "n": "SET NULL", "d": "SET DEFAULT"]
            call.answer(names[call.text(0)] ?? "NO ACTION")
        }
    }

    private static func registerNames(on connection: Connection, _ contents: CatalogContents) {
        connection.register("format_type", 2, .deterministic) { call in
            guard !call.isNull(0) else { return call.answerNull() }
            call.answer(CatalogTypes.formatted(Int(call.integer(0)), modifier: call.isNull(1) ? -1 : Int(call.integer(1))))
        }
        // A table's name is written as in SQL, its column's as it is.
        connection.register("pg_get_serial_sequence", 2, .deterministic) { call in
            guard !call.hasNull, let table = contents.oid(ofRelation: call.text(0)), let sequence = contents.sequences[table],
                sequence.column == call.text(1)
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
        connection.register("pg_regclass_name", 1, .deterministic) { call in
            guard !call.isNull(0) else { return call.answerNull() }
            guard let oid = contents.oid(ofRelation: call) else { return failed(call) }
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
                if fails { failed(call) } else { call.answerNull() }
            }
        }
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

    private static func failed(_ call: FunctionCall) {
        call.fail("relation \"\(call.text(0).prefix(SessionLimits.quotedCharacters))\" does not exist")
    }

    /// `x::integer` and `x::text` where SQLite's CAST makes something else.
    private static func registerConversions(on connection: Connection) {
        connection.register("pg_integer", 1, .deterministic) { call in
            switch call.storageClass(0) {
            case .text:
                guard let number = TextCodec.parseInt(call.bytes(0)) else {
                    return call.fail("invalid input syntax for type integer: \"\(call.text(0).prefix(SessionLimits.quotedCharacters))\"")
                }
                call.answer(number)
            case .real:
                // As numeric, which an average and a number with a point are: away from zero where two are as near.
                let rounded = call.double(0).rounded(.toNearestOrAwayFromZero)
                guard let number = Int64(exactly: rounded) else { return call.fail("integer overflow") }
                call.answer(number)
            default: call.answer(argument: 0)
            }
        }
        connection.register("pg_bool_text", 1, .deterministic) { call in
            call.isNull(0) ? call.answerNull() : call.answer(call.integer(0) != 0 ? "true" : "false")
        }
    }

    /// What the view pg_cursors is made of.
    private static func registerCursors(on connection: Connection) {
        // The connection owns its functions and their callbacks, so a function must not own those; and it is called by that
        // connection's statements only.
        let cursors = { [unowned(unsafe) callbacks = connection.callbacks] in callbacks.sessionFacts?()?.cursors() ?? [:] }
        connection.register("pg_cursor_names", 0, .volatile) { $0.answer(CatalogArrays.json(cursors().keys.sorted())) }
        connection.register("pg_cursor_statement", 1, .volatile) { $0.answer(cursors()[$0.text(0)]?.statement) }
        connection.register("pg_cursor_is_binary", 1, .volatile) { $0.answer(cursors()[$0.text(0)]?.isBinary ?? false) }
    }

    /// Of what there is none, or the same for all.
    private static func registerConstants(on connection: Connection) {
        let visible: [StaticString] = [
            "pg_table_is_visible", "pg_type_is_visible", "pg_function_is_visible", "pg_collation_is_visible",
            "pg_opclass_is_visible", "pg_opfamily_is_visible", "pg_operator_is_visible", "pg_ts_config_is_visible",
            "pg_ts_dict_is_visible", "pg_ts_parser_is_visible", "pg_ts_template_is_visible", "pg_conversion_is_visible",
            "pg_statistics_obj_is_visible", "has_table_privilege", "has_database_privilege", "has_schema_privilege",
            "has_column_privilege", "has_any_column_privilege", "has_function_privilege", "has_sequence_privilege",
            "has_type_privilege", "has_language_privilege", "pg_has_role",
        ]
        for name in visible {
            connection.register(name, -1, .deterministic) { $0.hasNull ? $0.answerNull() : $0.answer(true) }
        }
        let nothing: [StaticString] = [
            "obj_description", "col_description", "shobj_description",
            "pg_get_statisticsobjdef_columns", "pg_get_statisticsobjdef", "pg_get_partkeydef", "pg_tablespace_location",
            "pg_get_function_result", "pg_get_function_arguments", "pg_get_function_identity_arguments",
            "pg_get_functiondef", "pg_get_function_sqlbody", "pg_options_to_table", "pg_partition_ancestors",
            "pg_partition_root", "pg_partition_tree", "pg_stat_get_numscans",
        ]
        for name in nothing { connection.register(name, -1, .deterministic) { $0.answerNull() } }
        for name: StaticString in ["pg_relation_is_publishable", "pg_is_in_recovery", "pg_relation_is_updatable"] {
            connection.register(name, -1, .deterministic) { $0.answer(false) }
        }
        // SQLite counts a file's pages and not a table's.
        for name: StaticString in [
            "pg_table_size", "pg_relation_size", "pg_total_relation_size", "pg_database_size", "pg_indexes_size",
            "pg_tablespace_size",
        ] {
            connection.register(name, -1, .deterministic) { $0.answerNull() }
        }
        connection.register("pg_size_pretty", 1, .deterministic) { call in
            call.isNull(0) ? call.answerNull() : call.answer("\(call.integer(0)) bytes")
        }
        connection.register("pg_encoding_to_char", 1, .deterministic) { $0.answer($0.integer(0) == 6 ? "UTF8" : "") }
        connection.register("pg_char_to_encoding", 1, .deterministic) { $0.answer(Int64($0.text(0) == "UTF8" ? 6 : -1)) }
        // As in PostgreSQL for whoever has no temporary tables. https://www.postgresql.org/docs/current/functions-info.html
        connection.register("pg_my_temp_schema", 0, .deterministic) { $0.answer(Int64(0)) }
        connection.register("getdatabaseencoding", 0, .deterministic) { $0.answer("UTF8") }
        connection.register("current_schemas", 1, .deterministic) { call in
            call.answer(call.integer(0) != 0 ? "[\"pg_catalog\",\"main\"]" : "[\"main\"]")
        }
        connection.register("pg_bool", 1, .deterministic) { call in
            guard call.storageClass(0) == .text else { return call.answer(argument: 0) }
            guard let value = TextCodec.parseBool(call.bytes(0)) else {
                return call.fail("invalid input syntax for type boolean: \"\(call.text(0).prefix(SessionLimits.quotedCharacters))\"")
            }
            call.answer(value)
        }
        connection.register(aggregate: "bool_and", 1, EveryAggregate.self)
        connection.register(aggregate: "every", 1, EveryAggregate.self)
        connection.register(aggregate: "bool_or", 1, AnyAggregate.self)
    }
}
