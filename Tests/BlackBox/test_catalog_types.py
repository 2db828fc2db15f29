"""What questions to the catalogs compare, calculate and are answered with, as PostgreSQL 15 does (asked there)."""

import asyncio
import datetime
import decimal
import uuid

import asyncpg
import psycopg
import pytest


@pytest.fixture(scope="module")
def connection(library):
    with psycopg.connect(host=str(library.directory), dbname=library.name, user="reader", autocommit=True) as connection:
        yield connection


def ask(connection, sql, *values):
    return connection.execute(sql, values or None).fetchall()


def types(connection, sql):
    return [psycopg.adapters.types[column.type_code].name for column in connection.execute(sql).description]


# Literals beside booleans and beside OIDs with names.

# ActiveRecord's indexes().
INDEXES_OF_RAILS = """
    SELECT distinct i.relname, d.indisunique, d.indkey, pg_get_indexdef(d.indexrelid), t.oid,
        pg_catalog.obj_description(i.oid, 'pg_class') AS comment
    FROM pg_class t INNER JOIN pg_index d ON t.oid = d.indrelid INNER JOIN pg_class i ON d.indexrelid = i.oid
    LEFT JOIN pg_namespace n ON n.oid = t.relnamespace
    WHERE i.relkind IN ('i', 'I') AND d.indisprimary = 'f' AND t.relname = 'book' AND n.nspname = ANY (current_schemas(false))
    ORDER BY i.relname"""

# Sequel's primary_key().
PRIMARY_KEY_OF_SEQUEL = """
    SELECT pg_attribute.attname AS pk FROM pg_class, pg_attribute, pg_index, pg_namespace
    WHERE pg_class.oid = pg_attribute.attrelid AND pg_class.relnamespace = pg_namespace.oid AND pg_class.oid = pg_index.indrelid
        AND pg_index.indkey[0] = pg_attribute.attnum AND pg_index.indisprimary = 't'
        AND pg_class.oid = CAST(CAST('"author"' AS regclass) AS oid)"""


def test_booleans_written_as_texts(connection):
    assert [row[0] for row in ask(connection, INDEXES_OF_RAILS)] == ["book_expr", "book_isbn_key", "book_title"]
    assert ask(connection, PRIMARY_KEY_OF_SEQUEL) == [("id",)]
    conditions = {
        "indisprimary = 't'": 1, "indisprimary <> 't'": 3, "'false' = indisprimary": 3, "i.indisprimary IN ('yes', 'on')": 1,
        "indisprimary NOT IN ('t')": 3, "indisprimary IS DISTINCT FROM 'f'": 1, "(indisprimary = 'f') = 't'": 3,
        "CASE i.indisprimary WHEN 'f' THEN 1 ELSE 0 END = 1": 3,
    }
    for condition, count in conditions.items():
        found = ask(connection, f"SELECT count(*) FROM pg_index i WHERE indrelid = 'book'::regclass AND {condition}")
        assert found == [(count,)], condition
    for value in ("t", True):
        assert ask(connection, "SELECT count(*) FROM pg_index WHERE indrelid = %s::regclass AND indisprimary = %s", "book", value) == [(1,)]
    assert ask(connection, "SELECT p FROM (SELECT indisprimary AS p FROM pg_index WHERE indrelid = 'book'::regclass) x WHERE p = 't'") == [(True,)]
    with pytest.raises(psycopg.errors.InvalidTextRepresentation):
        ask(connection, "SELECT 1 FROM pg_index WHERE indisprimary = 'maybe'")


