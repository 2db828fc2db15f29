"""Clauses that ORMs write for PostgreSQL: parts of dates, compound SELECTs in parentheses, definitions."""

import psycopg
import pytest

import wire


@pytest.fixture
def client(shared):
    shared.run("DROP TABLE IF EXISTS m", "DROP TABLE IF EXISTS d", "CREATE TABLE m (id INTEGER PRIMARY KEY, at TIMESTAMP, z TIMESTAMPTZ, \"from\" TEXT)",
               "INSERT INTO m VALUES (1, '2024-05-02 03:04:05.25', '2024-05-02 03:04:05.250000+00:00', 'a'), (2, '2023-01-01', NULL, 'b')")
    with shared.client() as client:
        yield client


@pytest.mark.parametrize("sql, value", [
    ("SELECT extract(month FROM at) FROM m WHERE id = 1", "5"), ("SELECT EXTRACT('year' from \"at\") + 1 FROM m WHERE id = 1", "2025"),
    ("SELECT typeof(extract(day FROM at)) FROM m", "integer"), ("SELECT extract (second FROM (at)) FROM m", "5.25"),
    ("SELECT extract(epoch FROM at) - 0.25 FROM m", "1714619045.0"), ("SELECT extract(second FROM '2024-05-02 03:04:13.029979')", "13.029979"),
    ("SELECT extract(millisecond FROM '2024-05-02 03:04:13.029979')", "13029.979"), ("SELECT date_trunc('millisecond', '2024-05-02 03:04:13.029979')", "2024-05-02 03:04:13.029000"), ("SELECT extract(dow FROM extract(year FROM at) || '-01-07') FROM m", "0"),
    ("SELECT extract(week FROM date_trunc('month', at)) FROM m", "18"),
    ("SELECT count(*) FROM m WHERE extract(month FROM at) IN (1, 5) AND extract(quarter FROM at) = 2", "1"),
    # Django, with USE_TZ.
    ("SELECT extract(hour FROM m.z AT TIME ZONE 'UTC') FROM m", "3"), ("SELECT date_trunc('day', z AT TIME ZONE 'UTC') FROM m", "2024-05-02 00:00:00"),
    ("SELECT \"from\" FROM m WHERE extract(isodow from at) = 7", "b"),
    ("SELECT extract(century FROM '2000-12-31') || extract(century FROM '2001-01-01') || extract(millennium FROM at) || extract(decade FROM at) FROM m", "20213202"),
    ("SELECT extract(isoyear FROM '2023-01-01') || extract(isoyear FROM '2024-12-30') || extract(isoyear FROM at) FROM m", "202220252024"),
    ("SELECT extract(microseconds FROM at) FROM m", "5250000"), ("SELECT extract(hour FROM '03:04:05')", "3"),
    ("SELECT extract(second FROM '03:04:05.25') || extract(epoch FROM '01:00')", "5.253600.0"),
])
def test_parts_of_dates(client, sql, value):
    for reply in (client.query(sql), client.extended(sql)):
        assert reply.check().texts[0] == (value,)


@pytest.mark.parametrize("sql", [
    "SELECT extract(timezone FROM at) FROM m", "SELECT extract(month + at FROM at) FROM m", "SELECT extract(month FROM z AT TIME ZONE 'Europe/Berlin') FROM m",
    "SELECT z AT TIME ZONE 'UTC' FROM m", "SELECT extract(month FROM z AT TIME ZONE 'UTC' || 'x') FROM m"])
def test_other_parts_and_zones_are_refused(client, sql):
    assert client.query(sql).state == "42601"


def test_a_part_beside_a_parameter(client):
    reply = client.ask(wire.parse("SELECT extract(month FROM at) FROM m WHERE extract(month FROM at) = $1"), wire.describe_statement()).check()
    assert next(message.types for message in reply.messages if message.kind == "t") == [wire.INT8]
    assert [each.type for message in reply.messages if message.kind == "T" for each in message.columns] == [wire.INT8]
    assert client.ask(wire.bind([b"5"]), wire.execute()).check().texts == [("5",)]


