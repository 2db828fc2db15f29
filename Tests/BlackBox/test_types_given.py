"""What the client, or the statement's text, says that a parameter is: it comes back as that, whatever stands beside it."""

import struct

import pytest

import wire
from parameters_fixtures import TIMESTAMP
from wire import BYTEA, FLOAT4, TEXT, VARCHAR

TIMETZ = 1266

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


ANY_CLASS = ["'{5}'", "('{\"5\", abc}')", "$1"]
NUMBERS, TEXTS = ["ARRAY[5]", "$1::int8[]", "'{5}'::int4[]"], ["$1::text[]", "'{5}'::text[]"]
# By their left sides: a column converts the elements, and where nothing does, PostgreSQL has no operator for another class.
COMPARED = [
    *[(left, array) for left in ("code", "i", "r") for array in ANY_CLASS + NUMBERS + TEXTS],
    *[("i + 0", array) for array in ANY_CLASS + NUMBERS], *[("code || ''", array) for array in ANY_CLASS + TEXTS]]


@pytest.mark.parametrize("left, array", COMPARED)
def test_elements_of_another_class(mixed, left, array):
    parameters = ["{5}"] if "$1" in array else []
    assert mixed.extended(f"SELECT id FROM mixed WHERE {left} = ANY({array})", parameters).check().texts == [("1",)]
    others = mixed.extended(f"SELECT id FROM mixed WHERE {left} <> ALL({array}) ORDER BY id", parameters).check().texts
    assert others == [("2",), ("3",)]


@pytest.mark.parametrize("element", ["1.10", "1.50", "-0", "1e2", "100000000000000000000", "007", "+5", "0.00001", "1.1", "5", "0.5", "-2.25"])
def test_an_element_is_no_other_text(shared, element):
    others = ["1.1", "1.5", "0", "100", "100.0", "1.0e+20", "7", "5", "1.0e-05", "0.5", "-2.25", "x"]
    shared.run("DROP TABLE IF EXISTS versions", "CREATE TABLE versions (v TEXT UNIQUE)", f"INSERT INTO versions VALUES ('{element}')",
               *[f"INSERT OR IGNORE INTO versions VALUES ('{other}')" for other in others])
    with shared.client() as client:
        assert client.query(f"SELECT v FROM versions WHERE v = ANY('{{{element}}}')").check().texts == [(element,)]
        assert (element,) not in client.query(f"SELECT v FROM versions WHERE v <> ALL('{{{element}}}')").check().texts
        assert client.query(f"DELETE FROM versions WHERE v = ANY('{{{element}}}')").tag == "DELETE 1"


@pytest.mark.parametrize("left", ["r", "r * 1", "n", "n + 0", "coalesce(n, 0)", "round(r, 1)", "x"])
@pytest.mark.parametrize("two, one, thousand", [("2.50", "1.0", "1e3"), ("2.5", "1", "1000"), ("+2.5", "01", "1000.000"), ("25e-1", ".1E1", "1000.")])
def test_an_element_is_a_number_however_it_is_written(shared, left, two, one, thousand):
    """Where nothing converts: each is there as a text, too, which no number is."""
    shared.run("DROP TABLE IF EXISTS m", "CREATE TABLE m (id INTEGER PRIMARY KEY, r REAL, n DECIMAL(10, 2), x)",
               "INSERT INTO m VALUES (1, 2.5, 2.5, 2.5), (2, 1, 1, 1), (3, 1000, 1000, 1000.0)")
    with shared.client() as client:
        assert client.query(f"SELECT id FROM m WHERE {left} = ANY('{{{two}, {thousand}}}') ORDER BY id").check().texts == [("1",), ("3",)]
        assert client.query(f"SELECT id FROM m WHERE {left} <> ALL('{{{one}, {two}}}')").check().texts == [("3",)]
        assert client.query(f"DELETE FROM m WHERE {left} <> ALL('{{{one}, {two}, {thousand}}}')").tag == "DELETE 0"


@pytest.mark.parametrize("column", ["code", "i", "r"])
def test_two_elements(mixed, column):
    """Of two SQLite asks by BitAnd whether one is NULL."""
    texts = [f"SELECT id FROM mixed WHERE {column} {sign}" for sign in ("IN ($1, $2)", "NOT IN ($1, $2)", "NOT IN ($1, $2, $3)")]
    types = [mixed.ask(wire.parse(text), wire.describe_statement()).check().of("t")[0].types[:2] for text in texts]
    assert types[0] == types[1] == types[2]
    for condition in ["{} NOT IN ($1, $2)", "NOT ({} IN ($1, $2))", "({} IN ($1, $2)) IS FALSE"]:
        sql = f"SELECT id FROM mixed WHERE {condition.format(column)} ORDER BY id"
        assert mixed.extended(sql, ["5", "6.5" if column == "r" else "6"]).check().texts == [("3",)]


@pytest.mark.parametrize("declared, value", [
    ("DATE", "2024-05-06"), ("BOOLEAN", "t"), ("UUID", "0000000a-000b-000c-000d-00000000000e"), ("BLOB", "\\x41")])
def test_two_elements_of_other_types(shared, declared, value):
    shared.run("DROP TABLE IF EXISTS other", f"CREATE TABLE other (id INTEGER PRIMARY KEY, c {declared})")
    with shared.client() as client:
        client.extended("INSERT INTO other VALUES (1, $1)", [value]).check()
        for sql, found in [("c IN ($1, $2)", "1"), ("c NOT IN ($1, $2)", "0"), ("NOT (c IN ($1, $2))", "0")]:
            assert client.extended(f"SELECT count(*) FROM other WHERE {sql}", [value, value]).check().value == found