OIDS = [
    ("SELECT relname FROM pg_class WHERE oid = ('bo' || 'ok')::regclass", [("book",)]),
    ("SELECT count(*) FROM pg_class c WHERE c.oid = c.relname::regclass AND c.relname IN ('book', 'tag')", [(2,)]),
    ("SELECT relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
     " WHERE c.oid = (quote_ident(n.nspname) || '.' || quote_ident(c.relname))::regclass AND c.relname LIKE 'Odd%'", [("Odd Name",)]),
    ("SELECT relname::regclass FROM pg_class WHERE relname = 'tag'", [("tag",)]),
    ("SELECT count(*) FROM pg_attribute WHERE attrelid = 'tag'::text::regclass AND attnum > 0", [(2,)]),
    ("SELECT count(*) FROM pg_index WHERE indrelid::regclass = 'tag'::regclass", [(1,)]),
    ("SELECT count(*) FROM pg_index WHERE indrelid::regclass = 'tag'", [(1,)]),
    ("SELECT count(*) FROM pg_index WHERE indrelid::regclass::text = 'tag'", [(1,)]),
    ("SELECT count(*) FROM pg_index WHERE indrelid::regclass IN ('tag', 'author')", [(3,)]),
    ("SELECT t FROM (SELECT indrelid::regclass AS t FROM pg_index) x WHERE t = 'tag'::regclass", [("tag",)]),
    ("SELECT relname FROM pg_class c JOIN (SELECT indrelid::regclass AS t FROM pg_index) x ON x.t = c.oid WHERE relname = 'tag'", [("tag",)]),
    ("SELECT count(*) FROM pg_class WHERE oid IN (SELECT indrelid::regclass FROM pg_index)", [(3,)]),
    ("SELECT count(*) FROM pg_class WHERE oid = ANY (ARRAY(SELECT indrelid::regclass FROM pg_index))", [(3,)]),
    ("SELECT seqtypid::regtype FROM pg_sequence WHERE seqrelid = pg_get_serial_sequence('book', 'id')::regclass", [("bigint",)]),
    ("SELECT DISTINCT atttypid::regtype = 'int8', atttypid::regtype = 'bigint'::regtype FROM pg_attribute WHERE attname = 'id'", [(True, True)]),
    ("SELECT 'tag'::regclass, to_regclass('main.tag'), to_regclass('nosuch'), 'pg_class'::regclass, 0::regclass", [("tag", "tag", None, "pg_class", "-")]),
    ("SELECT 'tag'::regclass || '.x', 'x' || 'tag'::regclass", [("tag.x", "xtag")]),
    ("SELECT array_agg(oid::regclass ORDER BY relname DESC) FROM pg_class WHERE relname IN ('book', 'tag')", [(["tag", "book"],)]),
    ("SELECT c.tableoid::regclass, tableoid = 'pg_class'::regclass FROM pg_class c WHERE relname = 'tag'", [("pg_class", True)]),
    ("SELECT count(*) FROM pg_class c LEFT JOIN pg_description d ON d.objoid = c.oid AND d.classoid = c.tableoid WHERE relname = 'tag'", [(1,)]),
    ("SELECT to_regclass('public.tag'), to_regclass('main.tag') IS NULL", [(None, False)]),
]


@pytest.mark.parametrize("sql, expected", OIDS)
def test_relations_by_name(connection, sql, expected):
    assert ask(connection, sql) == expected


OWN_NAMES = [
    ("SELECT column_name, CASE WHEN is_nullable = 'YES' THEN true ELSE false END AS is_nullable FROM information_schema.columns"
     " WHERE table_name = 'author' ORDER BY ordinal_position", [("id", False), ("name", False), ("born", True)]),
    ("SELECT column_name, is_nullable = 'YES' AS is_nullable FROM information_schema.columns WHERE is_nullable = 'YES' AND table_name = 'author'",
     [("born", True)]),
    ("SELECT column_name, CASE is_nullable WHEN 'YES' THEN true ELSE false END AS is_nullable FROM information_schema.columns"
     " WHERE table_name = 'author' AND ordinal_position > 1 ORDER BY ordinal_position", [("name", False), ("born", True)]),
    ("SELECT relkind = 'r' AS relkind FROM pg_class WHERE relkind = 'r' AND relname = 'tag'", [(True,)]),
    ("SELECT oid::regclass AS relname FROM pg_class WHERE relname <> 'zzz' AND relname = 'tag'", [("tag",)]),
    ("SELECT c.relkind = 'r', x.relkind = 't' FROM pg_class c JOIN (SELECT oid, relkind = 'r' AS relkind FROM pg_class) x ON x.oid = c.oid"
     " AND x.relkind = 't' WHERE c.relname = 'tag'", [(True, True)]),
    ("SELECT c.x, c.is_nullable FROM (SELECT c.relkind = 'r' AS x, true AS is_nullable FROM pg_class c WHERE relname = 'tag') c"
     " WHERE c.x = 't' AND c.is_nullable = 'yes'", [(True, True)]),
    ("SELECT c.is_nullable = 'NO' FROM information_schema.columns c, (SELECT true AS is_nullable FROM pg_namespace LIMIT 1) x"
     " WHERE c.is_nullable <> 'YES' AND c.table_name = 'tag' AND x.is_nullable = 't' AND ordinal_position = 1", [(True,)]),
]


