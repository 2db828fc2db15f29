"""What ORMs and other tools ask the catalogs, in their own words."""

import contextlib
import sqlite3

import psycopg
import pytest

from test_catalog_types import ask, connection  # noqa: F401 (a fixture)

# Npgsql: what it sends on each connection, in one message (src/Npgsql/PostgresDatabaseInfo.cs).

TYPES_OF_NPGSQL = """
SELECT ns.nspname, t.oid, t.typname, t.typtype, t.typnotnull, t.elemtypoid
FROM (
    -- Arrays have typtype=b - this subquery identifies them by their typreceive and converts their typtype to a
    SELECT
        typ.oid, typ.typnamespace, typ.typname, typ.typtype, typ.typrelid, typ.typnotnull, typ.relkind,
        elemtyp.oid AS elemtypoid, elemtyp.typname AS elemtypname, elemcls.relkind AS elemrelkind,
        CASE WHEN elemproc.proname='array_recv' THEN 'a' ELSE elemtyp.typtype END AS elemtyptype
    FROM (
        SELECT typ.oid, typnamespace, typname, typrelid, typnotnull, relkind, typelem AS elemoid,
            CASE WHEN proc.proname='array_recv' THEN 'a' ELSE typ.typtype END AS typtype,
            CASE
                WHEN proc.proname='array_recv' THEN typ.typelem
                WHEN typ.typtype='r' THEN rngsubtype
                WHEN typ.typtype='m' THEN (SELECT rngtypid FROM pg_range WHERE rngmultitypid = typ.oid)
                WHEN typ.typtype='d' THEN typ.typbasetype
            END AS elemtypoid
        FROM pg_type AS typ
        LEFT JOIN pg_class AS cls ON (cls.oid = typ.typrelid)
        LEFT JOIN pg_proc AS proc ON proc.oid = typ.typreceive
        LEFT JOIN pg_range ON (pg_range.rngtypid = typ.oid)
    ) AS typ
    LEFT JOIN pg_type AS elemtyp ON elemtyp.oid = elemtypoid
    LEFT JOIN pg_class AS elemcls ON (elemcls.oid = elemtyp.typrelid)
    LEFT JOIN pg_proc AS elemproc ON elemproc.oid = elemtyp.typreceive
) AS t
JOIN pg_namespace AS ns ON (ns.oid = typnamespace)
WHERE
    (typtype IN ('b', 'r', 'm', 'e', 'd') OR -- Base, range, multirange, enum, domain
    (typtype = 'c' AND relkind='c') OR
    (typtype = 'p' AND typname IN ('record', 'void', 'unknown')) OR
    (typtype = 'a' AND (  -- Array of...
        elemtyptype IN ('b', 'r', 'm', 'e', 'd') OR
        (elemtyptype = 'p' AND elemtypname IN ('record', 'void')) OR
        (elemtyptype = 'c' AND elemrelkind='c')
    )))
ORDER BY CASE
       WHEN typtype IN ('b', 'e', 'p') THEN 0
       WHEN typtype = 'c' THEN 1
       WHEN typtype = 'r' THEN 2
       WHEN typtype = 'm' THEN 3
       WHEN typtype = 'd' AND elemtyptype <> 'a' THEN 4
       WHEN typtype = 'a' THEN 5
       WHEN typtype = 'd' AND elemtyptype = 'a' THEN 6
END;
"""

COMPOSITES_OF_NPGSQL = """
SELECT typ.oid, att.attname, att.atttypid
FROM pg_type AS typ JOIN pg_namespace AS ns ON (ns.oid = typ.typnamespace) JOIN pg_class AS cls ON (cls.oid = typ.typrelid)
JOIN pg_attribute AS att ON (att.attrelid = typ.typrelid)
WHERE (typ.typtype = 'c' AND cls.relkind='c') AND
  attnum > 0 AND     -- Don't load system attributes
  NOT attisdropped
ORDER BY typ.oid, att.attnum;
"""