@pytest.mark.parametrize("sql, rows", [
    ("(SELECT 1) UNION (SELECT 2) ORDER BY 1 DESC", ["2", "1"]), ("(SELECT 1)", ["1"]), (" (SELECT 1) ORDER BY (1) LIMIT 1;", ["1"]),
    ("/* app */ (SELECT 1)", ["1"]), ("SELECT 1 UNION /* x */ (SELECT 2) ORDER BY 1", ["1", "2"]), ("SELECT 1 UNION -- x\n(SELECT 2) ORDER BY 1", ["1", "2"]), ("-- app\n (SELECT 1)", ["1"]),
    ("(SELECT 1) INTERSECT (SELECT 1) UNION (SELECT 3)", ["1", "3"]), ("(SELECT 1) UNION ((SELECT 2) INTERSECT (SELECT 3))", ["1"]),
    ("SELECT 1 UNION ((SELECT 7) LIMIT 1)", ["1", "7"]), ("WITH c AS (SELECT 1 AS a) (SELECT a FROM c) ORDER BY 1", ["1"]), ("WITH c AS (SELECT 1 AS a) (SELECT a FROM c)", ["1"]),
    # An arm's own order and limit.
    ("(SELECT id FROM m ORDER BY id DESC LIMIT 1) UNION ALL (SELECT id FROM m ORDER BY id LIMIT 1)", ["2", "1"]),
    ("SELECT 1 UNION (SELECT 2 UNION SELECT 1) ORDER BY 1", ["1", "2"]), ("SELECT 3 EXCEPT (SELECT 3 EXCEPT SELECT 3)", ["3"]),
    ("((SELECT 1) UNION (SELECT 2)) INTERSECT (SELECT 2)", ["2"]), ("(((SELECT 1 UNION SELECT 2)) EXCEPT SELECT 1)", ["2"]),
    ("SELECT id FROM m WHERE id IN ((SELECT 1) UNION (VALUES (2))) ORDER BY 1", ["1", "2"]),
    ("SELECT max(x) FROM ((SELECT 1 AS x) UNION ALL (SELECT 2)) AS t", ["2"]),
    ("SELECT EXISTS ((SELECT 1) EXCEPT (SELECT 1))", ["f"]),
    ("WITH c AS ((SELECT 1 AS a) UNION (SELECT 2)) SELECT a FROM c ORDER BY a", ["1", "2"]),
    ("SELECT max(x) FROM ((SELECT 1 AS x) UNION ALL SELECT 2) AS t", ["2"]), ("SELECT 1 IN ((SELECT 1) UNION SELECT 2)", ["t"]),
    ("WITH c AS (SELECT 1 AS a) (SELECT a FROM c) UNION (SELECT 2) ORDER BY 1", ["1", "2"]),
    ("(WITH c AS (SELECT 1 AS z) SELECT * FROM c) UNION (SELECT 2) ORDER BY 1", ["1", "2"]), ("(SELECT id FROM m ORDER BY id) LIMIT 1 OFFSET 1", ["2"]),
    # These are values, and stay so.
    ("SELECT id FROM m WHERE id IN ((SELECT 1), 5)", ["1"]), ("SELECT (SELECT 1) UNION SELECT 2 ORDER BY 1", ["1", "2"]),
    ("SELECT 0, (SELECT 1) UNION SELECT 0, 2 ORDER BY 2", ["0", "0"]), ("SELECT 'union (select 1)' UNION SELECT (SELECT 'x')", ["union (select 1)", "x"]),
])
def test_compound_selects_in_parentheses(client, sql, rows):
    for reply in (client.query(sql), client.extended(sql)):
        reply.check()
        assert [row[0] for row in reply.texts] == rows
        assert reply.tag == f"SELECT {len(rows)}"


@pytest.mark.parametrize("sql, place", [
    ("(SELECT 1) UNION (SELECT 2) INTERSECT (SELECT 3)", 29), ("SELECT 1 EXCEPT (SELECT 2) INTERSECT SELECT 3", 28),
    ("SELECT * FROM ((SELECT 1) UNION SELECT 2 INTERSECT SELECT 3)", 42),
    ("EXPLAIN (SELECT 1) UNION (SELECT 2) INTERSECT (SELECT 3)", 37), ("(SELECT 1 UNION SELECT 2 INTERSECT SELECT 3) UNION (SELECT 4)", 26),
    ("(SELECT 1 UNION SELECT 2 INTERSECT SELECT 3)", 26), ("SELECT 1 UNION SELECT 2 INTERSECT SELECT 3 WHERE 1 IN ((SELECT 1) UNION (SELECT 2))", 25)])
