"""A parameter with a cast in one place, and none or another elsewhere: each place has the value that it has in PostgreSQL."""

import datetime

import pytest

import psycopg_fixtures
import wire
from parameters_fixtures import DATE, JSON, JSONB, TIMESTAMP, UUID

INTERVAL = 1186
ROWS = "(" + ",".join(["(" + ",".join(["'1'::jsonb"] * 31) + ")"] * 31) + ")"
NOON = "2024-01-02 12:00:00"


@pytest.fixture
def ask(shared):
    with shared.client() as client:
        client.query("DROP TABLE IF EXISTS places; CREATE TABLE places (id INTEGER, x TEXT, b BOOLEAN, j JSONB, d DATE)").check()
        client.query("INSERT INTO places VALUES (1, 'yes', true, '{\"+1\":5}', '2024-01-02')").check()
        yield lambda sql, oid, value: client.ask(wire.parse(sql, types=[oid]), wire.bind([value]), wire.execute())


@pytest.mark.parametrize("sql, oid, value, result", [
    ("SELECT 'x' > $1 AND $1::jsonb = '9'::jsonb", wire.TEXT, "9", "t"),
    ("SELECT x > $1 FROM places WHERE j <> $1::jsonb", wire.TEXT, "9", "t"),
    ("SELECT '95' > $1 AND x <> $1::interval FROM places", wire.TEXT, "9", "t"),
    ("SELECT x > $1::jsonb -> 'n' ->> 'b' FROM places", JSONB, '{"n": {"b": "no"}}', "t"),
    ("SELECT x > $1 -> 'n' ->> 'b' FROM places", JSONB, '{"n": {"b": "no"}}', "t"),
    ("SELECT x > '{\"a\":{\"b\":\"c\"}}'::jsonb -> 'a' ->> 'b' AND $1 <> '' FROM places", wire.TEXT, "x", "t"),
    ("SELECT coalesce($1, j) = ($1) OR 1 < 0 FROM places", JSONB, "9", "t"),
    ("SELECT j IN ($1, '9'::jsonb) AND 1 < 2 FROM places", JSONB, '{"+1":5}', "t"),
    ("SELECT j IN ($1, '2'::jsonb) >= 0 FROM places", JSONB, "9", "t"), ("SELECT EXISTS (SELECT $1) > 0", JSONB, "9", "t"),
    # Lists of clauses are no rows.
    ("SELECT row_number() OVER (PARTITION BY id, $1) < 3 FROM places", JSONB, "9", "t"),
    ("SELECT rank() OVER (PARTITION BY id, j || $1) <= 3 FROM places", JSONB, "9", "t"),
    ("SELECT rank() OVER (ORDER BY id, '{}'::jsonb) <= 3 AND $1 <> '' FROM places", wire.TEXT, "x", "t"),
    ("SELECT (SELECT id FROM places ORDER BY id, $1) < 9", INTERVAL, "P1D", "t"),
    ("SELECT (SELECT id FROM places GROUP BY id, j || '{}'::jsonb) > 0 AND $1 <> ''", wire.TEXT, "x", "t"),
    ("SELECT j ->> 'n' || $1 IS NULL OR 'a' < j ->> $1 FROM places", JSONB, "9", "t"),
])
def test_a_text_is_ordered_where_it_is_none_of_json(ask, sql, oid, value, result):
    assert ask(sql, oid, value).check().value == result


