"""STRICT tables: what is sent to them without a type is what their columns say, as with other tables."""

import psycopg
import pytest

import wire
from wire import BYTEA, FLOAT8, INT8, TEXT

COLUMNS = "id INTEGER PRIMARY KEY, n INT, s TEXT, r REAL, b BLOB, x ANY"


@pytest.fixture(params=["", " STRICT", " STRICT, WITHOUT ROWID"], ids=["ordinary", "strict", "strict without rowid"])
def table(shared, request):
    columns = COLUMNS + ", v INT AS (n * 2) VIRTUAL, w TEXT AS (s || '!') STORED"
    shared.run("DROP TABLE IF EXISTS s", f"CREATE TABLE s ({columns}){request.param}", "INSERT INTO s (id, n, s) VALUES (1, 5, 'old')")
    return shared


@pytest.fixture
def client(table):
    with table.client() as client:
        yield client


@pytest.mark.parametrize("sql, types", [
    ("INSERT INTO s (n, s, r, b) VALUES ($1, $2, $3, $4)", [INT8, TEXT, FLOAT8, BYTEA]), ("UPDATE s SET s = $1 WHERE id = $2", [TEXT, INT8]),
    ("INSERT INTO s (id, s) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET s = excluded.s, n = $3", [INT8, TEXT, INT8]),
    ("REPLACE INTO s (id, r) VALUES ($1, $2)", [INT8, FLOAT8])])
def test_announced(client, sql, types):
    assert client.ask(wire.parse(sql), wire.describe_statement()).check().of("t")[0].types == types


def test_psycopg(table):
    with psycopg.connect(host=str(table.directory), dbname=table.name, autocommit=True) as connection:
        sql = "INSERT INTO s (id, n, s, r, b) VALUES (%s, %s, %s, %s, %s) RETURNING id, n, s, r, b, v, w"
        assert connection.execute(sql, [2, 7, "text", 1.5, b"\0"]).fetchone() == (2, 7, "text", 1.5, b"\0", 14, "text!")
        assert connection.execute("UPDATE s SET s = %s, n = %s WHERE id = %s", ["new", "8", 2]).rowcount == 1
        assert connection.execute("SELECT n, typeof(n), s FROM s WHERE id = 2").fetchone() == (8, "integer", "new")


@pytest.mark.parametrize("before, behind", [([wire.describe_statement()], []), ([], [wire.describe_portal()])], ids=["statement", "portal"])
@pytest.mark.parametrize("sql, expected", [
    ("INSERT INTO s (id, s) VALUES (2, 12) RETURNING coalesce(s, s)", (TEXT, "12")),
    ("UPDATE s SET s = 13 RETURNING iif(id, s, s)", (TEXT, "13")), ("UPDATE s SET n = '14' RETURNING n + 1", (INT8, "15")),
    ("UPDATE s SET r = 3 RETURNING coalesce(r, 0.0) * 2", (FLOAT8, "6.0")), ("UPDATE s SET s = 'x' RETURNING w || ''", (TEXT, "x!"))])
def test_returned(client, sql, expected, before, behind):
    reply = client.ask(wire.parse(sql), *before, wire.bind(), *behind, wire.execute()).check()
    assert (reply.of("T")[0].columns[0].type, reply.texts[0][0]) == expected


def test_a_value_of_another_type(shared):
    shared.run("DROP TABLE IF EXISTS s", f"CREATE TABLE s ({COLUMNS}) STRICT")
    with shared.client() as client:
        assert client.extended("INSERT INTO s (n) VALUES ($1)", ["abc"]).state == "42804"
        assert client.value("SELECT count(*) FROM s") == "0"