@pytest.mark.parametrize("sql, expected", OWN_NAMES)
def test_a_name_given_out_is_not_the_column_of_that_name(connection, sql, expected):
    """An alias is nobody's inside its own query: is_nullable = 'YES' AS is_nullable was false for all columns."""
    assert ask(connection, sql) == expected


def test_relations_that_are_not_there(connection):
    for sql in ("SELECT 'nosuch'::regclass", "SELECT oid FROM pg_class WHERE oid = 'public.tag'::regclass"):
        with pytest.raises(psycopg.errors.UndefinedTable):
            ask(connection, sql)
    with pytest.raises(psycopg.errors.UndefinedTable) as caught:
        ask(connection, "SELECT * FROM public.tag")
    assert "schema main" in caught.value.diag.message_hint


# Values and their types.

VALUES = [
    ("SELECT (2.5)::int, (-2.5)::int, '12'::int, CAST(2.4 AS integer), avg(attnum)::int FROM pg_attribute WHERE attrelid = 'tag'::regclass",
     [(3, -3, 12, 2, 2)]),
    ("SELECT indisprimary::text, 'x' || indisprimary, indisprimary::int FROM pg_index WHERE indexrelid = 'book_pkey'::regclass", [("true", "xtrue", 1)]),
    ("SELECT array_agg(attname ORDER BY attnotnull, attnum DESC) FROM pg_attribute WHERE attrelid = 'author'::regclass", [(["born", "name", "id"],)]),
    ("SELECT json_agg(attname ORDER BY attnum DESC), json_agg(attnum), json_agg(attnotnull ORDER BY attname)"
     " FROM pg_attribute WHERE attrelid = 'tag'::regclass", [(["word", "book_id"], [1, 2], [True, True])]),
    ("SELECT json_agg(json_build_object('n', attnum) ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'tag'::regclass", [([{"n": 1}, {"n": 2}],)]),
    ("SELECT json_build_object('h', relhasindex, 'n', NULL::bool, 'r', relnatts, 'k', 'x', 'c', conkey, 'a', array['y', 'z'], 'o',"
     " json_build_object('t', true), 'm', (SELECT json_agg(a.attname ORDER BY a.attnum) FROM pg_attribute a WHERE a.attrelid = c.oid))"
     " FROM pg_class c JOIN pg_constraint k ON k.conrelid = c.oid AND contype = 'p' WHERE relname = 'tag'",
     [({"h": True, "n": None, "r": 2, "k": "x", "c": [1, 2], "a": ["y", "z"], "o": {"t": True}, "m": ["book_id", "word"]},)]),
    ("SELECT json_agg(json_build_object('a', jsonb_build_array(1, 'x', true, array[2]))), jsonb_agg(conkey), jsonb_agg(true)"
     " FROM pg_constraint WHERE conname = 'tag_key'", [([{"a": [1, "x", True, [2]]}], [[1, 2]], [True])]),
    ("SELECT array['a', 'b c'], array[NULL, 2], array[true], array[]::text[], (array['x'])[1], every(attnum > 0), every(attnum > 1)"
     " FROM pg_attribute WHERE attrelid = 'tag'::regclass", [(["a", "b c"], [None, 2], [True], [], "x", True, False)]),
    ("SELECT array_agg(x ORDER BY x DESC NULLS LAST), array_agg(x ORDER BY x DESC) FROM (VALUES (1), (NULL), (20), (3)) v(x), pg_namespace"
     " WHERE nspname = 'main'", [(["20", "3", "1", None], [None, "20", "3", "1"])]),
    ("SELECT left(relname, 2), left(relname, -2), right(relname, 1) FROM pg_class WHERE relname = 'book'", [("bo", "bo", "k")]),
    ("SELECT relname FROM pg_class WHERE relname SIMILAR TO '(ta|auth)%' AND relname NOT SIMILAR TO '%\\_%' ORDER BY 1", [("author",), ("tag",)]),
    ("SELECT EXISTS (SELECT FROM pg_class WHERE relname = 'tag'), EXISTS (SELECT FROM pg_class WHERE relname = 'nosuch')", [(True, False)]),
    ("SELECT format('%I.%L %s%%', 'a b', 'c''d', 1), format('%2$s%1$s', 'a', 'b'), format('%L|%s', NULL, NULL) FROM pg_namespace LIMIT 1",
     [("\"a b\".'c''d' 1%", "ba", "NULL|")]),
    ("SELECT array_lower(indkey, 1), array_lower('{1,2}'::int[], 1), array_lower('{}'::int[], 1) FROM pg_index LIMIT 1", [(0, 1, None)]),
    ("SELECT array_length(indkey, 1), array_upper(indkey, 1), array_length('{1,2}'::int[], 1), array_upper('{1,2}'::int[], 1), array_length('{}'::int[], 1)"
     " FROM pg_index WHERE indexrelid = 'tag_key'::regclass", [(2, 1, 2, 2, None)]),
    ("SELECT conkey::text, array['a b', NULL]::text, array[true]::text, conkey = '{1,2}', '{2,1}' = conkey FROM pg_constraint WHERE conkey = '{1, 2}'",
     [("{1,2}", '{"a b",NULL}', "{t}", True, False)]),
    ("SELECT conkey[i] FROM (SELECT conkey, generate_series(array_lower(conkey, 1), array_upper(conkey, 1)) AS i FROM pg_constraint"
     " WHERE conname = 'tag_key') k ORDER BY i", [(1,), (2,)]),
    ("SELECT pg_index_column_has_property('book_expr'::regclass, 1, 'asc'), pg_index_column_has_property('book_expr'::regclass, 2, 'asc'),"
     " pg_index_column_has_property('book_expr'::regclass, 3, 'asc')", [(True, False, None)]),
    ("SELECT k.* FROM pg_index i, unnest(i.indkey) WITH ORDINALITY k(key, place) WHERE i.indexrelid = 'tag_key'::regclass", [(1, 1), (2, 2)]),
]