@pytest.mark.parametrize("sql", [
    "SELECT j > $1::jsonb FROM places", "SELECT 1 WHERE 'P2D' > $1::interval AND $1 IS NOT NULL",
    "SELECT 1 WHERE 'P2D' > $1::interval AND $1 = 'x'", "SELECT x > $1, j > $1::jsonb FROM places",
    # What these operators give has no other order.
    "SELECT $1::jsonb -> 'a' < j -> 'a' FROM places", "SELECT j -> 'a' > (($1::jsonb -> 'a')) FROM places", "SELECT $1::jsonb || '{}' < j FROM places",
    "SELECT j < '{}' || $1::jsonb FROM places", "SELECT (j -> 'a', 1) > ($1::jsonb, 1) FROM places", "SELECT (1, $1::jsonb) NOT BETWEEN (1, j) AND (2, j) FROM places",
    "SELECT '{\"a\":9}'::jsonb -> 'a' < j -> 'a' AND $1 <> '' FROM places", "SELECT (id, j) <= (1, '9'::jsonb) AND $1 <> '' FROM places",
    "SELECT (SELECT '9'::jsonb) < j AND $1 <> '' FROM places", "SELECT '{\"z\":10}' > j -> 'a' || $1::jsonb FROM places",
    "SELECT $1::jsonb -> -1 < j FROM places", "SELECT " + "j || " * 60 + "$1::jsonb < j FROM places",
    "SELECT j > j - 'a' || $1::jsonb FROM places", "SELECT ('9'::jsonb, id IS DISTINCT FROM 3) < (j, 1) AND $1 <> '' FROM places",
    "SELECT '9'::jsonb COLLATE BINARY > j AND $1 <> '' FROM places", "SELECT $1::jsonb -> 'a' COLLATE NOCASE > j FROM places",
    "SELECT $1::jsonb" + " || j" * 40 + " < j FROM places", "SELECT " + "j || " * 40 + "$1::jsonb" + " || j" * 40 + " < j FROM places",
    "SELECT j > $1::jsonb || CASE WHEN id THEN '' END FROM places", "SELECT j < $1::jsonb" + " || j" * 60 + " FROM places",
])
def test_what_is_cast_is_not_ordered_as_a_text(ask, sql):
    assert ask(sql, wire.TEXT, "P1D" if "interval" in sql else '{"k":9}').state == "0A000"


@pytest.mark.parametrize("sql", ["SELECT ?1, id FROM places WHERE j < ?", "SELECT $1, id FROM places WHERE ? > j", "SELECT ?1, id FROM places WHERE j < ? OR x = ?"])
def test_which_question_mark_is_ordered(ask, shared, sql):
    with shared.client() as client:
        values = ["a", '{"k":10}', "x"][:sql.count("?") + sql.count("$")]
        reply = client.ask(wire.parse(sql, types=[wire.TEXT, JSONB, wire.TEXT][:len(values)]), wire.bind(values), wire.execute())
        assert reply.state == "0A000" and "parameter $2" in reply.error["M"]


@pytest.mark.parametrize("sql", ["SELECT $1::int8, ?", "SELECT ?, $2::int8", "SELECT $1, ?"])
def test_question_marks_beside_numbers_in_order(shared, sql):
    with shared.client() as client:
        assert client.ask(wire.parse(sql, types=[20, 20]), wire.bind(["1", "2"]), wire.execute()).check().texts == [("1", "2")]


@pytest.mark.parametrize("sql", [
    "SELECT 1 FROM places WHERE id IN (" + ",".join(["1"] * 300) + ") AND j > $1::jsonb",
    "SELECT 1 FROM places WHERE $1 <> '' AND j IN (" + ",".join(["'9'::jsonb"] * 300) + ") AND j < '9'::jsonb",
    "SELECT 1 FROM places WHERE $1 IN (" + ",".join(["('1'::jsonb)"] * 20_000) + ") OR j < '9'::jsonb",
    "INSERT INTO places (id, j) VALUES " + ",".join(["(1, '9'::jsonb)"] * 300) + " ON CONFLICT DO UPDATE SET x = $1 WHERE j < '9'::jsonb",
])
def test_nor_behind_many_others(ask, sql):
    assert ask(sql, wire.TEXT, '{"k":9}').state == "0A000"


@pytest.mark.parametrize("count", [100, 138])
@pytest.mark.parametrize("cast, oid", [("", JSONB), ("::jsonb", wire.TEXT)])
def test_nor_among_many_parameters(ask, shared, count, cast, oid):
    """From 128 on their casts are kept beside the text."""
    names = ", ".join(f"${number}" for number in range(1, count + 1))
    with shared.client() as client:
        parse = wire.parse(f"SELECT id FROM places WHERE id IN ({names}) AND j > ${count + 1}{cast}", types=[20] * count + [oid])
        assert client.ask(parse, wire.bind(["1"] * count + ["9"]), wire.execute()).state == "0A000"


