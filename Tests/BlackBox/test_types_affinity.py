"""What a column's affinity makes of a value: where a VIRTUAL generated column calculates it, and where RETURNING gives back what was
written. Nothing but the program says so, and what it makes is announced."""

import pytest

import wire
from wire import BOOL, FLOAT8, INT8, TEXT

ITEMS = """
    CREATE TABLE items (
        id INTEGER PRIMARY KEY, qty INTEGER, price INTEGER, name TEXT,
        total REAL AS (qty * price) VIRTUAL, code TEXT AS (length(name)) VIRTUAL, digits INTEGER AS (substr('123', 1, 2)) VIRTUAL,
        half INTEGER AS (qty / 2.0), any_number NUMERIC AS (name), plenty BOOLEAN AS (qty > 1) VIRTUAL, day DATE AS (date('2024-05-06')));
    INSERT INTO items (id, qty, price, name) VALUES (1, 2, 3, 'abc'), (2, 1, 5, '12'), (3, 5, 7, '1.5');
"""
COLUMNS = ["total", "code", "digits", "half", "any_number", "plenty", "day"]


@pytest.fixture
def items(shared):
    shared.run("DROP TABLE IF EXISTS items", *[each for each in ITEMS.split(";") if each.strip()])
    with shared.client() as client:
        yield client


def described(client, sql, parameters=(), of="statement"):
    """The type that is announced, and the values."""
    describe = [wire.describe_statement()] if of == "statement" else []
    portal = [wire.describe_portal()] if of == "portal" else []
    reply = client.ask(wire.parse(sql), *describe, wire.bind(parameters), *portal, wire.execute()).check()
    return reply.of("T")[0].columns[0].type, [row[0] for row in reply.texts]


@pytest.mark.parametrize("of", ["statement", "portal"])
@pytest.mark.parametrize("sql, expected", [
    ("sum(total)", (FLOAT8, ["46.0"])), ("max(total)", (FLOAT8, ["35.0"])), ("max(code)", (TEXT, ["3"])),
    ("group_concat(code, '')", (TEXT, ["323"])), ("sum(digits)", (INT8, ["36"])), ("max(half)", (FLOAT8, ["2.5"])),
    ("count(*) FILTER (WHERE plenty)", (INT8, ["2"]))])
def test_an_aggregate_of_a_virtual_column(items, of, sql, expected):
    assert described(items, f"SELECT {sql} FROM items", of=of) == expected


@pytest.mark.parametrize("of", ["statement", "portal"])
@pytest.mark.parametrize("sql", [
    "total * 2", "coalesce(total, 0)", "coalesce(code, code)", "iif(1, code, code)", "CASE WHEN id > 0 THEN code END", "code || 'x'",
    "coalesce(digits, 0)", "digits + 1", "coalesce(half, 0)", "coalesce(day, '')", "nullif(code, '')", "coalesce(plenty, 0)"])
def test_an_expression_of_a_virtual_column(items, of, sql):
    """Whatever is announced, each row can be sent as that, and is what SQLite has."""
    _, values = described(items, f"SELECT {sql} FROM items ORDER BY id", of=of)
    expected = [row[0] for row in items.query(f"SELECT CAST({sql} AS TEXT) FROM items ORDER BY id").check().texts]
    assert [float(one) if one[0].isdigit() and "-" not in one and "x" not in one else one for one in values] == [
        float(one) if one[0].isdigit() and "-" not in one and "x" not in one else one for one in expected]


@pytest.mark.parametrize("column, type, value, ids", [
    ("code", TEXT, "2", ["2"]), ("total", FLOAT8, "6", ["1"]), ("digits", INT8, "12", ["1", "2", "3"]), ("plenty", BOOL, "t", ["1", "3"]),
    ("items.plenty", BOOL, "false", ["2"])])
def test_a_parameter_beside_a_virtual_column(items, column, type, value, ids):
    sql = f"SELECT id FROM items WHERE {column} = $1 ORDER BY id"
    assert items.ask(wire.parse(sql), wire.describe_statement()).check().of("t")[0].types == [type]
    for text in [sql, f"SELECT id FROM items WHERE $1 = {column} ORDER BY id"]:
        assert [row[0] for row in items.extended(text, [value]).check().texts] == ids


@pytest.mark.parametrize("sql, type, value, ids", [
    ("SELECT id FROM items i WHERE i.plenty = $1 ORDER BY id", BOOL, "t", ["1", "3"]),
    ("SELECT i.id FROM items AS i JOIN other o ON o.id = i.id WHERE i.plenty = $1", BOOL, "true", ["1"]),
    ("SELECT id FROM items WHERE plenty <> $1 OR $1 IS NULL", BOOL, "true", ["2"]),
    ("SELECT id FROM other WHERE plenty = $1 AND id IN (SELECT id FROM items)", TEXT, "abc", ["1"]),
    ("SELECT o.id FROM other o, items WHERE o.plenty = $1 AND o.id = items.id", TEXT, "abc", ["1"])])
def test_whose_column_it_is(items, sql, type, value, ids):
    items.query("DROP TABLE IF EXISTS other; CREATE TABLE other (id INTEGER PRIMARY KEY, plenty FOO); INSERT INTO other VALUES (1, 'abc')").check()
    assert items.ask(wire.parse(sql), wire.describe_statement()).check().of("t")[0].types == [type]
    assert [row[0] for row in items.extended(sql, [value]).check().texts] == ids


WRITTEN = "CREATE TABLE written (id INTEGER PRIMARY KEY, name TEXT, n INTEGER, r REAL, code TEXT DEFAULT 5, m INTEGER DEFAULT '7', x NUMERIC)"


@pytest.mark.parametrize("of", ["statement", "portal", "nothing"])
@pytest.mark.parametrize("sql, expected", [
    ("INSERT INTO written (name) VALUES (12) RETURNING coalesce(name, name)", (TEXT, "12")),
    ("UPDATE written SET name = 13 RETURNING CASE WHEN id >= 0 THEN name END", (TEXT, "13")),
    ("INSERT INTO written (name) VALUES ('x') RETURNING iif(1, code, code)", (TEXT, "5")),
    ("INSERT INTO written (name) VALUES ('x') RETURNING iif(1, m, m)", (INT8, "7")),
    ("INSERT INTO written (n) VALUES ('12') RETURNING iif(1, n, n)", (INT8, "12")),
    ("INSERT INTO written (r) VALUES (3) RETURNING coalesce(r, r)", (FLOAT8, "3")),
    ("INSERT INTO written (x) VALUES ('2024-05-06') RETURNING coalesce(x, x)", (TEXT, "2024-05-06")),
    ("INSERT INTO written (id, name) VALUES (0, 12) ON CONFLICT (id) DO UPDATE SET name = excluded.name RETURNING coalesce(name, '')",
     (TEXT, "12"))])
def test_returning_what_was_written(shared, of, sql, expected):
    shared.run("DROP TABLE IF EXISTS written", WRITTEN, "INSERT INTO written (id, name) VALUES (0, 'old')")
    with shared.client() as client:
        if of == "nothing":
            assert client.query(sql).check().texts == [(expected[1],)]
        else:
            type, values = described(client, sql, of=of)
            assert (type, values) == (expected[0], [expected[1]])