@pytest.mark.parametrize("sql, expected", VALUES)
def test_values(connection, sql, expected):
    assert ask(connection, sql) == expected


CONTROLS = "\x01\x08\t\n\x0b\f\r\x1f\\n\\t\\u000a\"'{},[]é😀"


def test_names_with_control_characters_come_out_of_arrays_unchanged(start_daemon):
    """SQLAlchemy's names of keys come as array_agg() and pgjdbc's go as a parameter."""
    daemon = start_daemon()
    quoted = '"' + CONTROLS.replace('"', '""') + '"'
    with psycopg.connect(host=str(daemon.directory), dbname=daemon.name, user="reader", autocommit=True) as own:
        own.execute(f"CREATE TABLE t (q, {quoted} TEXT UNIQUE)")
        own.execute(f"CREATE TABLE {quoted} (q)")
        names = "SELECT array_agg(attname ORDER BY attnum) FROM pg_attribute WHERE attrelid = 't'::regclass"
        array = "SELECT ARRAY(SELECT a.attname FROM pg_attribute a WHERE attrelid = 't'::regclass ORDER BY attnum)"
        for binary in (False, True):
            cursor = own.cursor(binary=binary)
            assert cursor.execute(names).fetchone() == (["q", CONTROLS],)
            assert cursor.execute(array).fetchone() == (["q", CONTROLS],)
            place = "%b" if binary else "%t"
            assert cursor.execute(f"SELECT relname FROM pg_class WHERE relname = ANY ({place})", [[CONTROLS]]).fetchall() == [(CONTROLS,)]