@pytest.mark.parametrize("oid, value", [(INTERVAL, "P1D"), (JSONB, '{"a":1}')])
def test_no_cast_makes_postgresqls_text_of_it(ask, oid, value):
    """'1 day', and '{"a": 1}'."""
    assert ask("SELECT $1::text < 'b'", oid, value).state == "0A000"


@pytest.mark.parametrize("sql", [
    "SELECT " + " || ".join(["'1'::jsonb"] * 10_000) + " < $1", "SELECT " + " -> ".join(["'1'::jsonb"] * 10_000) + " < $1",
    "SELECT 1 < 2, (" + ",(".join([",".join(["'1'::jsonb"] * 31)] * 249) + ")" * 249,
    "SELECT 1 < 2, " + ROWS + " - " + ".".join(["a"] * 10_000), "SELECT 1 < 2, " + ".".join(["a"] * 10_000) + " || " + ROWS,
    "SELECT 1 < 2, " + ROWS + " - a" + " over a" * 5_000,
    "SELECT $1::date, 1 IN (" + ",".join(["a=$1"] * 20_000) + ")", "SELECT $1::date, " + ",".join(["a=$1 IS NULL"] * 10_000),
    "SELECT $1::date, 1 IN (" + ",".join(f"a=${n}" for n in range(1, 8_000)) + ")",
    "UPDATE places SET d = $1::date, " + ",".join(["b=$1 IS NULL"] * 10_000) + ", nothing = 1",
], ids=["||", "->", "rows in rows", "dots behind", "dots before", "windows", "comparisons", "tests for NULL", "very many parameters", "assignments"])
@pytest.mark.optimised("->")
def test_long_texts_take_no_time_of_their_square(ask, sql):
    """SQLite refuses each of them, and what is read before it does is bounded; or there is a deadline for the reply."""
    assert ask(sql, wire.TEXT, "2024-01-02").errors


def test_many_literals(ask):
    values = ", ".join(["('1'::jsonb)"] * 20_000)
    assert ask(f"SELECT 1 WHERE $1 IN ({values}) AND 1 < 2", wire.TEXT, "x").check().rows == []


@pytest.mark.parametrize("condition, found", [
    ("j -> $1 IS NOT NULL AND id = $1::int8", True), ("j -> $1 IS NULL AND id = $1::int8", False),
    ("x = $1 IS NULL AND id = $1::int8", False), ("x IS NOT $1 IS NULL AND id = $1::int8", False),
    ("x BETWEEN 'a' AND $1 IS NULL AND id = $1::int8", False),
])
def test_a_test_for_null_of_what_a_parameter_is_part_of(ask, condition, found):
    """There it counts what the value is: '+1', and not 1."""
    reply = ask(f"SELECT id FROM places WHERE {condition}", wire.TEXT, "+1").check()
    assert reply.texts == ([("1",)] if found else [])


MANY = ", " + ", ".join(f"${number}" for number in range(2, 140))
CAPITALS, SMALL = "AAAAAAAA-BBBB-CCCC-DDDD-EEEEEEEEEEEE", "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"