ENUMS_OF_NPGSQL = [
    "SELECT pg_type.oid, enumlabel FROM pg_enum JOIN pg_type ON pg_type.oid=enumtypid ORDER BY oid, enumsortorder;",
    "SELECT typ.oid, enumlabel FROM pg_enum JOIN pg_type AS typ ON typ.oid = enumtypid JOIN pg_namespace AS ns ON ns.oid = typ.typnamespace\n"
    "ORDER BY oid, enumsortorder;",
]


@pytest.mark.parametrize("enums", ENUMS_OF_NPGSQL)
def test_npgsql_connects(library, enums):
    with library.client() as client:
        found = client.query("SELECT version();\n" + TYPES_OF_NPGSQL + COMPOSITES_OF_NPGSQL + enums).check()
        assert found.tags[0] == "SELECT 1" and found.tags[2:] == ["SELECT 0", "SELECT 0"]
        types = {row[2]: row for row in found.texts[1:]}
        assert types["int8"] == ("pg_catalog", "20", "int8", "b", "f", None)
        assert types["_int8"] == ("pg_catalog", "1016", "_int8", "a", "f", "20") and types["_text"][3:] == ("a", "f", "25")
        assert types["int2vector"][3:] == ("b", "f", None) and types["void"][3] == "p" and "cstring" not in types


def test_order_by_names_the_columns_that_are_given_out(connection):
    # Both tables have such a column. Each relation, whose namespace is 2200, is beside two types: ordered by relations these alternate.
    types = "t.oid IN (c.relnamespace - 2175, c.relnamespace - 2180)"
    found = ask(connection, f"SELECT t.oid FROM pg_class c JOIN pg_type t ON {types} ORDER BY oid DESC")
    assert set(found) == {(25,), (20,)} and found == sorted(found, reverse=True)
    # An expression is about the columns that are given in, and so is GROUP BY.
    assert ask(connection, "SELECT -attnum AS attnum FROM pg_attribute WHERE attrelid = 'tag'::regclass ORDER BY attnum") == [(-2,), (-1,)]
    assert ask(connection, "SELECT a.attname, count(*) FROM pg_attribute a WHERE attrelid = 'tag'::regclass GROUP BY attname ORDER BY attname DESC") == [
        ("word", 1), ("book_id", 1)]


# Prisma: `prisma db pull`.

COLUMNS_OF_PRISMA = """
    SELECT oid.namespace, info.table_name, info.column_name, format_type(att.atttypid, att.atttypmod) as formatted_type,
        info.numeric_precision, info.numeric_scale, info.numeric_precision_radix, info.datetime_precision, info.data_type,
        info.udt_schema as type_schema_name, info.udt_name as full_data_type, pg_get_expr(attdef.adbin, attdef.adrelid) AS column_default,
        info.is_nullable, info.is_identity, info.character_maximum_length, col_description(att.attrelid, ordinal_position) AS description
    FROM information_schema.columns info
    JOIN pg_attribute att ON att.attname = info.column_name
    JOIN (
        SELECT pg_class.oid, relname, pg_namespace.nspname as namespace
        FROM pg_class JOIN pg_namespace on pg_namespace.oid = pg_class.relnamespace AND pg_namespace.nspname = ANY ( %s )
        WHERE reltype > 0
    ) as oid on oid.oid = att.attrelid AND relname = info.table_name AND namespace = info.table_schema
    LEFT OUTER JOIN pg_attrdef attdef ON attdef.adrelid = att.attrelid AND attdef.adnum = att.attnum AND table_schema = namespace
    WHERE table_schema = ANY ( %s ) AND att.attnum > 0
    ORDER BY namespace, table_name, ordinal_position"""


def test_columns_of_prisma(connection):
    found = ask(connection, COLUMNS_OF_PRISMA, ["main"], ["main"])
    assert [row[:4] for row in found if row[1] == "tag"] == [("main", "tag", "book_id", "bigint"), ("main", "tag", "word", "text")]
    assert {row[1] for row in found} == {"author", "book", "tag", "Odd Name", "cheap"}


def test_row_types(connection):
    rows = "SELECT c.relname FROM pg_class c JOIN pg_type t ON t.oid = c.reltype AND t.typrelid = c.oid WHERE c.relnamespace = 2200 ORDER BY 1"
    assert ask(connection, rows) == [("Odd Name",), ("author",), ("book",), ("cheap",), ("tag",)]
    assert ask(connection, "SELECT DISTINCT reltype FROM pg_class WHERE relkind = 'i'") == [(0,)]


