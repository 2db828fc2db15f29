"""What questions to the catalogs compare, calculate and are answered with, as PostgreSQL 15 does (asked there)."""

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