@pytest.mark.parametrize("more", ["", MANY], ids=["", "many"])
@pytest.mark.parametrize("sql, oid, value, result", [
    ("SELECT $1::int8 = 7, $1 = '7'", wire.TEXT, "7", "t t"), ("SELECT $1::int8 > 5, $1", wire.TEXT, "07", "t 07"),
    ("SELECT coalesce($1::int8, 0) = 7, $1 || ''", wire.TEXT, "7", "t 7"), ("SELECT length('abc') = $1::int8, $1 <> ''", wire.TEXT, "3", "t t"),
    ("SELECT $1, $1::numeric + 1", wire.TEXT, "1.50", "1.50 2.5"), ("SELECT typeof($1), typeof($1::float8)", wire.TEXT, "1", "text real"),
    ("SELECT $1 || '', $1::boolean", wire.TEXT, "yes", "yes t"), ("SELECT $1::bool, $1 || '', $1::bool", wire.TEXT, "no", "f no f"),
    ("SELECT $1::uuid || '', $1", wire.TEXT, CAPITALS, f"{SMALL} {CAPITALS}"), ("SELECT $1::interval || '', $1", wire.TEXT, "1 day", "P1D 1 day"),
    ("SELECT $1::timestamp || '', $1", wire.TEXT, "2024-01-02T12:00:00", f"{NOON} 2024-01-02T12:00:00"),
    ("SELECT $1::date || '', $1 || ''", TIMESTAMP, NOON, f"2024-01-02 {NOON}"), ("SELECT $1::bytea, $1", wire.TEXT, "\\x61", "\\x61 \\x61"),
    # Two types, where the client has said a third.
    ("SELECT $1::date || '', $1::timestamp || ''", wire.TEXT, NOON, f"2024-01-02 {NOON}"),
    ("SELECT $1::date || '', $1::timestamp || '', $1", wire.TEXT, "2024-01-02", "2024-01-02 2024-01-02 00:00:00 2024-01-02"),
    ("SELECT $1::int8 + 1, $1::text || '', $1::boolean", wire.TEXT, "1", "2 1 t"),
])
def test_each_place_has_its_value(ask, shared, more, sql, oid, value, result):
    with shared.client() as client:
        values = [value] + [None] * (138 if more else 0)
        reply = client.ask(wire.parse(sql + more, types=[oid] + [20] * 138 * bool(more)), wire.bind(values), wire.execute()).check()
        assert " ".join(reply.texts[0][:sql.count("$1")]) == result


@pytest.mark.parametrize("binary", [False, True])
def test_a_boolean_that_is_cast_is_announced_as_one(ask, shared, binary):
    with shared.client() as client:
        bind = wire.bind(["yes"], result_formats=[1] if binary else [])
        reply = client.ask(wire.parse("SELECT $1 || '', $1::boolean", types=[wire.TEXT]), bind, wire.describe_portal(), wire.execute()).check()
        assert [column.type for column in reply.of("T")[0].columns] == [wire.TEXT, wire.BOOL]
        assert reply.rows[0][1] == (b"\x01" if binary else b"t")


@pytest.mark.parametrize("where, oid, value", [
    ("x = $1 AND b = $1::bool", wire.TEXT, "yes"), ("length(x) = $1::int8 AND $1 <> ''", wire.TEXT, "3"), ("id = $1::int8 AND x <> $1", wire.TEXT, "01"),
    ("coalesce(id, id) = $1::numeric AND $1 <> ''", wire.TEXT, "1.0"), ("d = $1::date AND $1 = ts", TIMESTAMP, NOON),
    ("$1 = '' OR u = $1::uuid", wire.TEXT, CAPITALS), ("d = $1::date AND ts <= $1::timestamp", wire.TEXT, NOON),
    ("d = $1::date AND ts > $1::timestamp", wire.TEXT, "2024-01-02"), ("$1 = ts AND $1::date = d OR d > ts", TIMESTAMP, NOON),
])
def test_a_row_is_found(ask, shared, where, oid, value):
    shared.run("ALTER TABLE places ADD ts TIMESTAMP", "ALTER TABLE places ADD u UUID", f"UPDATE places SET ts = '{NOON}', u = '{SMALL}'")
    assert ask(f"SELECT id FROM places WHERE {where}", oid, value).check().texts == [("1",)]
    assert ask(f"SELECT id FROM places WHERE {where}", oid, None).check().rows == []


def test_each_column_is_stored_its_value(ask):
    assert ask("INSERT INTO places (x, b, d) VALUES ($1, $1::boolean, NULL), ($1 || '!', NULL, NULL)", wire.TEXT, "on").errors == []
    assert ask("INSERT INTO places (x, d) VALUES ($1, $1::date)", TIMESTAMP, NOON).errors == []
    stored = ask("SELECT x, b, CAST(d AS TEXT) FROM places WHERE $1 <> '' AND id IS NULL ORDER BY rowid", wire.TEXT, "x").check().texts
    assert stored == [("on", "t", None), ("on!", None, None), (NOON, None, "2024-01-02")]