def test_checks_of_rails(daemon):
    """ActiveRecord 6.1 finds the condition by PostgreSQL's two pairs of parentheses, 7.1 asks for the pretty form, which has one."""
    with daemon.client() as client:
        client.query("CREATE TABLE rails (k INTEGER CONSTRAINT pos CHECK (k > 0), CONSTRAINT f FOREIGN KEY (k) REFERENCES rails (k))").check()
        found = client.query(
            "SELECT conname, pg_get_constraintdef(c.oid), pg_get_constraintdef(c.oid, false), pg_get_constraintdef(c.oid, true) AS valid"
            " FROM pg_constraint c JOIN pg_class t ON c.conrelid = t.oid WHERE t.relname = 'rails' ORDER BY conname").texts
        key = "FOREIGN KEY (k) REFERENCES rails(k)"
        assert found == [("f", key, key, key), ("pos", "CHECK ((k > 0))", "CHECK ((k > 0))", "CHECK (k > 0)")]


def test_keys_that_are_referred_to_in_another_order(daemon):
    """SQLAlchemy's automap and others join key_column_usage to itself by the position in the other key."""
    with daemon.client() as client:
        client.query("CREATE TABLE twice (x INTEGER, y INTEGER, z INTEGER UNIQUE, PRIMARY KEY (y, x))").check()
        client.query(
            "CREATE TABLE refers (a INTEGER, b INTEGER, c INTEGER, d INTEGER, CONSTRAINT both FOREIGN KEY (a, b) REFERENCES twice (x, y),"
            " CONSTRAINT lone FOREIGN KEY (c) REFERENCES twice (z), CONSTRAINT lost FOREIGN KEY (d) REFERENCES nosuch (d),"
            " CONSTRAINT lost FOREIGN KEY (d) REFERENCES twice (nosuch), CONSTRAINT lost FOREIGN KEY (d) REFERENCES twice,"
            " CONSTRAINT lost FOREIGN KEY (d) REFERENCES keyless)").check()
        client.query("CREATE TABLE keyless (a INTEGER)").check()
        names = "SELECT constraint_name, unique_constraint_name FROM information_schema.referential_constraints WHERE constraint_name IN ('both', 'lone', 'lost') ORDER BY 1"
        assert client.query(names).texts == [("both", "twice_pkey"), ("lone", "twice_z_key")]
        positions = (
            "SELECT constraint_name, column_name, ordinal_position, position_in_unique_constraint FROM information_schema.key_column_usage"
            " WHERE table_name = 'refers' ORDER BY constraint_name, ordinal_position")
        assert client.query(positions).texts == [("both", "a", "1", "2"), ("both", "b", "2", "1"), ("lone", "c", "1", "1")]
        # Tools take the other table for granted, and PostgreSQL has no key without one.
        assert client.value("SELECT count(*) FROM pg_constraint c LEFT JOIN pg_class r ON r.oid = c.confrelid WHERE contype = 'f' AND r.oid IS NULL") == "0"


def test_names_beyond_ascii(daemon):
    """SQLite folds the letters of ASCII only."""
    with daemon.client() as client:
        client.query('CREATE TABLE "é" ("É" INTEGER, "é" INTEGER UNIQUE, g INTEGER AS ("é" + 1), "È" INTEGER AS (0))').check()
        client.query('CREATE TABLE "É" (x INTEGER REFERENCES "é" ("é"))').check()
        keys = (
            "SELECT r.relname, contype, conkey, f.relname, confkey FROM pg_constraint JOIN pg_class r ON r.oid = conrelid"
            " LEFT JOIN pg_class f ON f.oid = confrelid WHERE r.relname IN ('é', 'É') ORDER BY 1")
        assert client.query(keys).texts == [("É", "f", "{1}", "é", "{2}"), ("é", "u", "{2}", None, None)]
        triggers = "SELECT relname, relhastriggers FROM pg_class WHERE relname IN ('é', 'É') ORDER BY 1"
        client.query('CREATE TRIGGER beyond AFTER DELETE ON "é" BEGIN SELECT 1; END').check()
        assert client.query(triggers).texts == [("É", "t"), ("é", "t")]
        client.query('DROP TABLE "É"; CREATE TABLE "É" (x INTEGER)').check()
        assert client.query(triggers).texts == [("É", "f"), ("é", "t")]