def test_null_among_the_elements(mixed):
    for array, parameters in [("'{5,NULL}'", []), ("$1::int8[]", ["{5,NULL}"])]:
        assert mixed.extended(f"SELECT id FROM mixed WHERE i = ANY({array})", parameters).check().texts == [("1",)]
        assert mixed.extended(f"SELECT id FROM mixed WHERE i <> ALL({array})", parameters).check().texts == []
    for sql in ["i = ANY($1::int8[])", "i <> ALL($1::int8[])"]:
        assert mixed.extended(f"SELECT ({sql}) IS NULL FROM mixed WHERE id = 1", [None]).check().texts == [("t",)]


@pytest.mark.parametrize("value", [0.1, -2.5, 1e30, 3.4028235e38, 0.0])
def test_a_float4_is_the_same_in_both_formats(shared, value):
    with shared.client() as client:
        binary = client.extended("SELECT $1::float8 + 0", [struct.pack("!f", value)], types=[FLOAT4], formats=[1]).check().texts
        assert client.extended("SELECT $1::float8 + 0", [repr(value)], types=[FLOAT4]).check().texts == binary


def test_a_time_with_its_zone_is_one_text(shared):
    with shared.client() as client:
        binary = struct.pack("!qi", 3 * 3600 * 10**6, -3600)
        assert client.extended("SELECT $1", [binary], types=[TIMETZ], formats=[1]).value == "03:00:00+01:00"
        for text in ["03:00:00+01", "03:00+01:00", "03:00:00 +01"]:
            assert client.extended("SELECT $1", [text], types=[TIMETZ]).value == "03:00:00+01:00"
        for text in ["nonsense", "2024-01-02", "2024-01-02 03:04:05+01", "25:00:00"]:
            assert client.extended("SELECT $1", [text], types=[TIMETZ]).state == "22007"
        # SQLite's time zones have no seconds, and without them it would be another time.
        for value, format in [("12:00:00+01:02:03", 0), (struct.pack("!qi", 12 * 3600 * 10**6, -3723), 1)]:
            assert client.extended("SELECT $1", [value], types=[TIMETZ], formats=[format]).state == "22008"
        assert client.extended("SELECT $1", ["12:00:00-01:02:00"], types=[TIMETZ]).value == "12:00:00-01:02"


@pytest.mark.parametrize("text, stored", [
    ("2024-01-02 03:04:05.9999999", "2024-01-02 03:04:06"), ("2024-12-31 23:59:59.9999995", "2025-01-01 00:00:00"),
    ("2024-01-02 03:04:05.1234564", "2024-01-02 03:04:05.123456"), ("2024-01-02 03:04:05.12345649", "2024-01-02 03:04:05.123456"),
    ("2024-01-02 03:04:05.1234565", "2024-01-02 03:04:05.123456"), ("2024-01-02 03:04:05.1234575", "2024-01-02 03:04:05.123458"),
    ("2024-01-02 03:04:05.12345650000000001", "2024-01-02 03:04:05.123456")])
def test_a_seventh_digit_rounds(shared, text, stored):
    """Half to even, as in PostgreSQL."""
    with shared.client() as client:
        assert client.extended("SELECT $1", [text], types=[TIMESTAMP]).value == stored


@pytest.mark.parametrize("type", [1083, TIMETZ])
def test_a_time_that_rounds_to_the_next_day(shared, type):
    """24:00:00 is a time in PostgreSQL and none in SQLite."""
    with shared.client() as client:
        assert client.extended("SELECT $1", ["23:59:59.9999999"], types=[type]).check().value.startswith("23:59:59.999999")


@pytest.mark.parametrize("before, behind", DESCRIBED)
@pytest.mark.parametrize("sql, value, type", [
    ("SELECT substr(b, 1, 2) FROM parts", [], (BYTEA, "\\x4142")), ("SELECT coalesce(substr(b, 1, 1), x'') FROM parts", [], (BYTEA, "\\x41")),
    ("SELECT max(substring(b, 2, 1)) FROM parts", [], (BYTEA, "\\x42")), ("SELECT substr($1::bytea, 1, 1)", ["\\x4142"], (BYTEA, "\\x41")),
    ("SELECT substr(t, 1, 1) FROM parts", [], (TEXT, "t")), ("SELECT substr(n, 1, 1) FROM parts", [], (TEXT, "1"))])
def test_a_part_of_bytes(shared, sql, value, type, before, behind):
    shared.run("DROP TABLE IF EXISTS parts", "CREATE TABLE parts (b BLOB, t TEXT, n INTEGER)", "INSERT INTO parts VALUES (x'4142ff', 'text', 12)")
    with shared.client() as client:
        reply = client.ask(wire.parse(sql), *before, wire.bind(value), *behind, wire.execute()).check()
        assert (reply.of("T")[0].columns[0].type, reply.texts[0][0]) == type


@pytest.mark.parametrize("name", ["true", "FALSE", "current_date"])
def test_a_column_with_the_name_of_a_constant(shared, name):
    shared.run("DROP TABLE IF EXISTS named", f'CREATE TABLE named ("{name.lower()}")', "INSERT INTO named VALUES (x'61'), ('abc')")
    with shared.client() as client:
        if name == "current_date":
            name = '"current_date"'
        assert client.query(f"SELECT {name} FROM named WHERE rowid = 2").check().texts == [("abc",)]
        assert client.query(f"SELECT {name} FROM named WHERE rowid = 1").check().texts == [("\\x61",)]