@pytest.mark.parametrize("sql", ["SELECT $1::date, $1::timestamp", "SELECT $1, $1::int8, $1::text", "SELECT $1::int8, $1::date" + MANY])
def test_two_types_are_none_where_the_client_says_nothing(ask, shared, sql):
    """As in PostgreSQL: the first would be the parameter's, and the second is no cast."""
    with shared.client() as client:
        assert client.ask(wire.parse(sql)).state == "42P08"
        assert client.query(f"PREPARE p AS {sql}").state == "42P08"


def test_named_parameters_of_psycopg(shared):
    moment = datetime.datetime(2024, 1, 2, 12)
    with psycopg_fixtures.connect(shared, autocommit=True) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS moments (id INTEGER, d DATE, ts TIMESTAMP)")
        connection.execute("DELETE FROM moments")
        connection.execute("INSERT INTO moments VALUES (1, %(p)s::date, %(p)s)", {"p": moment})
        for where in ["d = %(p)s::date AND ts <= %(p)s", "ts >= %(p)s::timestamp AND d <= %(p)s::date"]:
            assert connection.execute(f"SELECT id FROM moments WHERE {where}", {"p": moment}).fetchall() == [(1,)]


@pytest.mark.parametrize("sql, expected", [
    ("SELECT a BETWEEN c.cast AND $1 AS x, $1::date FROM c", [wire.TEXT]),
    ("SELECT a BETWEEN c.cast AND $2 AS x FROM c WHERE a = $1::int8", [wire.TEXT, wire.INT8]),
    ("SELECT a BETWEEN cast AND $1 AS x, " + ",".join(f"${number}" for number in range(1, 140)) + ",$1::date FROM c", "42601"),
    ("SELECT (cast) $1 AS x, " + ",".join(f"${number}" for number in range(1, 140)) + ",$1::date FROM c", "42601"),
    ("SELECT (c.cast) $1 AS x, $1::date FROM c", "42601"), ("SELECT cast ( $1 AS x, $1::date FROM c", "42601"),
])
def test_a_column_that_is_called_cast(shared, sql, expected):
    """No parenthesis is behind it. To SQLite it is one only behind its table's name."""
    shared.run("DROP TABLE IF EXISTS c", 'CREATE TABLE c (a INTEGER, "cast" INTEGER)')
    with shared.client() as client:
        reply = client.ask(wire.parse(sql, types=[wire.TEXT]), wire.describe_statement())
        if isinstance(expected, str):
            assert reply.state == expected
        else:
            assert list(reply.check().of("t")[0].types) == expected
        assert client.query("SELECT 1").check().value == "1"


@pytest.mark.parametrize("statement, column", [
    ("UPDATE places SET b = $1 IS NOT NULL, d = $1::date", "d"), ("UPDATE places SET x = 'q', b = $1 IS NOT NULL, d = $1::date", "d"),
    ("UPDATE places SET x = CASE WHEN x IS DISTINCT FROM 'q' THEN 'q' END, b = $1 IS NOT NULL, d = $1::date", "d"),
    ("UPDATE places SET x = (SELECT 'q' FROM places WHERE id = 1), b = $1 IS NOT NULL, d = $1::date", "d"),
    ("UPDATE places SET (x, b) = ('q', 1), b = $1 IS NOT NULL, d = $1::date WHERE id = 1", "d"),
    ("INSERT INTO places (d) VALUES ($1::date) RETURNING CASE WHEN $1 IS NULL THEN 1 END", "max(d)"),
    ("UPDATE places SET d = CASE WHEN CAST($1 AS text) IS NULL THEN d ELSE $1::date END", "d"),
    ("UPDATE places SET d = $1::date WHERE (CAST(($1) AS text)) IS NOT NULL", "d"),
])
@pytest.mark.parametrize("oid", [wire.TEXT, TIMESTAMP])
def test_a_test_for_null_beside_a_cast(ask, statement, column, oid):
    assert ask(statement, oid, NOON).errors == []
    assert ask(f"SELECT {column} FROM places WHERE $1 <> '' LIMIT 1", wire.TEXT, "x").check().value == "2024-01-02"


