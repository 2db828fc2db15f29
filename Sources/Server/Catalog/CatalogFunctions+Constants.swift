import PostgresWire
import SQLite

/// Functions of what there is none of, or the same for all.
extension CatalogFunctions {
    /// Of what there is none, or the same for all.
    static func registerConstants(on connection: Connection) {
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