# TypeORM: its columns of a table.
COLUMNS_OF_TYPEORM = """
    SELECT columns.*, pg_catalog.col_description(('"' || table_catalog || '"."' || table_schema || '"."' || table_name || '"')::regclass::oid,
        ordinal_position) AS description, ('"' || "udt_schema" || '"."' || "udt_name" || '"')::"regtype" AS "regtype",
        pg_catalog.format_type("col_attr"."atttypid", "col_attr"."atttypmod") AS "format_type"
    FROM "information_schema"."columns"
    LEFT JOIN "pg_catalog"."pg_attribute" AS "col_attr" ON "col_attr"."attname" = "columns"."column_name" AND "col_attr"."attrelid" = (
        SELECT "cls"."oid" FROM "pg_catalog"."pg_class" AS "cls" LEFT JOIN "pg_catalog"."pg_namespace" AS "ns" ON "ns"."oid" = "cls"."relnamespace"
        WHERE "cls"."relname" = "columns"."table_name" AND "ns"."nspname" = "columns"."table_schema")
    WHERE ("table_schema" = 'main' AND "table_name" = 'tag')"""


def test_columns_of_typeorm(connection):
    rows = connection.cursor(row_factory=psycopg.rows.dict_row).execute(COLUMNS_OF_TYPEORM).fetchall()
    assert [(row["column_name"], row["ordinal_position"], row["format_type"], row["regtype"]) for row in rows] == [
        ("book_id", 1, "bigint", "bigint"), ("word", 2, "text", "text")]
    named = "SELECT information_schema.tables.table_name FROM information_schema.tables WHERE tables.table_type = 'VIEW'"
    assert ask(connection, named) == [("cheap",)]


# Postgrex, Ecto's driver: what it chooses its codecs by.
TYPES_OF_POSTGREX = """
    SELECT t.oid, t.typname, t.typsend, t.typreceive, t.typoutput, t.typinput, coalesce(d.typelem, t.typelem), coalesce(r.rngsubtype, 0), ARRAY (
      SELECT a.atttypid FROM pg_attribute AS a WHERE a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum)
    FROM pg_type AS t LEFT JOIN pg_type AS d ON t.typbasetype = d.oid
    LEFT JOIN pg_range AS r ON r.rngtypid = t.oid OR r.rngmultitypid = t.oid OR (t.typbasetype <> 0 AND r.rngtypid = t.typbasetype)
    WHERE (t.typrelid = 0) AND (t.typelem = 0 OR NOT EXISTS (SELECT 1 FROM pg_catalog.pg_type s WHERE s.typrelid != 0 AND s.oid = t.typelem))"""


def test_types_of_postgrex(connection):
    types = {row[1]: row for row in ask(connection, TYPES_OF_POSTGREX)}
    assert types["int8"][2:8] == ("int8send", "int8recv", "int8out", "int8in", 0, 0)
    assert types["_text"][2:7] == ("array_send", "array_recv", "array_out", "array_in", 25)
    for name, stem in (("timestamptz", "timestamptz_"), ("numeric", "numeric_"), ("uuid", "uuid_"), ("jsonb", "jsonb_"), ("bpchar", "bpchar"),
                       ("money", "cash_"), ("oidvector", "oidvector"), ("void", "void_")):
        assert types[name][2:6] == (stem + "send", stem + "recv", stem + "out", stem + "in")
    assert types["any"][2:6] == ("-", "-", "any_out", "any_in")