def test_what_is_no_number(connection):
    with pytest.raises(psycopg.errors.InvalidTextRepresentation):
        ask(connection, "SELECT relname::int FROM pg_class")
    # The class of state 42000 and of no other.
    with pytest.raises(psycopg.errors.SyntaxErrorOrAccessRuleViolation, match=r"format\(\) here knows"):
        ask(connection, "SELECT format('%5d', 1) FROM pg_class")
    for sql in ("SELECT pg_sort_key('a', 1, 2) FROM pg_class", "SELECT pg_sort_key() FROM pg_class"):
        with pytest.raises(psycopg.errors.SyntaxErrorOrAccessRuleViolation, match=r"pg_sort_key\(\) takes a letter for each key"):
            ask(connection, sql)


TYPES = [
    ("SELECT -attnum, abs(attnum), attnum + 1, attnum + 1.5, count(*) FILTER (WHERE attnum > 1), row_number() OVER (ORDER BY attnum) FROM pg_attribute"
     " GROUP BY attnum", ["int2", "int2", "int4", "float8", "int8", "int8"]),
    ("SELECT conkey[1], (SELECT conkey[1]), sum(attnum) FROM pg_constraint, pg_attribute GROUP BY conkey", ["int2", "int2", "int8"]),
    ("SELECT n, k, o, a FROM pg_constraint c, generate_series(1, 2) n, unnest(c.conkey) WITH ORDINALITY k(k, o), unnest('{a}'::text[]) a", ["int4", "int2", "int8", "text"]),
    ("SELECT ordinal_position, position_in_unique_constraint FROM information_schema.key_column_usage", ["int4", "int4"]),
    ("SELECT c.numeric_precision, c.numeric_scale, c.character_maximum_length FROM information_schema.columns c", ["int4", "int4", "int4"]),
    ("SELECT u.*, true AS yes FROM (SELECT nspname, oid FROM pg_namespace) u", ["name", "oid", "bool"]),
    ("SELECT *, 1 = 1 FROM information_schema.schemata", ["text", "name", "text", "bool"]),
    # What is calculated, by a view or by the statement itself.
    ("SELECT * FROM pg_user", ["name", "oid", "bool", "bool", "bool", "bool", "text", "text", "text"]),
    ("SELECT d.*, 1 FROM pg_database d", ["oid", "name", "oid", "int4", '"char"', "bool", "bool", "int4", "int8", "int8", "oid", *["text"] * 5, "int4"]),
    ("SELECT * FROM (SELECT relkind AS kind, count(*) AS oid, bool_and(relhasindex) AS yes FROM pg_class GROUP BY 1) c", ['"char"', "int8", "bool"]),
    ("SELECT true, *, * FROM generate_series(1, 2) n, pg_namespace", ["bool", "int4", "oid", "name", "oid", "text", "int4", "oid", "name", "oid", "text"]),
]


@pytest.mark.parametrize("sql, expected", TYPES)
def test_types(connection, sql, expected):
    assert types(connection, sql) == expected


def test_rows_of_views_have_their_types(connection):
    """'0' is true in JavaScript and Ruby."""
    cursor = connection.cursor(row_factory=psycopg.rows.dict_row)
    role = cursor.execute("SELECT * FROM pg_roles").fetchone()
    assert (role["oid"], role["rolsuper"], role["rolcanlogin"], role["rolconnlimit"]) == (10, False, True, -1)
    database = cursor.execute("SELECT * FROM pg_database").fetchone()
    assert (database["oid"], database["datallowconn"], database["encoding"]) == (5, True, 6)


