"""A date or timestamp that meets another kind of column, or a cast to one, is the same moment as in PostgreSQL."""

from datetime import date, datetime, timedelta, timezone

import psycopg
import pytest
from psycopg.types.json import Jsonb

import wire
from parameters_fixtures import TIMESTAMP

D1, D2, D3 = (f"2024-01-0{day}" for day in (1, 2, 3))
NOON = datetime(2024, 1, 2, 12)
UTC = timezone.utc


@pytest.fixture(params=["%t", "%b"], ids=["text", "binary"])
def rows(shared, request):
    """Asks which rows meet a condition, its parameter in either format."""
    shared.run("DROP TABLE IF EXISTS moments", "CREATE TABLE moments (id INTEGER PRIMARY KEY, d DATE, ts TIMESTAMP, tz TIMESTAMPTZ)")
    shared.run(f"INSERT INTO moments VALUES {', '.join(f'''({n}, '{d}', '{d} 00:00:00', '{d} 00:00:00+00:00')''' for n, d in enumerate((D1, D2, D3), 1))}")
    with psycopg.connect(host=str(shared.directory), dbname=shared.name, user="tester", autocommit=True) as connection:
        yield lambda where, value: [row[0] for row in connection.execute(
            f"SELECT id FROM moments WHERE {where.replace('%s', request.param)} ORDER BY id", [value])]


@pytest.mark.parametrize("where, value, found", [
    ("d >= %s", datetime(2024, 1, 2), [2, 3]),
    ("d = %s", datetime(2024, 1, 2), [2]),
    ("d >= %s", NOON, [3]),
    ("d < %s", NOON, [1, 2]),
    ("d = %s", NOON, []),
    ("d >= %s::date", NOON, [2, 3]),
    ("d = %s::date", NOON, [2]),
    ("d = CAST(%s::date AS TEXT)", NOON, [2]),
    ("d BETWEEN %s AND '2024-01-02'", datetime(2024, 1, 2), [2]),
    ("d IN (%s)", datetime(2024, 1, 3), [3]),
    ("ts = %s", date(2024, 1, 2), [2]),
    ("ts > %s", date(2024, 1, 2), [3]),
    ("ts = %s::timestamp", date(2024, 1, 2), [2]),
    ("ts > %s::timestamp", date(2024, 1, 2), [3]),
    ("ts = %s::timestamp", datetime(2024, 1, 2, 2, tzinfo=timezone(timedelta(hours=2))), [2]),
    ("tz = %s", datetime(2024, 1, 2), [2]),
    ("tz <= %s", date(2024, 1, 2), [1, 2]),
    ("tz = %s::timestamptz", datetime(2024, 1, 2), [2]),
    ("tz = %s::timestamptz", date(2024, 1, 2), [2]),
    ("time(ts) = %s::time", datetime(2024, 1, 2), [1, 2, 3]),
    # What the client calls a text is cast, too.
    ("d = %s::date", "2024-01-02", [2]),
    ("ts = %s::timestamp", "2024-01-02T00:00", [2]),
    ("tz = %s::timestamptz", "2024-01-02 02:00+02", [2]),
    ("id = %s::int8", "2", [2]),
    # The cast comes first, and then the column.
    ("ts <= %s::date", date(2024, 1, 2), [1, 2]),
    ("ts = %s::date", NOON, [2]),
    ("ts = %s::date", "2024-01-02", [2]),
    ("d = %s::timestamp", date(2024, 1, 2), [2]),
    ("d = %s::timestamp", datetime(2024, 1, 2), [2]),
    ("d = %s::timestamp", "2024-01-02", [2]),
    ("tz <= %s::date", date(2024, 1, 2), [1, 2]),
    ("tz = %s::timestamp", datetime(2024, 1, 2), [2]),
    # As they were.
    ("d = %s", date(2024, 1, 2), [2]),
    ("ts = %s", datetime(2024, 1, 2), [2]),
    ("tz = %s", datetime(2024, 1, 2, 1, tzinfo=timezone(timedelta(hours=1))), [2]),
    # A value is one wherever it stands.
    ("%s IN (d, ts)", datetime(2024, 1, 2), [2]),
])
def test_compared(rows, where, value, found):
    assert rows(where, value) == found


@pytest.mark.parametrize("column, value, stored", [
    ("d", datetime(2024, 1, 2), D2),
    ("d", NOON, f"{D2} 12:00:00"),
    ("ts", date(2024, 1, 2), f"{D2} 00:00:00"),
    ("ts", datetime(2024, 1, 2, 12, tzinfo=UTC), f"{D2} 12:00:00+00:00"),
    ("tz", datetime(2024, 1, 2), f"{D2} 00:00:00+00:00"),
    ("tz", date(2024, 1, 2), f"{D2} 00:00:00+00:00"),
])
def test_stored(rows, shared, column, value, stored):
    with psycopg.connect(host=str(shared.directory), dbname=shared.name, user="tester", autocommit=True) as connection:
        connection.execute(f"INSERT INTO moments (id, {column}) VALUES (9, %s)", [value])
        assert connection.execute(f"SELECT CAST({column} AS TEXT) FROM moments WHERE id = 9").fetchone() == (stored,)