FUNCTIONS_OF_TYPES = [
    # pgjdbc's and psycopg2's questions whether a type is an array.
    ("SELECT typinput = 'array_in'::regproc, typtype FROM pg_catalog.pg_type WHERE typname IN ('_int4', 'int4') ORDER BY 1", [(False, "b"), (True, "b")]),
    ("SELECT count(*) > 10 FROM pg_type t WHERE t.typreceive = 'pg_catalog.array_recv'::regproc AND 'array_send' = t.typsend", [(True,)]),
    ("SELECT t.typsend::oid = 'int8send'::regproc::oid, typsend::text, t.typsend::regproc, 'int8send'::regproc FROM pg_type t WHERE t.oid = 20",
     [(True, "int8send", "int8send", "int8send")]),
    ("SELECT typname FROM pg_type WHERE typreceive::oid = 0 OR typsend = 0", [("any",)]),
    ("SELECT p.proname FROM pg_proc p JOIN pg_type t ON t.typreceive = p.oid AND t.typname = '_bool'", [("array_recv",)]),
    # Ruby's pg, before it converts anything.
    ("SELECT t.typname, ti.proname, p.proname FROM pg_type t JOIN pg_proc ti ON ti.oid = t.typinput JOIN pg_proc p ON p.oid = t.typoutput"
     " WHERE t.typname IN ('bool', 'date', '_int4') ORDER BY 1",
     [("_int4", "array_in", "array_out"), ("bool", "boolin", "boolout"), ("date", "date_in", "date_out")]),
    ("SELECT pronargs, prorettype, proargtypes FROM pg_proc WHERE proname = 'int8recv'", [(1, 20, "2281")]),
    ("SELECT s.typsend FROM (SELECT typname, typsend FROM pg_type) s WHERE s.typname = 'date'", [("date_send",)]),
    ("SELECT typsend, 'x' || typsend FROM pg_type WHERE typname = 'uuid'", [("uuid_send", "xuuid_send")]),
]


@pytest.mark.parametrize("sql, expected", FUNCTIONS_OF_TYPES)
def test_functions_of_types(connection, sql, expected):
    assert ask(connection, sql) == expected


def test_functions_that_are_not_there(connection):
    with pytest.raises(psycopg.Error, match='function "abs" does not exist'):
        ask(connection, "SELECT 'abs'::pg_catalog.regproc::pg_catalog.oid")


def test_generated_columns(daemon):
    """SQLAlchemy and psql take the expression from pg_attrdef; ActiveRecord and others from the information schema."""
    with daemon.client() as client:
        client.query(
            "CREATE TABLE gen (a INTEGER DEFAULT 1, b INTEGER GENERATED ALWAYS AS (a * 2) STORED, \"C d\" TEXT AS (a || ')' || \"b\"), e REAL CHECK (e > 0))").check()
        asked = (
            "SELECT attname, attgenerated, atthasdef, pg_get_expr(adbin, adrelid), attlen, attbyval FROM pg_attribute"
            " LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum WHERE attrelid = 'gen'::regclass ORDER BY attnum")
        assert client.query(asked).texts == [
            ("a", "", "t", "1", "8", "t"), ("b", "s", "t", "a * 2", "8", "t"), ("C d", "s", "t", "a || ')' || \"b\"", "-1", "f"),
            ("e", "", "f", None, "8", "t")]
        columns = "SELECT column_name, column_default, is_generated, generation_expression FROM information_schema.columns WHERE table_name = 'gen' ORDER BY ordinal_position"
        assert client.query(columns).texts == [
            ("a", "1", "NEVER", None), ("b", None, "ALWAYS", "a * 2"), ("C d", None, "ALWAYS", "a || ')' || \"b\""), ("e", None, "NEVER", None)]


# What tools ask for besides; each failed by the one name.