@pytest.mark.parametrize("select", ["SELECT DISTINCT", "SELECT ALL", "SELECT"])
def test_a_test_for_null_that_is_selected(ask, select):
    assert ask(f"{select} $1 IS NULL, $1::date || '' FROM places", wire.TEXT, NOON).check().texts == [("f", "2024-01-02")]
    assert ask(f"{select} $1 IS NULL, $1::boolean FROM places", wire.TEXT, "yes").check().texts[0][0] == "f"


def test_a_comparison_is_no_assignment(ask):
    """`x = $1 IS NULL` is (x = $1) IS NULL."""
    sql = "UPDATE places SET b = 1, d = $1::date WHERE x = $1 IS NOT NULL RETURNING x = $1, x = $1 IS NULL"
    assert ask(sql, TIMESTAMP, NOON).check().texts == [("f", "f")]
    assert ask("SELECT CAST(d AS TEXT) FROM places WHERE $1 <> ''", wire.TEXT, "x").check().value == "2024-01-02"


def test_a_question_mark_beside_a_digit_is_an_integer(ask):
    """As $1 is there: nothing says that it is true or false."""
    for sql, value, result in (("SELECT 1 = ?", "2", "f"), ("SELECT 0 <> ?", "5", "t"), ("SELECT 1 = $1", "2", "f"), ("SELECT (id > 0) = ? FROM places", "t", "t")):
        assert ask(sql, 0, value).check().value == result, sql


@pytest.mark.parametrize("sql", ["SELECT ? || '', $1::date || ''", "SELECT ?, $1", "SELECT ?, ?, $2", "SELECT $2, $1, ?1", "SELECT $1::date || '', ?1 || ''"])
def test_no_numbers_beside_question_marks(ask, sql):
    """To SQLite `$1` is another parameter there."""
    assert ask(sql, TIMESTAMP, NOON).state == "42P02"


@pytest.mark.parametrize("sql, value, state, type", [
    ("SELECT 1 FROM places WHERE j = $1::jsonb", "{", "22P02", "json"), ("SELECT 1 FROM places WHERE id = $1::date", "2024-01-02", "42804", "date"),
    ("SELECT id + $1::date FROM places", "2024-01-02", "0A000", "date"), ("SELECT CAST($1::date AS integer)", "2024-01-02", "0A000", "date"),
    ("SELECT $1::jsonb - 'a'", "{}", "0A000", "jsonb"), ("SELECT abs($1::uuid)", SMALL, "0A000", "uuid"),
    ("SELECT CAST((CAST($1 AS date)) AS integer)", "2024-01-02", "0A000", "date"), ("SELECT CAST(coalesce($1::time, 1) AS real)", "03:04", "0A000", "time"),
])
def test_errors_name_what_the_statement_says(ask, sql, value, state, type):
    """Also where the client calls it a text."""
    for oid in (wire.TEXT, 0):
        reply = ask(sql, oid, value)
        assert reply.state == state and f"type {type}" in reply.error["M"], oid


@pytest.mark.parametrize("type, value, result", [
    ("int4", "3", "4"), ("float8", "2.5", "3.5"), ("numeric", "3", "4"), ("bigint", "true", "22P02"), ("int4", '"3"', "22P02"), ("boolean", "true", "2"), ("boolean", "{}", "22P02")])
def test_json_that_is_cast_to_a_number(ask, shared, type, value, result):
    with shared.client() as client:
        for bind in (wire.bind([value]), wire.bind([b"\1" + value.encode()], formats=[1])):
            reply = client.ask(wire.parse(f"SELECT $1::{type} + 1", types=[JSONB]), bind, wire.execute())
            assert (reply.state or reply.value) == result
    assert ask(f"SELECT $1::{type}", JSONB, None).check().value is None


def test_a_time_loses_its_zone(ask):
    assert ask("SELECT $1::time || ''", 1266, "03:04:05+02").check().value == "03:04:05"


def test_a_moment_of_the_clients_is_no_number(ask):
    for oid, value in ((TIMESTAMP, NOON), (DATE, "2024-01-02")):
        assert ask("SELECT CAST($1 AS integer)", oid, value).state == "0A000"
        assert ask("SELECT CAST($1 AS text)", oid, value).check().value == value
        assert ask("SELECT CAST($1 AS integer)", oid, None).check().value is None


