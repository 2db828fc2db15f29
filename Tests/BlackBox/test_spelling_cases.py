"""`(CASE … END)::type`, in which Django's bulk_update() writes the new values of many rows."""

import datetime
import decimal

import psycopg
import psycopg2.extras
import pytest
from psycopg.types.json import Jsonb

from spelling_fixtures import connection, db, ID, psycopg2_connection, ZONE  # noqa: F401 (fixtures)

# As Django 5.2 declares the columns of its SQLite backend, and casts to in PostgreSQL.
COLUMNS = {
    "i": ("integer", "integer", [5, -7]),
    "n": ("decimal", "numeric(10, 2)", [decimal.Decimal("2.50"), decimal.Decimal("-0.05")]),
    "r": ("real", "double precision", [1.5, -2.0]),
    "c": ("varchar(20)", "varchar(20)", ["it's", "a\\b"]),
    "t": ("text", "text", ["5", ""]),
    "b": ("bool", "boolean", [True, False]),
    "d": ("date", "date", [datetime.date(2024, 1, 2), datetime.date(1, 1, 1)]),
    "z": ("timestamp with time zone", "timestamp with time zone",
          [datetime.datetime(2024, 1, 2, 3, 4, 5, 6, ZONE), datetime.datetime(2024, 1, 2, tzinfo=ZONE)]),
    "m": ("time", "time", [datetime.time(1, 2, 3), datetime.time(1, 2, 3, 4)]),
    "v": ("text", "interval", [datetime.timedelta(days=1), datetime.timedelta(microseconds=5)]),
    "u": ("uuid", "uuid", [ID, ID]),
    "x": ("BLOB", "bytea", [b"\0'\xff", b""]),
    "j": ("text", "jsonb", [{"a": [1, "'"]}, []]),
}
COUNT = len(COLUMNS)


@pytest.fixture
def things(db):
    columns = ", ".join(f"{name} {declared}" for name, (declared, _, _) in COLUMNS.items())
    db.run(f"DROP TABLE IF EXISTS things; CREATE TABLE things (id INTEGER PRIMARY KEY, {columns})")
    db.run("INSERT INTO things (id) VALUES (1), (2), (3), (4)")
    return db


def values(name, row, json):
    value = COLUMNS[name][2][row]
    return json(value) if name == "j" else value


def bulk_update(execute, json):
    """Rows 1 and 2 as Django updates them; 3 and 4 get the same values one by one."""
    case = "(CASE WHEN (\"things\".\"id\" = %s) THEN %s WHEN (\"things\".\"id\" = %s) THEN %s ELSE NULL END)"
    sets = ", ".join(f'"{name}" = {case}::{cast}' for name, (_, cast, _) in COLUMNS.items())
    parameters = [parameter for name in COLUMNS for row in (0, 1) for parameter in (row + 1, values(name, row, json))]
    execute(f'UPDATE "things" SET {sets} WHERE "things"."id" IN (%s, %s)', [*parameters, 1, 2])
    for row in (0, 1):
        sets = ", ".join(f"{name} = %s" for name in COLUMNS)
        execute(f"UPDATE things SET {sets} WHERE id = %s", [*(values(name, row, json) for name in COLUMNS), row + 3])


def check(things):
    columns = ", ".join(f"{name}, typeof({name})" for name in COLUMNS)
    rows = things.run(f"SELECT {columns} FROM things ORDER BY id").texts
    assert rows[:2] == rows[2:] and None not in rows[0] + rows[1]
    return dict(zip(COLUMNS, zip(rows[0][::2], rows[0][1::2])))


def test_client_cursor(things, connection):
    with psycopg.ClientCursor(connection) as cursor:
        bulk_update(cursor.execute, Jsonb)
    found = check(things)
    assert found["n"] == ("2.5", "real") and found["c"] == ("it's", "text") and found["t"] == ("5", "text")
    assert found["z"] == ("2024-01-02 01:04:05.000006+00:00", "text") and found["b"] == ("t", "integer")


def test_psycopg2(things, psycopg2_connection):
    bulk_update(psycopg2_connection.cursor().execute, lambda value: psycopg2.extras.Json(value))
    check(things)