# In binary, as PostgreSQL's send functions have them.

DAY = datetime.date(2020, 1, 2)
BINARY = {
    "'{\"a\": 1}'::jsonb": '{"a": 1}', "'{}'::json": "{}", "1.5::numeric": decimal.Decimal("1.5"), "'-12.30'::numeric": decimal.Decimal("-12.3"),
    "'2020-01-02'::date": DAY, "'1 day 2 hours'::interval": datetime.timedelta(days=1, hours=2),
    "'2020-01-02 03:04:05'::timestamp": datetime.datetime(2020, 1, 2, 3, 4, 5),
    "'2020-01-02 03:04:05+01'::timestamptz": datetime.datetime(2020, 1, 2, 2, 4, 5, tzinfo=datetime.timezone.utc),
    "'6F9619FF-8B86-D011-B42D-00C04FC964FF'::uuid": uuid.UUID("6f9619ff-8b86-d011-b42d-00c04fc964ff"), "7::xid": 7,
    # By the zero byte SQLAlchemy's inspector knows that a column is not generated.
    "''::\"char\"": b"\0", "'r'::\"char\"": b"r",
    "'{2020-01-02,NULL}'::date[]": [DAY, None],
}
# The value is none of its type, or the type has no binary form here: another value is worse than an error.
NOT_BINARY = ["'abc'::uuid", "'nonsense'::date", "'abc'::numeric[]", "'10.0.0.1'::inet"]


def test_binary_values(library):
    async def run():
        connection = await asyncpg.connect(host=str(library.directory), database=library.name, user="reader")
        for sql, value in BINARY.items():
            assert await connection.fetchval(f"SELECT {sql} FROM pg_namespace LIMIT 1") == value, sql
        assert await connection.fetchval("SELECT jsonb_agg(nspname ORDER BY nspname) FROM pg_namespace WHERE nspname <> 'main'") == (
            '["information_schema", "pg_catalog"]')
        for sql in NOT_BINARY:
            with pytest.raises(asyncpg.DatatypeMismatchError):
                await connection.fetchval(f"SELECT {sql} FROM pg_namespace LIMIT 1")
        # Half a row is never sent: the connection is as before.
        for sql in ("SELECT typname, typlen FROM pg_type UNION ALL SELECT 'x', 1.5", "SELECT typname, 'abc'::uuid FROM pg_type"):
            with pytest.raises(asyncpg.DatatypeMismatchError):
                await connection.fetch(sql)
            assert await connection.fetchval("SELECT nspname FROM pg_namespace WHERE oid = 2200") == "main"
        await connection.close()

    asyncio.run(run())


# With asyncpg's values: a number is refused where a text is announced, and a text where a "char" is.
PARAMETERS = [
    ("SELECT relname FROM pg_class WHERE oid = $1::regclass AND relnamespace = $2", ["tag", 2200], ["tag"]),
    ("SELECT attname FROM pg_attribute a WHERE attrelid = 'tag'::regclass AND attnum > $1 ORDER BY attnum LIMIT $2 OFFSET $3", [0, 1, 1], ["word"]),
    ("SELECT relname FROM pg_class WHERE relname = ANY ($1) AND relkind = $2 ORDER BY 1", [["tag", "book", "x"], b"r"], ["book", "tag"]),
    ("SELECT relname FROM pg_class WHERE relkind = ANY ($1) AND relname <> ALL ($2) AND relnamespace IN ($3, $4)", [[b"v", b"m"], ["x"], 2200, 1], ["cheap"]),
    ("SELECT table_name FROM information_schema.tables WHERE table_name = ANY ($1) AND table_schema = $2", [["tag", "x"], "main"], ["tag"]),
    ("SELECT column_name FROM information_schema.columns WHERE ordinal_position = $1 AND table_name = $2", [2, "tag"], ["word"]),
    ("SELECT conname FROM pg_constraint WHERE $1 = ANY (conkey) AND contype = 'p' AND conname LIKE $2", [2, "tag%"], ["tag_key"]),
    ("SELECT relname FROM pg_class WHERE relpersistence != $1::CHAR AND relname = $2", ["t", "tag"], ["tag"]),
    ("SELECT relname FROM pg_class WHERE relkind = ANY ($1::\"char\"[]) AND relname = $2", [[b"r"], "tag"], ["tag"]),
]