def test_what_sqlite_would_group_otherwise_is_refused(client, sql, place):
    """PostgreSQL: 1 UNION (2 INTERSECT 3). Without parentheses around a SELECT it is SQLite's, which begins at the left."""
    error = client.query(sql).error
    assert error["C"] == "0A000" and "parentheses" in error["H"] and error["P"] == str(place)
    assert client.query("SELECT 1 UNION SELECT 2 INTERSECT SELECT 3").check().texts == []


def test_a_compound_select_in_a_string_of_several_statements(client):
    reply = client.query("SELECT 7; (SELECT 1) UNION (SELECT 2) ORDER BY 1; ((SELECT 3))").check()
    assert [row[0] for row in reply.texts] == ["7", "1", "2", "3"]
    error = client.query("SELECT 1; (DELETE FROM m)").error
    assert error["C"] == "42601" and error["P"] == "11"


@pytest.mark.parametrize("sql", ["(SELECT 1", "(SELECT 1))", "()", "((", "(SELECT 1) (SELECT 2)", "(UPDATE m SET id = 3)", "SELECT 1 UNION (DELETE FROM m)",
                                 "(SELECT 1) UNION", "SELECT 1 UNION ALL (1)"])
def test_other_parentheses_are_not_understood(client, sql):
    assert client.query(sql).state == "42601"
    assert client.value("SELECT count(*) FROM m") == "2"


def test_what_is_inserted_and_explained_may_be_a_compound_select(client):
    client.query("BEGIN; CREATE TABLE d (a INTEGER, b TEXT)").check()
    for into, rows in [("d (a) (SELECT 1) UNION (SELECT 2)", 2), ("d (SELECT 1, 'x') UNION (SELECT 2, 'y')", 2), ("main.d (SELECT 3, 'z')", 1), ("d (a) (SELECT 4)", 1),
                       ("d (WITH q AS (SELECT 6 AS n) SELECT n, 'w' FROM q)", 1), ("d (WITH RECURSIVE q(n) AS (SELECT 7) SELECT n, 'w' FROM q)", 1)]:
        assert client.query("INSERT INTO " + into).check().tag == f"INSERT 0 {rows}"
    # These are names.
    client.query("CREATE TABLE e (with INTEGER, offset INTEGER)").check()
    assert client.query("INSERT INTO e (with, offset) VALUES (1, 2)").check().tag == "INSERT 0 1"
    assert client.query("INSERT INTO e (with) VALUES (1)").check().tag == "INSERT 0 1"
    client.query("CREATE UNIQUE INDEX d_a ON d (a) WHERE a > 2").check()
    assert client.query("INSERT INTO d (a) (SELECT 3) UNION (SELECT 5) ON CONFLICT (a) WHERE a > 2 DO NOTHING").check().tag == "INSERT 0 1"
    assert "UNION" in str(client.query("EXPLAIN QUERY PLAN (SELECT 1) UNION (SELECT 2)").check().texts)
    client.query("ROLLBACK").check()


def test_columns_of_compound_selects_keep_names_and_types(client):
    sql = "(SELECT count(*), id FROM m) UNION (SELECT 7, $1) ORDER BY 1"
    reply = client.ask(wire.parse(sql), wire.describe_statement()).check()
    described, = (message.columns for message in reply.messages if message.kind == "T")
    assert [(each.name, each.type) for each in described] == [("count", wire.INT8), ("id", wire.INT8)]


# Definitions


def test_defaults_as_the_catalogs_have_them(client):
    """Alembic writes them into a downgrade as it has read them."""
    client.query("CREATE TABLE d (id INTEGER PRIMARY KEY, a TEXT DEFAULT 'new'::character varying, b NUMERIC DEFAULT '0'::numeric NOT NULL, "
                 "c INTEGER DEFAULT '-1'::integer, f BOOLEAN DEFAULT 't'::boolean, g TEXT DEFAULT ('it''s'::text), h DATE DEFAULT '2024-01-02'::date, "
                 "i TEXT DEFAULT NULL::text, j BIGINT DEFAULT 7::bigint, k TEXT DEFAULT 'a::b', m REAL DEFAULT 1::float8, n BOOLEAN DEFAULT false::boolean, o TEXT DEFAULT 'a'::character varying(3))").check()
    client.query("ALTER TABLE d ADD COLUMN l TEXT DEFAULT 'y'::text").check()
    client.query("INSERT INTO d (id) VALUES (1)").check()
    assert client.query("SELECT * FROM d").check().texts == [("1", "new", "0", "-1", "t", "it's", "2024-01-02", None, "7", "a::b", "1.0", "f", "a", "y")]
    assert client.value("SELECT typeof(f) || typeof(c) FROM d") == "integerinteger"
    # And the sqlite3 shell reads the schema, and so does the catalogs' reader.
    assert "'a::b'" in client.value("SELECT sql FROM sqlite_schema WHERE name = 'd'")
    defaults = dict(client.query("SELECT column_name, column_default FROM information_schema.columns WHERE table_name = 'd'").check().texts)
    assert defaults["a"] == "'new'::text" and defaults["f"] == "true"