BESIDES = [
    # Sequelize's describeTable(), Metabase's tables, drizzle-kit, DBeaver's indexes.
    ("SELECT c.column_name, (SELECT pgd.description FROM pg_catalog.pg_statio_all_tables AS st INNER JOIN pg_catalog.pg_description pgd ON (pgd.objoid=st.relid)"
     " WHERE c.ordinal_position=pgd.objsubid AND c.table_name=st.relname) AS \"Comment\" FROM information_schema.columns c WHERE c.table_name = 'tag'",
     [("book_id", None), ("word", None)]),
    ("SELECT c.relname, NULLIF(stat.n_live_tup, 0) FROM pg_class c JOIN pg_namespace n ON c.relnamespace = n.oid LEFT JOIN pg_stat_user_tables AS stat"
     " ON (n.nspname = stat.schemaname) AND (c.relname = stat.relname) WHERE c.relname = 'tag' AND stat.relid = c.oid", [("tag", None)]),
    ("SELECT indexrelname, idx_scan FROM pg_stat_user_indexes WHERE relname = 'tag'", [("tag_key", None)]),
    ("SELECT * FROM pg_policies", []),
    ("SELECT pg_stat_get_numscans(i.indexrelid) FROM pg_index i WHERE i.indrelid = 'tag'::regclass", [(None,)]),
    ("SELECT character_set_name FROM information_schema.character_sets", [("UTF8",)]),
    # Npgsql's GetSchemaTable(), pgAdmin.
    ("SELECT relname, pg_column_is_updatable(oid::regclass, 1, false) FROM pg_class WHERE relname IN ('tag', 'cheap') ORDER BY 1", [("cheap", False), ("tag", True)]),
    ("SELECT rolname, 'pg_signal_backend' = ANY (ARRAY(WITH RECURSIVE cte AS (SELECT pg_roles.oid, pg_roles.rolname FROM pg_roles WHERE pg_roles.oid = roles.oid"
     " UNION ALL SELECT m.roleid, pgr.rolname FROM cte cte_1 JOIN pg_auth_members m ON m.member = cte_1.oid JOIN pg_roles pgr ON pgr.oid = m.roleid)"
     " SELECT rolname FROM cte)) FROM pg_catalog.pg_roles AS roles", [("reader", False)]),
    ("SELECT gss_authenticated, encrypted FROM pg_catalog.pg_stat_gssapi WHERE pid = pg_backend_pid()", []),
    # ADBC's AdbcConnectionGetObjects().
    ("SELECT nspname FROM pg_catalog.pg_namespace WHERE (nspname !~ '^pg_' OR oid = pg_my_temp_schema()) AND nspname != 'information_schema'", [("main",)]),
    # Doctrine's listSequences().
    ("SELECT sequence_name AS relname, sequence_schema AS schemaname, minimum_value AS min_value, increment AS increment_by FROM information_schema.sequences"
     " WHERE sequence_catalog = 'shared' AND sequence_schema NOT LIKE 'pg\\_%' AND sequence_schema != 'information_schema'", []),
    ("SELECT numeric_precision, numeric_precision_radix, numeric_scale, start_value, maximum_value, cycle_option FROM information_schema.sequences", []),
    ("SELECT current_setting('max_index_keys'), current_setting(s.name) = s.setting FROM pg_settings s WHERE name = 'block_size'", [("32", True)]),
]


@pytest.mark.parametrize("sql, expected", BESIDES)
def test_what_tools_ask_besides(connection, sql, expected):
    assert ask(connection, sql) == expected


def test_the_schema_that_is_searched(connection):
    """Doctrine names the tables of the first schema of search_path that exists without it, and all others with theirs."""
    path = [name.strip().strip('"') for name in ask(connection, "SHOW search_path")[0][0].split(",")]
    schemas = {name for name, in ask(connection, "SELECT nspname FROM pg_namespace")}
    assert [name for name in path if name in schemas] == [ask(connection, "SELECT current_schema()")[0][0]] == ["main"]
    connection.execute("SET search_path = public")
    assert ask(connection, "SHOW search_path") == [("public",)]
    connection.execute("RESET search_path")
    assert ask(connection, "SHOW search_path") == [('"$user", main',)]


def test_a_damaged_virtual_table_leaves_the_catalogs(start_daemon):
    """Its columns cannot be had. Drivers that look for types when they connect would not get anywhere."""
    daemon = start_daemon()
    daemon.run("CREATE TABLE t (a)", "CREATE VIRTUAL TABLE f USING fts5 (x)")
    daemon.stop()
    with contextlib.closing(sqlite3.connect(daemon.database)) as connection:
        connection.execute("DELETE FROM f_data")
        connection.commit()
    daemon.restart()
    assert daemon.value("SELECT relname FROM pg_class WHERE relname = 't'") == "t"
    assert daemon.value("SELECT typname FROM pg_type WHERE oid = 25") == "text"