def test_parameters_are_what_they_are_compared_with(library):
    async def run():
        connection = await asyncpg.connect(host=str(library.directory), database=library.name, user="reader")
        for sql, values, expected in PARAMETERS:
            assert [row[0] for row in await connection.fetch(sql, *values)] == expected, sql
        await connection.close()

    asyncio.run(run())


def test_binary_values_of_psycopg(connection):
    cursor = connection.cursor(binary=True)
    (found,) = cursor.execute("SELECT '1 day'::interval, '[1]'::jsonb, '2020-01-02'::date, 2.5::numeric FROM pg_namespace LIMIT 1").fetchall()
    assert found == (datetime.timedelta(days=1), [1], DAY, decimal.Decimal("2.5"))


# Names that SQLite reserves and PostgreSQL does not.

def test_reserved_names(connection):
    cursor = connection.execute("SELECT relname AS default, relkind AS index, relnatts AS table FROM pg_class WHERE relname = 'tag'")
    assert [column.name for column in cursor.description] == ["default", "index", "table"]
    assert ask(connection, "SELECT s.default FROM (SELECT relname AS default FROM pg_class) s WHERE s.default = 'tag'") == [("tag",)]
    assert ask(connection, "SELECT relname AS index FROM pg_class WHERE relname LIKE 'tag%' ORDER BY index DESC") == [("tag_key",), ("tag",)]


# Defaults.

DEFAULTS = {
    "a TEXT DEFAULT 'abc'": "'abc'::text", "b BOOLEAN DEFAULT TRUE": "true", "c BOOLEAN DEFAULT 0": "false", "d BOOLEAN DEFAULT 't'": "true",
    "e DATE DEFAULT '2024-01-01'": "'2024-01-01'::date", "f INTEGER DEFAULT 5": "5", "g INTEGER DEFAULT -5": "'-5'::integer",
    "h NUMERIC(8,2) DEFAULT -1.5": "'-1.5'::numeric", "i VARCHAR(9) DEFAULT \"it's\"": "'it''s'::character varying", "j TEXT DEFAULT NULL": None,
    "k TIMESTAMP DEFAULT current_timestamp": "CURRENT_TIMESTAMP", "l BLOB DEFAULT x'00FF'": "'\\x00ff'::bytea", "m INTEGER DEFAULT (1 + 2)": "1 + 2",
    "n TEXT DEFAULT 'a''b'": "'a''b'::text", "o JSON DEFAULT '{}'": "'{}'::json", "p INTEGER DEFAULT '5'": "'5'::bigint", "q INTEGER": None,
    "r TIMESTAMP DEFAULT '2024-01-01 00:00:00'": "'2024-01-01 00:00:00'::timestamp without time zone", "s REAL DEFAULT 1.5": "1.5",
    "t INTEGER DEFAULT -3000000000": "'-3000000000'::bigint", "u TEXT DEFAULT (lower('X'))": "lower('X')", "v TEXT DEFAULT ''": "''::text",
}


def test_defaults(daemon):
    """ActiveRecord, which goes by their spelling, knew of none: its INSERTs wrote NULL for them."""
    with daemon.client() as client:
        client.query(f"CREATE TABLE df ({', '.join(DEFAULTS)})").check()
        found = client.query("SELECT column_default FROM information_schema.columns WHERE table_name = 'df' ORDER BY ordinal_position").texts
        assert [row[0] for row in found] == list(DEFAULTS.values())
        has = client.query(
            "SELECT atthasdef, pg_get_expr(adbin, adrelid) FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum"
            " WHERE attrelid = 'df'::regclass ORDER BY attnum").texts
        assert has == [("f" if text is None else "t", text) for text in DEFAULTS.values()]