@pytest.mark.parametrize("sql", ["CREATE TABLE x (a DATE DEFAULT 'tomorrow'::date)", "CREATE TABLE x (a TEXT DEFAULT a::text)",
                                 "CREATE TABLE x (a TEXT CHECK (a <> 'x'::text))", "CREATE VIEW x AS SELECT 'x'::text"])
def test_other_casts_in_definitions_are_sqlites_to_refuse(client, sql):
    assert client.query(sql).state == "42601"


def test_a_table_like_another(client):
    client.query("CREATE TABLE IF NOT EXISTS paintings (a)").check()
    for sql in ["CREATE TABLE x (LIKE m)", "CREATE TABLE x (id INTEGER, LIKE \"m\" INCLUDING ALL)", "CREATE TABLE x (LIKE paintings)", "CREATE TABLE x (LIKE main.m)"]:
        error = client.query(sql).error
        assert error["C"] == "0A000" and "sqlite_schema" in error["H"]
    for columns in ["like PRIMARY KEY", "id INTEGER, like NOT NULL", "like DEFAULT 1", "like STRING", "like int64, b", "like UNSIGNED BIG INT"]:
        client.query(f"BEGIN; CREATE TABLE x ({columns}); ROLLBACK").check()
    # What comes behind such a column is looked at as elsewhere.
    assert client.query("CREATE TABLE x (like TEXT, id SERIAL)").state == "0A000"
    assert "identity" in client.query("CREATE TABLE x (like TEXT, id INTEGER GENERATED ALWAYS AS IDENTITY)").error["M"]
    client.query("BEGIN; CREATE TABLE x (like INTEGER, b TEXT); CREATE TABLE y (\"like\" m, \"b\" TEXT); ROLLBACK").check()


def test_a_table_of_serials_that_is_there_already(client):
    """peewee's create_tables() and Tortoise's generate_schemas() say so at each start."""
    for name in ["m", "\"m\"", "main.m", "M"]:
        assert client.query(f"CREATE TABLE IF NOT EXISTS {name} (\"id\" SERIAL NOT NULL PRIMARY KEY, b TEXT)").check().tag == "CREATE TABLE"
        assert client.extended(f"CREATE TABLE IF NOT EXISTS {name} (id SERIAL)").check().tag == "CREATE TABLE"
    sql = "CREATE TABLE IF NOT EXISTS x (\"id\" SERIAL NOT NULL PRIMARY KEY)"
    client.query("BEGIN; CREATE TABLE x (a)").check()
    client.query(sql).check()
    client.query("DROP TABLE x").check()
    assert client.query(sql).state == "0A000"
    client.query("ROLLBACK").check()
    assert client.query(sql).state == "0A000" and client.query("SELECT * FROM x").state == "42P01"


# The time of the daemon's clock


@pytest.mark.parametrize("type, default", [
    ("TIMESTAMP", "(now())"), ("TIMESTAMP", "CURRENT_TIMESTAMP"), ("TIMESTAMP WITH TIME ZONE", "(now() || '+00:00')"),
    ("TIMESTAMP WITH TIME ZONE", "(datetime('now') || '+00:00')")])
def test_a_moment_by_default_equals_itself(shared, client, type, default):
    client.query(f"CREATE TABLE d (id INTEGER PRIMARY KEY, at {type} DEFAULT {default})").check()
    with psycopg.connect(host=str(shared.directory), dbname=shared.name, user="tester", autocommit=True,
                         options="-c result_typing=declared") as connection:
        connection.execute("INSERT INTO d (id) VALUES (1)")
        (at,) = connection.execute("SELECT at FROM d").fetchone()
        for compared in ("=", ">=", "<="):
            assert connection.execute(f"SELECT count(*) FROM d WHERE at {compared} %s", (at,)).fetchone() == (1,)
        assert connection.execute("UPDATE d SET id = 2 WHERE at = %s", (at,)).rowcount == 1