@pytest.mark.parametrize("oid, width", [(wire.INT4, 4), (wire.INT8, 8), (wire.INT2, 2)])
@pytest.mark.parametrize("sql", ["SELECT $1::boolean || ''", "SELECT CAST($1 AS boolean) || ''", "SELECT ($1::boolean = true) || ''", "SELECT $1::boolean || '' WHERE $1 <> 9"])
def test_an_integer_that_is_cast_to_a_boolean(shared, sql, oid, width):
    """Of SQLite's own CAST 7 stays 7, which is not true."""
    for value, result in ((7, "1"), (-1, "1"), (0, "0")):
        for bind in (wire.bind([str(value)]), wire.bind([value.to_bytes(width, "big", signed=True)], formats=[1])):
            with shared.client() as client:
                assert client.ask(wire.parse(sql, types=[oid]), bind, wire.execute()).check().value == result


@pytest.mark.parametrize("oid, type, state", [
    (JSON, "date", "42846"), (1083, "date", "42846"), (DATE, "time", "42846"), (wire.INT4, "uuid", "42846"), (UUID, "bytea", "42846"), (wire.FLOAT8, "boolean", "42846"),
    (1186, "date", "42846"), (wire.INT8, "timestamp", "42846"), (DATE, "int8", "42846"), (1182, "date", "42846"), (1182, "int8[]", "42846"),
    (26, "boolean", "42846"), (TIMESTAMP, "timetz", "42846"), (1186, "time", "0A000"), (1083, "interval", "0A000"), (1083, "timetz", "0A000"),
])
def test_casts_that_there_are_not(ask, oid, type, state):
    """Bound as it came, it would be another type's value without a word. The statement is refused, whatever the value is."""
    for sql in (f"SELECT $1::{type}", f"SELECT CAST($1 AS {type})" if type in ("date", "time", "uuid", "bytea", "boolean") else f"SELECT $1, $1::{type}"):
        assert ask(sql, oid, None).state == state, sql


@pytest.mark.parametrize("sql, oid, value, result", [
    ("SELECT CAST($1 AS DATE) || ''", 0, "2024-01-02", "2024-01-02"), ("SELECT CAST($1 AS DATE) || ''", TIMESTAMP, NOON, "2024-01-02"),
    ("SELECT CAST($1::DATE AS DATE) || ''", TIMESTAMP, NOON, "2024-01-02"), ("SELECT CAST( $1 AS timestamp ) || ''", 0, "2024-01-02", "2024-01-02 00:00:00"),
    ("SELECT CAST($1::TIMESTAMP WITHOUT TIME ZONE AS TIMESTAMP WITHOUT TIME ZONE) || ''", 0, "2024-01-02", "2024-01-02 00:00:00"),
    ("SELECT CAST($1 AS TIMESTAMP WITH TIME ZONE) || ''", 0, "2024-01-02 13:00+01", "2024-01-02 12:00:00+00:00"),
    ("SELECT CAST($1 AS UUID) || ''", wire.TEXT, CAPITALS, SMALL), ("SELECT CAST($1 AS interval) || ''", 0, "1 day", "P1D"),
    ("SELECT CAST($1 AS JSONB) || ''", 0, "9", "9"), ("SELECT CAST($1 AS BOOLEAN)", wire.TEXT, "yes", "t"), ("SELECT cast($1 as time) || ''", 0, "03:04", "03:04:00"),
    ("SELECT CAST('2024-01-02' AS date) || $1", wire.TEXT, "", "2024-01-02"), ("SELECT CAST('1 day'::interval AS INTERVAL) || $1", wire.TEXT, "", "P1D"),
    ("SELECT CAST\n ('2024-01-02' AS date) AS int WHERE $1 = ''", wire.TEXT, "", "2024-01-02"),
    ("SELECT CAST(CAST('2024-01-02' AS date) AS text) || $1", wire.TEXT, "", "2024-01-02"),
    ("SELECT CAST('t' AS boolean) AND $1 = ''", wire.TEXT, "", "t"), (f"SELECT CAST('{CAPITALS}' AS uuid) || $1", wire.TEXT, "", SMALL),
    ("SELECT CAST('2024-01-02 13:00+01' AS timestamp with time zone) || $1", wire.TEXT, "", "2024-01-02 12:00:00+00:00"),
    ("SELECT id FROM places WHERE d = CAST($1 AS date) AND x <> $1", wire.TEXT, "2024-01-02", "1"),
    ("SELECT CAST(CAST($1 AS boolean) AS integer)", wire.TEXT, "yes", "1"), ("SELECT CAST(CAST('no' AS boolean) AS integer) WHERE $1 = ''", wire.TEXT, "", "0"),
    ("SELECT CAST(CAST($1 AS boolean) AS boolean)", 0, "yes", "t"), ("SELECT sum(CAST(CAST('t' AS boolean) AS int)) WHERE $1 = ''", wire.TEXT, "", "1"),
    ("SELECT CAST($1::timestamptz AS timestamp with time zone) || ''", 0, "2024-01-02 13:00+01", "2024-01-02 12:00:00+00:00"),
    ("SELECT CAST(" + "coalesce(" * 10 + "id > 0" + ", false)" * 10 + " AS boolean) FROM places WHERE $1 = ''", wire.TEXT, "", "t"),
    ("SELECT CAST('03:04'::time without time zone AS time) || $1", wire.TEXT, "", "03:04:00"),
])
def test_cast_of_a_value(ask, sql, oid, value, result):
    """As SQLAlchemy's cast() writes it."""
    assert ask(sql, oid, value).check().value == result