def test_parameters(things, connection):
    bulk_update(connection.execute, Jsonb)
    check(things)


@pytest.mark.parametrize("expression, value", [
    ("(CASE WHEN true THEN 1 ELSE 2 END)::int8", "1"),
    ("( case when false then '1' else E'2\\\\3' end )::text", "2\\3"),
    ("1 + (CASE WHEN true THEN -1.5::numeric ELSE +NULL END)::numeric", None),
    ("(CASE 1 WHEN 1 THEN 5 WHEN (CASE WHEN true THEN 2 END)::int THEN 6 END)::int", "5"),
    ("(CASE WHEN (CASE WHEN true THEN 2 END)::int = 2 THEN 5 END)::int::int", "5"),
    ("(CASE WHEN CASE WHEN true THEN false ELSE true END THEN 5 END)::int IS NULL", "t"),
    ("(CASE WHEN 'a::int) THEN' = 'a' THEN 5 ELSE 6 END)::int", "6"),
    ("(CASE WHEN true THEN '2024-01-02' END)::timestamp", "2024-01-02 00:00:00"),
    ("(CASE WHEN true THEN '2024-01-02'::date END)::date", "2024-01-02"),
    ("(CASE WHEN true THEN true ELSE NULL END)::boolean", "t"),
    ("(5)::integer", "5"),
    ("(NULL)::date IS NULL", "t"),
    ("('2024-01-02')::timestamp with time zone", "2024-01-02 00:00:00+00:00"),
    ("(E'a\\tb')::varchar(10)", "a\tb"),
    ("(true)::boolean", "t"),
])
def test_expressions(shared, expression, value):
    with shared.client() as client:
        reply = client.query(f"SELECT {expression}")
        if value is None:
            # A sign before NULL is not among them.
            assert reply.state == "42601"
        else:
            assert reply.check().value == value


def test_columns(db):
    """Django's Cast("id", CharField()), and Concat()'s parts."""
    reply = db.run('SELECT ("s"."id")::varchar, (t)::text, (CASE WHEN s.id = 1 THEN "s"."t" ELSE \'-\' END)::text AS x FROM s ORDER BY id')
    assert reply.texts == [("1", "a", "a"), ("2", "b c", "-"), ("3", "1", "-")]
    assert [column.name for column in reply.of("T")[0].columns] == ["id", "t", "x"]


def test_the_date_of_a_moment(things, connection):
    """Django's at__date and TruncDate, with USE_TZ."""
    connection.execute("SET result_typing = declared")
    connection.execute("UPDATE things SET z = %s WHERE id = 1", [datetime.datetime(2024, 1, 2, 1, tzinfo=ZONE)])
    cursor = connection.execute("SELECT (\"things\".\"z\" AT TIME ZONE 'UTC')::date FROM things"
                                " WHERE (z AT TIME ZONE 'UTC')::date = '2024-01-01'::date AND (z AT TIME ZONE 'UTC')::date = %s",
                                [datetime.date(2024, 1, 1)])
    assert cursor.fetchall() == [(datetime.date(2024, 1, 1),)]


@pytest.mark.parametrize("expression", [
    "(CASE WHEN true THEN id END)::int",  # no literal
    "(id)::int",
    "(id, t)::text",
    "(lower(t))::text",
    "(true)::text",  # true, and not 1
    "(CASE WHEN true THEN 1 + 1 END)::int",
    "(CASE WHEN true THEN 1 ELSE id END)::int",
    "(CASE WHEN true THEN 1.6 END)::int",  # PostgreSQL rounds
    "(CASE WHEN true THEN 5 END)::text",  # a number as text is another value
    "(CASE WHEN true THEN '2024-01-02'::date END)::timestamp",
    "(CASE WHEN true THEN true END)::int",
    "(CASE WHEN true THEN 'x' END)::int",
    "(CASE WHEN true THEN 1 END)::nothing",
    "abs(CASE WHEN true THEN 1 END)::int",
    "((CASE WHEN true THEN 1 END))::int",
    "(CASE WHEN true THEN 1 END, 2)::int",
])
def test_what_stays_an_error(db, expression):
    with db.client() as client:
        assert client.query(f"SELECT {expression} FROM s").state == "42601"
