"""Values that drivers write into a statement's text, or send beside it: SQLite stores them alike."""

import asyncio
import datetime
import decimal

import asyncpg
import psycopg
import pytest

from spelling_fixtures import connection, db, ID, psycopg2_connection, ZONE  # noqa: F401 (fixtures)

# What is sent, and what SQLite holds of it.
VALUES = [
    (float("inf"), float("inf")),
    (-1.5, -1.5),
    (decimal.Decimal("-1.25"), -1.25),
    ("a\\b'c", "a\\b'c"),
    (True, 1),
    (b"\0\xff'", b"\0\xff'"),
    (datetime.date(2024, 1, 2), "2024-01-02"),
    (datetime.time(1, 2, 3, 4), "01:02:03.000004"),
    (datetime.datetime(2024, 1, 2, 3, 4, 5), "2024-01-02 03:04:05"),
    (datetime.datetime(2024, 1, 2, 3, 4, 5, 6, tzinfo=ZONE), "2024-01-02 01:04:05.000006+00:00"),
    (datetime.timedelta(days=1, seconds=5, microseconds=7), "P1DT5.000007S"),
    (datetime.timedelta(days=-1, seconds=5), "P-1DT5S"),
    (ID, str(ID)),
    ([1, 2], "[1,2]"),
    ([datetime.date(2024, 1, 2)], '["2024-01-02"]'),
]


@pytest.mark.parametrize("value, stored", VALUES, ids=str)
def test_psycopg2(psycopg2_connection, value, stored):
    cursor = psycopg2_connection.cursor()
    cursor.execute("INSERT INTO s (v) VALUES (%s) RETURNING v", [value])
    (got,) = cursor.fetchone()
    assert (bytes(got) if isinstance(got, memoryview) else got) == stored
    cursor.execute("SELECT count(*) FROM s WHERE v = %s", [value])
    assert cursor.fetchone() == (1,)


@pytest.mark.parametrize("value, stored", VALUES, ids=str)
def test_client_cursor(connection, value, stored):
    with psycopg.ClientCursor(connection) as cursor:
        assert cursor.execute("INSERT INTO s (v) VALUES (%s) RETURNING v", [value]).fetchone() == (stored,)
        assert cursor.execute("SELECT count(*) FROM s WHERE v = %s", [value]).fetchone() == (1,)


@pytest.mark.parametrize("place", ["%t", "%b"])
@pytest.mark.parametrize("value, stored", VALUES, ids=str)
def test_however_it_is_sent_it_is_stored_alike(connection, value, stored, place):
    if place == "%t" and isinstance(value, str):
        place += "::text"  # a string goes without a type, and the column has none
    (key,) = connection.execute(f"INSERT INTO s (v) VALUES ({place}) RETURNING id", [value]).fetchone()
    assert connection.execute("SELECT v FROM s WHERE id = %s", [key]).fetchone() == (stored,)


def test_lists_of_psycopg2(psycopg2_connection):
    cursor = psycopg2_connection.cursor()
    for sql, value, ids in [
        ("SELECT id FROM s WHERE id = ANY(%s) ORDER BY id", [1, 3], [1, 3]),
        ("SELECT id FROM s WHERE id <> ALL(%s) ORDER BY id", [1, 3], [2]),
        ("SELECT id FROM s WHERE t = ANY (%s) ORDER BY id", ["b c", "]", "1"], [2, 3]),
        ("SELECT id FROM s WHERE id = ANY(%s)", [], []),
        ("SELECT id FROM s WHERE id IN (SELECT value FROM json_each(%s)) ORDER BY id", [1, 2], [1, 2]),
    ]:
        cursor.execute(sql, [value])
        assert [row[0] for row in cursor.fetchall()] == ids, sql
    cursor.execute("SELECT %s", [[datetime.date(2024, 1, 2)]])
    assert cursor.fetchone() == ('["2024-01-02"]',)


def test_lists_of_psycopg(connection):
    for place in ["%s", "%t", "%b"]:
        for sql, value, ids in [
            ("SELECT id FROM s WHERE id = ANY({}) ORDER BY id", [1, 3], [1, 3]),
            ("SELECT id FROM s WHERE t = ANY({}) ORDER BY id", ["b c", "1"], [2, 3]),
            ("SELECT id FROM s WHERE t IN (SELECT value FROM json_each({})) ORDER BY id", ["b c", "1"], [2, 3]),
            ("SELECT id FROM s WHERE t != ALL({}) ORDER BY id", ["b c", "1"], [1]),
            ("SELECT id FROM s WHERE id = ANY({})", [], []),
        ]:
            got = connection.execute(sql.format(place), [value]).fetchall()
            assert [row[0] for row in got] == ids, (place, sql)
    # JSON stays what it is.
    assert connection.execute("SELECT key FROM json_each(%s)", ['{"a": 1}']).fetchall() == [("a",)]


def test_arrays_of_asyncpg(db):
    async def work():
        connection = await asyncpg.connect(host=str(db.directory), database=db.name, user="tester")
        for type, sent in [("int", [1, 3]), ("bigint", [1, 3]), ("numeric", [decimal.Decimal(1), decimal.Decimal(3)])]:
            rows = await connection.fetch(f"SELECT id FROM s WHERE id = ANY($1::{type}[]) ORDER BY id", sent)
            assert [row[0] for row in rows] == [1, 3]
        for type in ["text", "varchar", "character varying"]:
            rows = await connection.fetch(f"SELECT id FROM s WHERE t = ANY($1::{type}[])", ["b c"])
            assert [row[0] for row in rows] == [2]
        assert await connection.fetchval("SELECT $1::int8[]", [1, 2]) == "[1,2]"
        assert await connection.fetchval("SELECT $1::double precision", 1.5) == 1.5
        moment = datetime.datetime(2024, 1, 2, 3, 4, 5, tzinfo=ZONE)
        assert await connection.fetchval("SELECT $1::timestamp with time zone", moment) == "2024-01-02 01:04:05+00:00"
        assert await connection.fetchval("SELECT $1::timetz", moment.timetz()) == "03:04:05+02:00"
        infinite = [float("inf"), -float("inf")]
        rows = await connection.fetch("SELECT CAST(value AS REAL) FROM json_each($1::float8[])", infinite)
        assert [row[0] for row in rows] == infinite
        with pytest.raises(asyncpg.NumericValueOutOfRangeError):
            await connection.fetch("SELECT $1::float8[]", [float("nan")])
        await connection.close()

    asyncio.run(work())