@pytest.mark.parametrize("where, value", [
    ("d > %s", timedelta(days=5)), ("%s >= d", timedelta(days=5)), ("d NOT BETWEEN '' AND (%s)", timedelta(days=5)), ("d > %s::interval", "P1D"),
    ("d -> 'k' > %s", Jsonb(9)), ("%s BETWEEN d AND d", Jsonb(9)), ("'10' < %s -> 'a'", Jsonb({"a": 9})), ("'95' > (%s) || '1'", Jsonb(9)),
    ("'10' < '{\"a\":9}'::jsonb -> 'a' AND %s IS NULL", None), ("'95' > '9'::jsonb || '1' AND %s IS NULL", None),
    ("d > 'P1D'::interval AND %s IS NULL", None), ("d -> 'k' >= ('9'::jsonb) AND %s IS NULL", None), ("'9'::jsonb < d AND %s IS NULL", None),
])
def test_what_has_another_order_than_its_text(rows, where, value):
    with pytest.raises(psycopg.errors.FeatureNotSupported, match="type (interval|jsonb).* as a text"):
        rows(where, value)


@pytest.mark.parametrize("where, value, found", [
    ("d = %s", timedelta(days=5), []), ("d <> %s", Jsonb(9), [1, 2, 3]), ("d > %s::interval", None, []),
    ("length(%s) > 100", Jsonb(9), []), ("'1'::jsonb = %s", Jsonb(9), []), ("coalesce(%s, d) > 'x'", Jsonb(9), []),
    # A number in JSON is one, as SQLite has it, and less than any text.
    ("'0' < %s ->> 'a'", Jsonb({"a": 1}), []), ("d BETWEEN '' AND %s ->> 'a'", Jsonb({"a": 1}), []),
    ("'0' < ('{\"a\":1}'::jsonb) ->> 'a' AND %s IS NULL", None, []), ("d > '{\"a\":1}'::jsonb ->> 'a' AND %s IS NULL", None, [1, 2, 3]),
])
def test_which_needs_no_order(rows, where, value, found):
    assert rows(where, value) == found


@pytest.mark.parametrize("sql, values", [
    ("SELECT $1 || '', $1::date || ''", [f"{D2} 12:00:00", D2]),
    ("SELECT $1::date || ''", [D2]),
    ("SELECT $1 || '', $1 || ''", [f"{D2} 12:00:00"] * 2),
])
def test_a_parameter_is_one_value_where_it_is_not_cast(shared, sql, values):
    with shared.client() as client:
        reply = client.ask(wire.parse(sql, types=[TIMESTAMP]), wire.bind([f"{D2} 12:00:00"]), wire.execute()).check()
        assert reply.texts == [tuple(values)]


@pytest.mark.parametrize("oid", [TIMESTAMP, wire.TEXT])
@pytest.mark.parametrize("more", ["", ", " + ", ".join(f"${n}" for n in range(2, 140))])
@pytest.mark.parametrize("condition", [
    "$1 IS NULL OR $1::date = '2024-01-02'", "$1::date = '2024-01-02' AND $1 IS NOT NULL", "$1::date = '2024-01-02' AND $1::DATE < '2024-01-02 00'",
    "$1 NOTNULL AND $1::date = '2024-01-02'", "($1) IS NULL OR $1::date = '2024-01-02'", "NOT ($1 IS NULL) AND $1::date = '2024-01-02'",
    "$1 IS DISTINCT FROM NULL AND $1::date = '2024-01-02'",
    "(($1)) IS NOT DISTINCT FROM NULL OR $1::date = '2024-01-02'", "CASE WHEN $1 ISNULL THEN NULL ELSE $1::date = '2024-01-02' END",
])
def test_asking_for_null_is_no_use_without_the_cast(shared, oid, more, condition):
    values = [f"{D2} 12:00:00"] + ["1"] * more.count("$")
    with shared.client() as client:
        parse = wire.parse(f"SELECT {condition}{more}", types=[oid] + [wire.TEXT] * more.count("$"))
        assert client.ask(parse, wire.bind(values), wire.execute()).check().rows[0][0] == b"t"


@pytest.mark.parametrize("sql, value, result", [
    ("SELECT 1.5 * 1 < $1::numeric", "0.1234567890123456789", "f"), ("SELECT max(1.5, $1::numeric)", "0.1234567890123456789", "1.5"),
])
def test_a_text_that_is_cast_to_a_number(shared, sql, value, result):
    with shared.client() as client:
        assert client.ask(wire.parse(sql, types=[wire.TEXT]), wire.bind([value]), wire.execute()).check().value == result


def test_a_cast_keeps_the_error_of_what_is_none(rows):
    with pytest.raises(psycopg.errors.DatatypeMismatch):
        rows("id = %s::date", NOON)
