"""What the client, or the statement's text, says that a parameter is: it comes back as that, whatever stands beside it."""

import pytest

import wire
from wire import BYTEA, TEXT, VARCHAR

DESCRIBED = [pytest.param([wire.describe_statement()], [], id="statement"), pytest.param([], [wire.describe_portal()], id="portal")]


def answer(client, sql, value, given, before, behind):
    reply = client.ask(wire.parse(sql, types=given), *before, wire.bind([value]), *behind, wire.execute()).check()
    return reply.of("T")[0].columns[0].type, reply.texts[0][0]


@pytest.mark.parametrize("before, behind", DESCRIBED)
@pytest.mark.parametrize("sql, value, given, type", [
    ("SELECT ifnull($1::text, 0)", "abc", [], TEXT), ("SELECT coalesce($1::text, 0)", "abc", [], TEXT),
    ("SELECT coalesce($1::bytea, 0)", "\\x41", [], BYTEA), ("SELECT coalesce($1, 0)", "\\x41", [BYTEA], BYTEA),
    ("SELECT iif(value = 1, $1::text, value) FROM generate_series(1, 2)", "abc", [], TEXT),
    ("SELECT * FROM (VALUES ($1::text), (2))", "abc", [], TEXT),
    *[("SELECT coalesce($1, 0)", value, [given], TEXT) for value in ["007", "1e3", " 7 ", "9223372036854775808"] for given in (TEXT, VARCHAR)],
    ("SELECT $1 AS code, $1 + 1", "007", [TEXT], TEXT), ("SELECT CASE WHEN 1 THEN $1 ELSE 0 END, typeof($1)", "007", [TEXT], TEXT)])
def test_it_comes_back(shared, sql, value, given, type, before, behind):
    with shared.client() as client:
        assert answer(client, sql, value, given, before, behind) == (type, value)


@pytest.mark.parametrize("sql, found", [
    ("SELECT count(*) FROM generate_series(1, 9) WHERE value + 0 = $1", "1"), ("SELECT count(*) FROM generate_series(1, 9) WHERE $1 < value + 0", "2"),
    ("SELECT coalesce($1, 0) = 7", "t"), ("SELECT 7 IN (1, $1)", "t"), ("SELECT $1 + 1", "8")])
def test_a_text_that_only_a_number_can_be(shared, sql, found):
    """To be compared with a number it must be one; PostgreSQL has no such operator."""
    with shared.client() as client:
        assert client.extended(sql, ["007"], types=[TEXT]).check().texts == [(found,)]


@pytest.fixture
def mixed(shared):
    shared.run("DROP TABLE IF EXISTS mixed", "CREATE TABLE mixed (id INTEGER PRIMARY KEY, code TEXT, i INT, r REAL, x)",
               "INSERT INTO mixed VALUES (1, '5', 5, 5, 5), (2, '6', 6, 6.5, '6'), (3, 'seven', 7, 7, x'37')")
    with shared.client() as client:
        yield client


@pytest.mark.parametrize("left", ["code", "i", "i + 0", "r", "code || ''", "CAST(code AS TEXT)"])
@pytest.mark.parametrize("array, parameters, types", [
    ("'{5}'", [], []), ("('{\"5\", abc}')", [], []), ("ARRAY[5]", [], []), ("$1::int8[]", ["{5}"], []), ("$1::text[]", ["{5}"], []),
    ("$1", ["{5}"], [1016]), ("$1", ["{5}"], [1009]), ("$1", ["{5}"], []), ("'{5}'::int4[]", [], [])])
def test_elements_of_another_class(mixed, left, array, parameters, types):
    """As a single value in that place: the column's affinity converts. Where there is none, PostgreSQL has no such operator."""
    found = mixed.extended(f"SELECT id FROM mixed WHERE {left} = ANY({array}) ORDER BY id", parameters, types=types).check().texts
    others = mixed.extended(f"SELECT id FROM mixed WHERE {left} <> ALL({array}) ORDER BY id", parameters, types=types).check().texts
    isText = "::text" in array or types == [1009]
    isNumber = "int" in array or types == [1016] or array.startswith("ARRAY")
    if (left == "i + 0" and isText) or (left in ("code || ''", "CAST(code AS TEXT)") and isNumber and left != "CAST(code AS TEXT)"):
        return
    assert (found, others) == ([("1",)], [("2",), ("3",)])


def test_null_among_the_elements(mixed):
    for array, parameters in [("'{5,NULL}'", []), ("$1::int8[]", ["{5,NULL}"])]:
        assert mixed.extended(f"SELECT id FROM mixed WHERE i = ANY({array})", parameters).check().texts == [("1",)]
        assert mixed.extended(f"SELECT id FROM mixed WHERE i <> ALL({array})", parameters).check().texts == []
    for sql in ["i = ANY($1::int8[])", "i <> ALL($1::int8[])"]:
        assert mixed.extended(f"SELECT ({sql}) IS NULL FROM mixed WHERE id = 1", [None]).check().texts == [("t",)]
