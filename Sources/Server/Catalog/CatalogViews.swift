/// Views over the catalogs: PostgreSQL's own, and the SQL standard's information schema, as far as tools read them.
/// https://www.postgresql.org/docs/15/information-schema.html
enum CatalogViews {
    static let names = ["pg_tables", "pg_views", "pg_indexes"] + CatalogStatistics.names

    /// The types of columns that SQLite knows none of, because they are calculated: where PostgreSQL's are no texts.
    /// https://www.postgresql.org/docs/15/infoschema-datatypes.html
    static let columnTypes = [
        "ordinal_position": "int4", "position_in_unique_constraint": "int4", "character_maximum_length": "int4",
        "character_octet_length": "int4", "numeric_precision": "int4", "numeric_precision_radix": "int4", "numeric_scale": "int4",
        "datetime_precision": "int4", "hasrules": "bool", "hastriggers": "bool", "rowsecurity": "bool",
    ].merging(CatalogStatistics.columnTypes) { first, _ in first }

    static let sql =
        CatalogStatistics.views + """
            CREATE VIEW pg_roles AS SELECT current_user() AS rolname, 0 AS rolsuper, 1 AS rolinherit, 0 AS rolcreaterole,
                0 AS rolcreatedb, 1 AS rolcanlogin, 0 AS rolreplication, -1 AS rolconnlimit, '********' AS rolpassword,
                NULL AS rolvaliduntil, 0 AS rolbypassrls, NULL AS rolconfig, 10 AS oid;
            CREATE VIEW pg_user AS SELECT rolname AS usename, oid AS usesysid, rolcreatedb AS usecreatedb,
                rolsuper AS usesuper, rolreplication AS userepl, rolbypassrls AS usebypassrls, rolpassword AS passwd,
                NULL AS valuntil, NULL AS useconfig FROM pg_roles;
            CREATE VIEW pg_database AS SELECT 5 AS oid, current_database() AS datname, 10 AS datdba, 6 AS encoding,
                'c' AS datlocprovider, 0 AS datistemplate, 1 AS datallowconn, -1 AS datconnlimit, 0 AS datfrozenxid,
                1 AS datminmxid, 1663 AS dattablespace, 'C' AS datcollate, 'C' AS datctype, NULL AS daticulocale,
                NULL AS datcollversion, NULL AS datacl;
            CREATE VIEW pg_cursors AS SELECT CAST(value AS TEXT) AS name, pg_cursor_statement(value) AS statement,
                pg_cursor_is_holdable(value) AS is_holdable, pg_cursor_is_binary(value) AS is_binary, 0 AS is_scrollable,
                NULL AS creation_time
                FROM json_each(pg_cursor_names());
            CREATE VIEW pg_tables AS SELECT n.nspname AS schemaname, c.relname AS tablename, current_user() AS tableowner,
                NULL AS tablespace, c.relhasindex AS hasindexes, c.relhasrules AS hasrules, c.relhastriggers AS hastriggers,
                c.relrowsecurity AS rowsecurity
                FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'r';
            CREATE VIEW pg_views AS SELECT n.nspname AS schemaname, c.relname AS viewname, current_user() AS viewowner,
                pg_get_viewdef(c.oid) AS definition
                FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'v';
            CREATE VIEW pg_indexes AS SELECT n.nspname AS schemaname, c.relname AS tablename, i.relname AS indexname,
                NULL AS tablespace, pg_get_indexdef(i.oid) AS indexdef
                FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
                JOIN pg_namespace n ON n.oid = c.relnamespace;
            CREATE VIEW "information_schema.schemata" AS SELECT current_database() AS catalog_name, nspname AS schema_name,
                current_user() AS schema_owner FROM pg_namespace;
            CREATE VIEW "information_schema.tables" AS SELECT current_database() AS table_catalog,
                n.nspname AS table_schema, c.relname AS table_name,
                CASE c.relkind WHEN 'v' THEN 'VIEW' ELSE 'BASE TABLE' END AS table_type, NULL AS self_referencing_column_name,
                NULL AS reference_generation, NULL AS user_defined_type_catalog, NULL AS user_defined_type_schema,
                NULL AS user_defined_type_name, CASE c.relkind WHEN 'v' THEN 'NO' ELSE 'YES' END AS is_insertable_into,
                'NO' AS is_typed, NULL AS commit_action
                FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'v');
            CREATE VIEW "information_schema.views" AS SELECT current_database() AS table_catalog, n.nspname AS table_schema,
                c.relname AS table_name, pg_get_viewdef(c.oid) AS view_definition, 'NONE' AS check_option,
                'NO' AS is_updatable, 'NO' AS is_insertable_into, 'NO' AS is_trigger_updatable,
                'NO' AS is_trigger_deletable, 'NO' AS is_trigger_insertable_into
                FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'v';
            CREATE VIEW "information_schema.columns" AS SELECT current_database() AS table_catalog,
                n.nspname AS table_schema, c.relname AS table_name, a.attname AS column_name, a.attnum AS ordinal_position,
                CASE a.attgenerated WHEN '' THEN d.adbin END AS column_default,
                CASE WHEN a.attnotnull THEN 'NO' ELSE 'YES' END AS is_nullable,
                format_type(a.atttypid, NULL) AS data_type,
                CASE WHEN a.atttypid IN (1042, 1043) AND a.atttypmod > 4 THEN a.atttypmod - 4 END AS character_maximum_length,
                NULL AS character_octet_length,
                CASE WHEN a.atttypid = 1700 AND a.atttypmod > 4 THEN (a.atttypmod - 4) >> 16
                    WHEN a.atttypid = 20 THEN 64 WHEN a.atttypid = 701 THEN 53 END AS numeric_precision,
                CASE WHEN a.atttypid IN (20, 701) THEN 2 WHEN a.atttypid = 1700 THEN 10 END AS numeric_precision_radix,
                CASE WHEN a.atttypid = 1700 AND a.atttypmod > 4 THEN (a.atttypmod - 4) & 65535
                    WHEN a.atttypid = 20 THEN 0 END AS numeric_scale,
                NULL AS datetime_precision, NULL AS interval_type, NULL AS character_set_name, NULL AS collation_name,
                NULL AS domain_catalog, NULL AS domain_schema, NULL AS domain_name, current_database() AS udt_catalog,
                'pg_catalog' AS udt_schema, t.typname AS udt_name, CAST(a.attnum AS TEXT) AS dtd_identifier,
                'NO' AS is_self_referencing, CASE a.attidentity WHEN '' THEN 'NO' ELSE 'YES' END AS is_identity,
                CASE a.attidentity WHEN '' THEN NULL ELSE 'BY DEFAULT' END AS identity_generation,
                CASE a.attidentity WHEN '' THEN NULL ELSE '1' END AS identity_start,
                CASE a.attidentity WHEN '' THEN NULL ELSE '1' END AS identity_increment,
                CASE a.attidentity WHEN '' THEN NULL ELSE '9223372036854775807' END AS identity_maximum,
                CASE a.attidentity WHEN '' THEN NULL ELSE '1' END AS identity_minimum, 'NO' AS identity_cycle,
                CASE a.attgenerated WHEN '' THEN 'NEVER' ELSE 'ALWAYS' END AS is_generated,
                CASE a.attgenerated WHEN '' THEN NULL ELSE d.adbin END AS generation_expression,
                CASE c.relkind WHEN 'v' THEN 'NO' ELSE 'YES' END AS is_updatable
                FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
                JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
                WHERE c.relkind IN ('r', 'v') AND a.attnum > 0;
            CREATE VIEW "information_schema.table_constraints" AS SELECT current_database() AS constraint_catalog,
                n.nspname AS constraint_schema, k.conname AS constraint_name, current_database() AS table_catalog,
                n.nspname AS table_schema, c.relname AS table_name,
                CASE k.contype WHEN 'p' THEN 'PRIMARY KEY' WHEN 'u' THEN 'UNIQUE' WHEN 'f' THEN 'FOREIGN KEY' ELSE 'CHECK' END
                AS constraint_type, CASE WHEN k.condeferrable THEN 'YES' ELSE 'NO' END AS is_deferrable,
                CASE WHEN k.condeferred THEN 'YES' ELSE 'NO' END AS initially_deferred, 'YES' AS enforced
                FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace;
            CREATE VIEW "information_schema.key_column_usage" AS SELECT current_database() AS constraint_catalog,
                n.nspname AS constraint_schema, k.conname AS constraint_name, current_database() AS table_catalog,
                n.nspname AS table_schema, c.relname AS table_name, a.attname AS column_name, e.key + 1 AS ordinal_position,
                CASE k.contype WHEN 'f' THEN pg_referred_position(k.oid, e.key) END AS position_in_unique_constraint
                FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
                JOIN json_each(pg_array(k.conkey)) e JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = e.value
                WHERE k.contype IN ('p', 'u', 'f');
            CREATE VIEW "information_schema.constraint_column_usage" AS SELECT current_database() AS table_catalog,
                n.nspname AS table_schema, c.relname AS table_name, a.attname AS column_name,
                current_database() AS constraint_catalog, n.nspname AS constraint_schema, k.conname AS constraint_name
                FROM pg_constraint k
                JOIN pg_class c ON c.oid = CASE k.contype WHEN 'f' THEN k.confrelid ELSE k.conrelid END
                JOIN pg_namespace n ON n.oid = c.relnamespace
                JOIN json_each(pg_array(CASE k.contype WHEN 'f' THEN k.confkey ELSE k.conkey END)) e
                JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = e.value;
            CREATE VIEW "information_schema.referential_constraints" AS SELECT current_database() AS constraint_catalog,
                n.nspname AS constraint_schema, k.conname AS constraint_name, current_database() AS unique_constraint_catalog,
                n.nspname AS unique_constraint_schema,
                (SELECT u.conname FROM pg_constraint u WHERE u.conindid = k.conindid AND u.contype IN ('p', 'u'))
                AS unique_constraint_name, 'NONE' AS match_option,
                pg_foreign_key_action(k.confupdtype) AS update_rule, pg_foreign_key_action(k.confdeltype) AS delete_rule
                FROM pg_constraint k JOIN pg_namespace n ON n.oid = k.connamespace WHERE k.contype = 'f';
            CREATE VIEW "information_schema.check_constraints" AS SELECT current_database() AS constraint_catalog,
                n.nspname AS constraint_schema, k.conname AS constraint_name, k.conbin AS check_clause
                FROM pg_constraint k JOIN pg_namespace n ON n.oid = k.connamespace WHERE k.contype = 'c';
            CREATE VIEW "information_schema.character_sets" AS SELECT NULL AS character_set_catalog, NULL AS character_set_schema,
                'UTF8' AS character_set_name, 'UCS' AS character_repertoire, 'UTF8' AS form_of_use,
                current_database() AS default_collate_catalog, 'pg_catalog' AS default_collate_schema, 'C' AS default_collate_name;
            CREATE VIEW "information_schema.routines" AS SELECT NULL AS specific_catalog, NULL AS specific_schema,
                NULL AS specific_name, NULL AS routine_catalog, NULL AS routine_schema, NULL AS routine_name,
                NULL AS routine_type, NULL AS data_type WHERE 0;
            CREATE VIEW "information_schema.sequences" AS SELECT NULL AS sequence_catalog, NULL AS sequence_schema,
                NULL AS sequence_name, NULL AS data_type, NULL AS numeric_precision, NULL AS numeric_precision_radix,
                NULL AS numeric_scale, NULL AS start_value, NULL AS minimum_value, NULL AS maximum_value, NULL AS increment,
                NULL AS cycle_option WHERE 0;
            CREATE VIEW "information_schema.triggers" AS SELECT current_database() AS trigger_catalog,
                n.nspname AS trigger_schema, t.tgname AS trigger_name, current_database() AS event_object_catalog,
                n.nspname AS event_object_schema, c.relname AS event_object_table, pg_get_triggerdef(t.oid) AS action_statement
                FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace;
            """
}