@pytest.mark.parametrize("cast", [
    "CAST('abc' AS date)", "CAST('2024-13-01' AS timestamp)", "CAST('x' AS uuid)", "CAST('{' AS jsonb)", "CAST('maybe' AS boolean)", "CAST('1' || '2' AS date)",
    "CAST('2024-01-02'::timestamp AS date)", "CAST($1::text AS date)", "CAST($1::timestamp AS timestamp with time zone)", "CAST(x AS date)", "CAST($1 || '' AS date)",
    "CAST('{1}' AS int[])", "CAST('{1}' AS _int4)", "CAST($1 AS date[])", "CAST($1::timestamp without AS timestamp)", "CAST(?1 AS date)", "CAST('a' AS tsvector)",
    "CAST/**/('2024-01-02' AS date)", "CAST -- a\n ($1 AS timestamp)", "CAST /* */ ($1 AS boolean)", "CAST($1 AS date)::text", "CAST($1 AS date)(3)",
    "CAST(CAST('2024-01-02' AS date) AS integer)", "CAST(CAST($1 AS date) AS real)", "CAST('{}' AS json) + 1", "1 - CAST($1 AS jsonb)", "CAST($1 AS uuid) % 2",
    "CAST(CAST('2024-01-02' AS date) AS double precision)", "CAST(('2024-01-02'::date) AS integer)", "CAST('2024-01-02'::date AS number)",
    "CAST('2024-01-02'::date COLLATE binary AS integer)", "sum('2024-01-02'::date)", "abs(CAST('2024-01-02' AS date))", "CAST(CAST($1 AS uuid) AS double precision)",
    "'{\"a\":1}'::jsonb - 'a'", "1 + '5'::json", f"'{SMALL}'::uuid % 2", "~CAST('1' AS jsonb)", "sum('1'::uuid)", f"abs(CAST('{SMALL}' AS uuid))",
    "CAST \ufeff('2024-01-02' AS date)", "CAST/**/\ufeff($1 AS date)", "CAST($1 AS jsonb)[1]", "'[1]'::jsonb[1]", "$1[1]",
    "CAST('2024-01-02' AS date text)", "CAST(E'2024-01-02' AS date)", "CAST(('2024-01-02') AS date)", "CAST('2024-01-02' AS date) + 1", "CAST('1' AS jsonb) < j",
])
def test_what_would_be_a_number_of_sqlites(ask, cast):
    """2024 of a date. A text is one to SQLite."""
    reply = ask(f"SELECT {cast} FROM places WHERE $1 <> ''", wire.TEXT, "x")
    assert reply.state in ("0A000", "42601") or (cast.endswith("text)") and reply.check().value == "2024-01-02")
